"""What each method does with a feature that is zero in every row: a fact of the method."""

import pytest
import torch
from torch import Tensor

from featuremask.gates import (
    AFSGate,
    BSFGate,
    CancelOutGate,
    ConcreteGate,
    DFSGate,
    FeatureMask,
    FSDNNGate,
    Gate,
)
from featuremask.networks import GatedNetwork, draw_from, mlp
from featuremask.objectives import Classes, Objective, Reconstruction

ROWS, D, DEAD, STEPS = 200, 8, 5, 400
LIVE = [0, 1, 2, 3, 4, 6, 7]


def rows() -> tuple[Tensor, Tensor]:
    x = torch.randn(ROWS, D)
    x[:, DEAD] = 0.0
    return x, (x[:, 0] + 0.5 * x[:, 1] > 0).long()


def train(gate: Gate, objective: Objective, *, rate: float = 0.01, steps: int = STEPS) -> Tensor:
    """Train with plain Adam and return the scores."""
    generator = torch.Generator().manual_seed(0)
    network = mlp(gate.out_features, (16,), objective.n_outputs, generator=generator)
    model, (x, y) = GatedNetwork(gate, network), rows()
    target = x if objective.kind == "reconstruction" else y
    optimizer = torch.optim.Adam(model.parameters(), rate)
    with draw_from(model, generator):
        for step in range(steps):
            gate.anneal(step / steps)
            loss = objective.loss(model(x), target, None)
            penalty = gate.penalty(network)
            optimizer.zero_grad()
            (loss if penalty is None else loss + penalty).backward()
            optimizer.step()
            gate.project()
    return gate.importance(gate.statistic(x, network=network)).scores


def test_fm_pushes_it_below_what_helps() -> None:
    scores = train(FeatureMask(D, mask_units=16), Classes(2))
    assert scores[DEAD] < scores[0]
    assert scores[DEAD] < scores[1]


def test_fm_pushes_down_a_dead_logit_while_larger_inputs_lower_the_loss() -> None:
    logits = torch.zeros(D, dtype=torch.float64, requires_grad=True)
    x, y = rows()
    mask = logits.softmax(0)
    output = (x.double() * mask)[:, :2] @ torch.tensor([[-1.0, 1.0], [-0.5, 0.5]]).double()
    torch.nn.functional.cross_entropy(output, y).backward()
    assert logits.grad[DEAD] > 0.0, "descent goes down"
    assert float(logits.grad.sum()) == pytest.approx(0.0, abs=1e-12), "what one loses, others gain"


def test_afs_leaves_its_head_as_it_was() -> None:
    gate = AFSGate(D)
    before = gate.head_weight.detach().clone(), gate.head_bias.detach().clone()
    scores = train(gate, Classes(2))
    assert torch.equal(gate.head_weight[DEAD], before[0][DEAD])
    assert torch.equal(gate.head_bias[DEAD], before[1][DEAD])
    assert not torch.equal(gate.head_weight[0], before[0][0])
    assert 0.3 < scores[DEAD] < 0.7, "near the one half it started from"


def test_cancel_out_without_penalty_leaves_it_at_its_start() -> None:
    assert train(CancelOutGate(D, penalty="none"), Classes(2))[DEAD] == 4.0


def test_cancel_out_with_the_keras_penalty_pulls_it_to_an_open_gate_of_one_half() -> None:
    gate = CancelOutGate(D, penalty="keras", init=1.0)
    scores = train(gate, Classes(2))
    assert float(scores[DEAD]) == pytest.approx(0.0, abs=0.05)
    assert float(gate.importance(None).shares[DEAD]) == pytest.approx(0.5, abs=0.02)


def test_cancel_out_with_the_torch_penalty_pulls_it_down_without_end() -> None:
    gate = CancelOutGate(D, penalty="torch", variance_weight=0.0, init=1.0)
    once = float(train(gate, Classes(2))[DEAD])
    twice = float(train(gate, Classes(2))[DEAD])
    assert twice < once - 1.0 < -1.0


@pytest.mark.parametrize("gate", [BSFGate(D), DFSGate(D)], ids=["BSF", "DFS"])
def test_bsf_and_dfs_pull_it_to_zero(gate: Gate) -> None:
    scores = train(gate, Classes(2))
    assert scores[DEAD] < 0.01
    assert scores[0] > 0.5


def test_fsdnn_counts_the_biases_for_it_if_they_count() -> None:
    x, _ = rows()
    network = mlp(D, (16,), 2)
    with_bias = FSDNNGate(D).statistic(x, network=network)
    without = FSDNNGate(D, include_bias=False).statistic(x, network=network)
    assert torch.allclose(with_bias[:, DEAD], network[0].bias.abs().double())
    assert not without[:, DEAD].any()


def test_conae_seldom_picks_it_to_reconstruct_the_others() -> None:
    gate = ConcreteGate(D, 4)
    train(gate, Reconstruction(D), rate=0.05, steps=800)
    picks = gate.picks().tolist()
    assert DEAD not in picks
    assert set(picks) <= set(LIVE)
