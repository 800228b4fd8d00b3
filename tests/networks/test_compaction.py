"""Columns that are shut for good cost nothing, and change no number."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from featuremask.gates import FeatureMask
from featuremask.networks import Compaction, GatedNetwork, mlp
from featuremask.objectives import Classes
from featuremask.sources import ArraySource
from featuremask.training import Callback, TrainingOptions, TrainingState, fit_network

N_ROWS, N_FEATURES = 60, 40


def model(**words: Any) -> GatedNetwork:
    generator = torch.Generator().manual_seed(1)
    words = {"narrowing": True, **words}
    gate = FeatureMask(N_FEATURES, mask_units=8, generator=generator, dtype=torch.float64, **words)
    network = mlp(gate.out_features, (16,), 2, generator=generator).double()
    return GatedNetwork(gate, network)


def fit(made: GatedNetwork, *, callbacks: tuple[Callback, ...] = ()) -> Any:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, N_FEATURES))
    y = torch.from_numpy((X[:, 0] > X[:, 1]).astype(np.int64))
    options = TrainingOptions(epochs=12, batch_size=20, learning_rate=0.01, dtype=torch.float64)
    return fit_network(made, Classes(2), ArraySource(X, y), options, callbacks=list(callbacks))


def shut(made: GatedNetwork, progress: float) -> Tensor:
    """Let the narrowing mask shut what has no place any more; return what stays."""
    made.gate.anneal(progress)
    columns = made.gate.passing_columns()
    assert columns is not None
    return columns


def sized(made: GatedNetwork, n_columns: int) -> bool:
    axes = made.column_axes()
    return bool(axes) and all(p.shape[axis] == n_columns for p, axis in axes)


class Watch(Callback):
    """Writes down how many columns were open after each epoch, and what it saw of the weights."""

    def __init__(self) -> None:
        self.n_open: list[int] = []

    def on_epoch_end(self, state: TrainingState) -> None:
        assert sized(state.model, N_FEATURES)
        columns = state.model.gate.passing_columns()
        self.n_open.append(N_FEATURES if columns is None else columns.numel())


@pytest.mark.parametrize("words", [{}, {"must_keep": [39, 3]}], ids=["plain", "must keep"])
def test_training_on_open_columns_gives_the_numbers_of_rows_with_zeros_elsewhere(
    words: dict[str, Any], monkeypatch: pytest.MonkeyPatch, gap: Any
) -> None:
    def half(shape: Any, **words: Any) -> Tensor:
        return torch.full(shape, 0.5, dtype=words["dtype"])

    def zero_instead(compaction: Compaction) -> None:
        columns = compaction._model.gate.passing_columns()
        if columns is not None:
            keep = torch.zeros(N_FEATURES, dtype=torch.float64).index_fill(0, columns, 1.0)
            compaction._model.register_forward_pre_hook(lambda m, args: (args[0] * keep, *args[1:]))

    monkeypatch.setattr(torch, "rand", half)  # a draw that does not ask how many columns there are
    watch = Watch()
    results = [fit(model(**words)), fit(model(**words), callbacks=(watch,))]
    assert watch.n_open[-1] < N_FEATURES / 4
    monkeypatch.setattr(Compaction, "cut", zero_instead)
    results.append(fit(model(**words)))
    for result in results[:2]:
        assert gap(result.importance.scores, results[2].importance.scores) < 1e-9
        losses = [record["loss"] for record in result.history]
        assert losses == pytest.approx([r["loss"] for r in results[2].history], rel=1e-9)


def test_the_columns_come_back_with_their_weights_and_moments() -> None:
    made = model()
    optimizer = torch.optim.Adam(made.parameters(), 0.01)
    made(torch.randn(20, N_FEATURES, dtype=torch.float64)).square().mean().backward()
    optimizer.step()
    columns = shut(made, 0.9)
    axes = made.column_axes()
    before = [(p.detach().clone(), optimizer.state[p]["exp_avg"].clone()) for p, _ in axes]
    compaction = Compaction(made, optimizer)
    compaction.cut()
    for parameter, axis in axes:
        assert parameter.shape[axis] == columns.numel()
        assert optimizer.state[parameter]["exp_avg"].shape == parameter.shape
        parameter.data += 1.0
    compaction.restore()
    closed = torch.ones(N_FEATURES, dtype=torch.bool).index_fill(0, columns, False)
    for (parameter, axis), (weight, moment) in zip(axes, before, strict=True):
        assert torch.equal(optimizer.state[parameter]["exp_avg"], moment)
        now, then = (w.detach().movedim(axis, 0) for w in (parameter, weight))
        assert torch.equal(now[columns], then[columns] + 1.0)
        assert (now[closed] == 0.0).all()


def test_the_mask_is_read_out_as_it_was_trained(gap: Any) -> None:
    made, x = model(), torch.randn(6, N_FEATURES, dtype=torch.float64)
    columns = shut(made, 0.9)
    compaction = Compaction(made, torch.optim.SGD(made.parameters(), 0.1))
    compaction.cut()
    cut = made.gate.statistic(x[:, columns])
    compaction.restore()
    assert gap(made.gate.statistic(x), cut) < 1e-12
    assert made(x).shape == (6, 2)


@pytest.mark.parametrize(
    "made",
    [
        model(narrowing=False),
        model(feature_groups=[i // 2 for i in range(N_FEATURES)]),
    ],
    ids=["never shuts", "groups"],
)
def test_what_can_not_be_cut_is_trained_whole(made: GatedNetwork) -> None:
    compaction = Compaction(made, torch.optim.Adam(made.parameters()))
    made.gate.anneal(0.9)
    compaction.cut()
    assert made.columns is None
    assert made.gate.out_features == N_FEATURES


def test_an_optimizer_of_unknown_state_keeps_whole_columns() -> None:
    made = model()
    shut(made, 0.9)
    Compaction(made, torch.optim.Adafactor(made.parameters())).cut()
    assert made.columns is None
