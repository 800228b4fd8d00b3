"""Several fits as one batched computation give what each gives alone."""

from typing import Any

import numpy as np
import pytest
import torch

from featuremask.gates import DFSGate, FeatureMask
from featuremask.networks import GatedNetwork, Standardize, mlp
from featuremask.objectives import BinaryLabels, Classes, Objective, Reconstruction, Regression
from featuremask.sources import ArraySource
from featuremask.training import Member, TrainingOptions, fit_members, fit_network

N, D, STEPS = 160, 24, 50
OBJECTIVES: dict[str, Objective] = {
    "classes": Classes(3),
    "labels": BinaryLabels(2),
    "numbers": Regression(2),
    "reconstruction": Reconstruction(D),
}


def target_of(kind: str, x: np.ndarray) -> torch.Tensor | None:
    if kind == "classes":
        return torch.from_numpy((x[:, 0] > 0).astype(np.int64) + (x[:, 1] > 0))
    if kind == "labels":
        return torch.from_numpy((x[:, :2] > 0).astype(np.float64))
    return None if kind == "reconstruction" else torch.from_numpy(x[:, :2].astype(np.float64))


def member(i: int, kind: str = "classes", **case: Any) -> Member:
    """Return one of several members: other weights, rows and noise for each number."""
    draw = np.random.default_rng(0)
    x = draw.standard_normal((N, D)).astype(np.float32)
    narrowing = case.get("narrowing", True)
    gate = FeatureMask(
        D,
        mask_units=8,
        narrowing=narrowing,
        scale="sum" if narrowing else 3.0,
        must_keep=case.get("must_keep", ()),
        generator=torch.Generator().manual_seed(i),
    )
    generator = torch.Generator().manual_seed(100 + i)
    head = OBJECTIVES[kind].n_outputs
    network = mlp(D, (12, 8), head, dropout=0.3, generator=generator)
    fewer = i if case.get("ragged") else 0
    rows = np.sort(np.random.default_rng(i).permutation(N)[: 3 * N // 4 - fewer])
    weight = np.random.default_rng(i).random(N) if case.get("weighted") else None
    options = TrainingOptions(
        steps=STEPS,
        batch_size=case.get("batch_size", 32),
        learning_rate=1e-3 * (1 + (i if case.get("rates") else 0)),
        weight_decay=case.get("weight_decay", 0.0),
        dtype=torch.float64,
        seed=i,
        threads=1,
    )
    scaling = Standardize(
        torch.full((D,), 0.1), torch.full((D,), 1.0 + 0.1 * i), None, torch.float64
    )
    model = GatedNetwork(gate, network).to(torch.float64)
    return Member(model, ArraySource(x, target_of(kind, x), weight, rows=rows), options, scaling)


def alone(one: Member, objective: Objective) -> Any:
    return fit_network(one.model, objective, one.source, one.options, standardize=one.standardize)


CASES: dict[str, dict[str, Any]] = {
    "narrowing": {},
    "joint": {"narrowing": False},
    "weights of rows": {"weighted": True},
    "learning rates": {"rates": True},
    "weight decay": {"weight_decay": 0.1},
    "features to keep": {"must_keep": [3, 5]},
    "joint, features to keep": {"must_keep": [3, 5], "narrowing": False},
    "one batch": {"batch_size": 1000},
    "other numbers of rows": {"ragged": True},
    "labels": {"kind": "labels"},
    "numbers": {"kind": "numbers"},
    "reconstruction": {"kind": "reconstruction"},
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_member_becomes_what_it_is_alone(case: dict[str, Any]) -> None:
    objective = OBJECTIVES[case.get("kind", "classes")]
    together = [member(i, **case) for i in range(3)]
    results = fit_members(together, objective)
    assert results is not None
    for i, (one, result) in enumerate(zip(together, results, strict=True)):
        other = member(i, **case)
        expected = alone(other, objective)
        state = one.model.state_dict()
        for name, value in other.model.state_dict().items():
            torch.testing.assert_close(state[name], value, rtol=1e-9, atol=1e-12, msg=name)
        torch.testing.assert_close(result.importance.scores, expected.importance.scores)
        found = [record["loss"] for record in result.history]
        wanted = [record["loss"] for record in expected.history]
        np.testing.assert_allclose(found, wanted, rtol=1e-3 if case.get("ragged") else 1e-9)


def test_members_differ() -> None:
    results = fit_members([member(i) for i in range(3)], OBJECTIVES["classes"])
    assert results is not None
    scores = [result.importance.scores for result in results]
    assert not torch.equal(scores[0], scores[1])
    assert not torch.equal(scores[1], scores[2])


def test_the_narrowing_mask_is_cut_for_each_member_by_itself() -> None:
    together = [member(i) for i in range(2)]
    assert fit_members(together, OBJECTIVES["classes"]) is not None
    shut = [one.model.state_dict()["gate.competition.shut"] for one in together]
    assert shut[0].sum() == shut[1].sum() > 0
    assert not torch.equal(shut[0], shut[1])


def test_the_model_of_a_member_works_by_itself_afterwards() -> None:
    together = [member(i) for i in range(2)]
    assert fit_members(together, OBJECTIVES["classes"]) is not None
    for one in together:
        x = torch.rand(5, D, dtype=torch.float64)
        assert not one.model.training
        assert one.model(x).shape == (5, 3)
        torch.testing.assert_close(one.model(x)[:2], one.model(x[:2]))


def changed(i: int, **words: Any) -> Member:
    one = member(i)
    options = {**vars(one.options), **words}
    return Member(one.model, one.source, TrainingOptions(**options), one.standardize)


class _Doubled(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return 2.0 * x


def test_what_cannot_be_stacked_is_left_as_it_is() -> None:
    one = member(0)
    unknown = member(1)
    unknown.model.network.append(_Doubled())
    gate = Member(
        GatedNetwork(DFSGate(D), member(1).model.network), one.source, one.options, one.standardize
    )
    for pair in (
        [one],
        [one, unknown],
        [unknown, unknown],
        [one, gate],
        [gate, gate],
        [one, changed(1, steps=STEPS + 1)],
        [one, changed(1, batch_size=64)],
        [changed(0, clip_gradient=1.0), changed(1, clip_gradient=1.0)],
        [changed(0, schedule="cosine"), changed(1, schedule="cosine")],
        [one, member(1, must_keep=[2])],
        [one, member(1, narrowing=False)],
    ):
        before = {k: v.clone() for k, v in pair[-1].model.state_dict().items()}
        assert fit_members(pair, OBJECTIVES["classes"]) is None
        assert all(torch.equal(v, before[k]) for k, v in pair[-1].model.state_dict().items())


def test_training_is_reproducible_to_the_bit() -> None:
    first, second = (
        fit_members([member(i) for i in range(3)], OBJECTIVES["classes"]) for _ in range(2)
    )
    assert first is not None
    assert second is not None
    for one, other in zip(first, second, strict=True):
        assert torch.equal(one.importance.scores, other.importance.scores)
