"""All gates, for the tests that every gate must pass."""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from featuremask.gates import (
    AFSGate,
    AllFeaturesGate,
    BSFGate,
    CancelOutGate,
    ConcreteGate,
    DFSGate,
    FeatureMask,
    FSDNNGate,
    Gate,
    RandomGate,
    SANDGate,
    SequentialAttentionGate,
    geometric_takes,
)

UNITS, N_SELECT = 4, 3
"""Sizes inside the gates; tests choose numbers of features and rows that differ from them."""


class Case(NamedTuple):
    """A gate and what the tests need to know of it.

    Attributes
    ----------
    name : str
    make : callable
        From a number of features, a generator of the initial weights, and other words to the gate.
    noisy : bool
        Whether it draws random numbers while training.
    tracks : frozenset of str
        Buffers that keep a running statistic of the training batches.
    """

    name: str
    make: Callable[..., Gate]
    noisy: bool = False
    tracks: frozenset[str] = frozenset()


_FM = frozenset({"running_code", "running_steps"})
_NARROWING = frozenset({f"competition.{name}" for name in ("level", "mean_gate", "n_steps")})


def _feature_mask(n: int, generator: torch.Generator | None = None, **words: Any) -> Gate:
    return FeatureMask(n, mask_units=UNITS, generator=generator, **words)


def _sequential(n: int, generator: torch.Generator | None = None, **words: Any) -> Gate:
    takes = geometric_takes(n, 2)
    return FeatureMask(n, mask_units=UNITS, takes=takes, generator=generator, **words)


def _narrowing(n: int, generator: torch.Generator | None = None, **words: Any) -> Gate:
    return FeatureMask(n, mask_units=UNITS, narrowing=True, generator=generator, **words)


def _afs(n: int, generator: torch.Generator | None = None, **words: Any) -> Gate:
    return AFSGate(n, attention_units=UNITS, generator=generator, **words)


def _cancel_out(n: int, generator: torch.Generator | None = None, **words: Any) -> Gate:
    return CancelOutGate(n, init_spread="paper", generator=generator, **words)


def _concrete(n: int, generator: torch.Generator | None = None, **words: Any) -> Gate:
    return ConcreteGate(n, min(N_SELECT, n), generator=generator, **words)


def _sequential_attention(n: int, generator: torch.Generator | None = None, **words: Any) -> Gate:
    spread = {"init_spread": 0.1, **words}
    return SequentialAttentionGate(n, N_SELECT, generator=generator, **spread)


def _sand(n: int, generator: torch.Generator | None = None, **words: Any) -> Gate:
    return SANDGate(n, N_SELECT, **words)


def _without_draws(cls: type[Gate]) -> Callable[..., Gate]:
    """Return a maker of a gate whose initial weights are not random."""

    def make(n: int, generator: torch.Generator | None = None, **words: Any) -> Gate:
        return cls(n, **words)

    return make


def _random(n: int, generator: torch.Generator | None = None) -> Gate:
    return RandomGate(n, generator=generator)


CASES = [
    Case("FM", _feature_mask, tracks=_FM),
    Case("FM sequential", _sequential, tracks=_FM),
    Case("FM narrowing", _narrowing, noisy=True, tracks=_FM | _NARROWING),
    Case(
        "FM no attenuation", lambda *a, **w: _feature_mask(*a, attenuation=False, **w), tracks=_FM
    ),
    Case(
        "FM no normalization",
        lambda *a, **w: _feature_mask(*a, normalization=False, **w),
        tracks=_FM,
    ),
    Case("AFS", _afs),
    Case("AFS deep", lambda *a, **w: _afs(*a, head_depth=1, **w)),
    Case(
        "AFS last batch",
        lambda *a, **w: _afs(*a, readout="last_batch", **w),
        tracks=frozenset({"last_attention"}),
    ),
    Case("ConAE", _concrete, noisy=True),
    Case("CancelOut", _cancel_out),
    Case("CancelOut paper", lambda *a, **w: _cancel_out(*a, penalty="paper", **w)),
    Case("CancelOut keras", lambda *a, **w: _cancel_out(*a, penalty="keras", **w)),
    Case("CancelOut softmax", lambda *a, **w: _cancel_out(*a, activation="softmax", **w)),
    Case("BSF", _without_draws(BSFGate), noisy=True),
    Case(
        "BSF v2 row",
        lambda *a, **w: _without_draws(BSFGate)(*a, estimator="v2", draw="row", **w),
        noisy=True,
    ),
    Case("DFS", _without_draws(DFSGate)),
    Case("FSDNN", _without_draws(FSDNNGate)),
    Case(
        "FSDNN no bias",
        lambda *a, **w: _without_draws(FSDNNGate)(*a, include_bias=False, **w),
    ),
    Case("SA", _sequential_attention),
    Case("SAND", _sand, noisy=True),
    Case("SAND row", lambda *a, **w: _sand(*a, draw="row", **w), noisy=True),
    Case("Random", _random),
    Case("All", _without_draws(AllFeaturesGate)),
]


def randomize(module: nn.Module, generator: torch.Generator) -> None:
    """Fill all parameters with numbers between 0.1 and 0.9, which every gate may have."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.uniform_(0.1, 0.9, generator=generator)


def permuted_state(module: nn.Module, order: Tensor) -> dict[str, Tensor]:
    """Return the state with every axis of the length of `order` permuted."""
    state = {}
    for name, value in module.state_dict().items():
        for axis, length in enumerate(value.shape):
            if length == len(order):
                value = value.index_select(axis, order)
        state[name] = value
    return state
