"""The same seed gives the same bits; another seed does not."""

import hashlib
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from featuremask.gates import FeatureMask
from featuremask.networks import GatedNetwork
from featuremask.sources import ArraySource

_IN_ANOTHER_PROCESS = """
import sys
import numpy as np, torch
from featuremask import FeatureMaskSelector
from featuremask._tensorfile import digest_of

torch.set_num_threads(1)
rng = np.random.default_rng(0)
X = rng.normal(size=(400, 12))
y = (X[:, 0] + X[:, 1] > 0).astype(int)
selector = FeatureMaskSelector(max_epochs=6, random_state=int(sys.argv[1])).fit(X, y)
state = selector.network_.state_dict()
print("".join(digest_of(state[name]) for name in sorted(state)), selector.scores_.tobytes().hex())
"""


def weights(model: nn.Module) -> str:
    """Return a hash of all weights."""
    sha = hashlib.sha256()
    for parameter in model.parameters():
        sha.update(parameter.detach().numpy().tobytes())
    return sha.hexdigest()


def fitted(problem: Any, **options: Any) -> str:
    model = problem.model(dropout=0.3)
    problem.fit(model, epochs=5, **options)
    return weights(model)


def test_the_same_seed_gives_the_same_bits(problem: Any) -> None:
    assert fitted(problem, seed=4) == fitted(problem, seed=4)


def test_another_seed_gives_other_bits(problem: Any) -> None:
    assert fitted(problem, seed=4) != fitted(problem, seed=5)


def test_the_order_of_rows_depends_on_the_seed_alone(problem: Any, telling_gate: Any) -> None:
    orders = []
    for seed, rate in [(1, 0.1), (1, 0.2), (2, 0.1)]:
        gate = telling_gate()
        problem.fit(problem.model(gate), seed=seed, learning_rate=rate)
        orders.append(gate.seen)
    assert orders[0] == orders[1]
    assert orders[0] != orders[2]


def test_the_callers_random_numbers_do_not_enter(problem: Any) -> None:
    torch.manual_seed(1)
    first = fitted(problem)
    torch.manual_seed(2)
    np.random.seed(2)  # noqa: NPY002  # the legacy generator is what is tested
    assert fitted(problem) == first


def test_dropout_of_a_users_network_draws_from_the_seed_too(problem: Any) -> None:
    network = nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.5), nn.Linear(16, 2))
    state = {name: value.clone() for name, value in network.state_dict().items()}
    found = []
    for caller, seed in [(1, 7), (2, 7), (1, 8)]:
        network.load_state_dict(state)
        gate = FeatureMask(8, generator=torch.Generator().manual_seed(0))
        model = GatedNetwork(gate, network)
        torch.manual_seed(caller)
        problem.fit(model, seed=seed)
        found.append(weights(model))
    assert found[0] == found[1]
    assert found[0] != found[2]


@pytest.mark.parametrize(
    "same",
    [
        pytest.param(np.asfortranarray, id="column by column"),
        pytest.param(lambda X: np.repeat(X, 2, axis=0)[::2], id="every second row of another"),
        pytest.param(lambda X: X.astype(np.float32), id="float32"),
        pytest.param(lambda X: X.astype(">i4"), id="big endian"),
    ],
)
def test_the_layout_of_the_data_in_memory_does_not_matter(problem: Any, same: Any) -> None:
    whole = np.random.default_rng(0).integers(0, 5, size=(100, 8)).astype(np.uint8)
    found = []
    for X in (whole, same(whole)):
        model = problem.model(dropout=0.3)
        problem.fit(model, source=ArraySource(X, problem.y))
        found.append(weights(model))
    assert found[0] == found[1]


@pytest.mark.slow
def test_two_processes_give_the_same_bits() -> None:
    def run(seed: int) -> str:
        command = [sys.executable, "-c", _IN_ANOTHER_PROCESS, str(seed)]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    assert run(3) == run(3) != run(4)
