"""What a fit is made from, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from sklearn.utils import check_random_state
from torch import nn

from featuremask.exceptions import InputError
from featuremask.networks import mlp

__all__ = ["GateSpec", "NetworkSpec", "Seeds", "state_of"]


@dataclass(frozen=True)
class Seeds:
    """Where the randomness of a fit comes from."""

    gate: int
    network: int
    training: int

    @classmethod
    def draw(cls, random_state: Any) -> Seeds:
        """Draw them from a `random_state`; None means anew each time."""
        drawn = state_of(random_state).randint(2**31 - 1, size=3)
        return cls(*(int(seed) for seed in drawn))


def state_of(random_state: Any) -> np.random.RandomState:
    """Return a source of seeds; that of None is never the global one."""
    if random_state is None:
        return np.random.RandomState(np.random.PCG64())
    try:
        state: np.random.RandomState = check_random_state(random_state)
    except ValueError as error:
        raise InputError(
            "random_state must be None, an integer from 0 to 2**32 - 1, or a numpy.random."
            f"RandomState; got {random_state!r}."
        ) from error
    return state


@dataclass(frozen=True)
class GateSpec:
    """What a gate needs to know of the data; plain values, so that it can be saved.

    Attributes
    ----------
    n_features : int
        Columns that take part.
    groups : list of int or None
        The group of each; None if each is its own.
    kept : list of int
        Those whose gate is open from the start.
    n_select : int
        How many groups the user asked for.
    seed : int
        Of the initial weights.
    streamed : bool
        Whether rows come portion by portion, without an end that is known.
    """

    n_features: int
    groups: list[int] | None
    kept: list[int]
    n_select: int
    seed: int
    streamed: bool = False

    def generator(self) -> torch.Generator:
        """Return the source of the initial weights."""
        return torch.Generator().manual_seed(self.seed)


@dataclass(frozen=True)
class NetworkSpec:
    """A default learning network; plain values, so that it can be saved."""

    n_inputs: int
    hidden_units: list[int]
    n_outputs: int
    dropout: float
    seed: int

    def build(self) -> nn.Module:
        """Return the network with its initial weights."""
        return mlp(
            self.n_inputs,
            self.hidden_units,
            self.n_outputs,
            dropout=self.dropout,
            generator=torch.Generator().manual_seed(self.seed),
            dtype=torch.float32,
        )
