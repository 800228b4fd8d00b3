"""Which dense layer a network plainly begins with."""

import pytest
from torch import nn

from featuremask.networks import first_dense


@pytest.mark.parametrize(
    ("network", "path"),
    [
        (nn.Linear(3, 2), ""),
        (nn.Sequential(nn.Linear(3, 2)), "0"),
        (nn.Sequential(nn.Sequential(nn.Linear(3, 2), nn.ReLU()), nn.Linear(2, 1)), "0.0"),
    ],
    ids=["itself", "first of a sequence", "first of the first"],
)
def test_it_is_found_through_plain_sequences(network: nn.Module, path: str) -> None:
    assert first_dense(network) is network.get_submodule(path)


class Odd(nn.Linear):
    pass


class OddSequence(nn.Sequential):
    pass


@pytest.mark.parametrize(
    "network",
    [
        nn.Sequential(),
        nn.ReLU(),
        nn.Sequential(nn.Flatten(), nn.Linear(3, 2)),
        nn.ModuleList([nn.Linear(3, 2)]),
        Odd(3, 2),
        OddSequence(nn.Linear(3, 2)),
        nn.Bilinear(3, 3, 2),
        nn.utils.parametrizations.spectral_norm(nn.Linear(3, 2)),
    ],
    ids=lambda network: type(network).__name__,
)
def test_anything_else_has_none(network: nn.Module) -> None:
    assert first_dense(network) is None


HOOKS = [
    "register_forward_hook",
    "register_forward_pre_hook",
    "register_full_backward_hook",
    "register_full_backward_pre_hook",
]


@pytest.mark.parametrize("path", ["", "0", "0.0"])
@pytest.mark.parametrize("register", HOOKS)
def test_a_hook_on_the_way_hides_it_until_removed(register: str, path: str) -> None:
    network = nn.Sequential(nn.Sequential(nn.Linear(3, 2)))
    handle = getattr(network.get_submodule(path), register)(lambda *args: None)
    assert first_dense(network) is None
    handle.remove()
    assert first_dense(network) is network[0][0]


@pytest.mark.parametrize("register", HOOKS)
def test_hooks_behind_it_do_not_matter(register: str) -> None:
    network = nn.Sequential(nn.Linear(3, 2), nn.ReLU())
    getattr(network[1], register)(lambda *args: None)
    assert first_dense(network) is network[0]
