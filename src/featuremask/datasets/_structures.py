r"""How the relevant features make the signal of a planted dataset: one formula a kind.

Each function gets the relevant columns :math:`z_1, \dots, z_r`, standard normal, and gives the
signal :math:`s` and the groups of columns that act together. The weights :math:`w` are drawn from
:math:`\pm U(0.75, 1.25)`, so that no relevant feature is negligible.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from featuremask.exceptions import InputError

__all__ = ["STRUCTURES", "Structure"]

_Float: TypeAlias = NDArray[np.float64]
_Groups: TypeAlias = list[tuple[int, ...]]
Structure: TypeAlias = Callable[[_Float, np.random.Generator], tuple[_Float, _Groups]]


def linear(z: _Float, rng: np.random.Generator) -> tuple[_Float, _Groups]:
    r"""Sum single features: :math:`s = \sum_j w_j z_j`.

    Parameters
    ----------
    z : array of shape (n, r)
        The relevant columns.
    rng : Generator
        Draws the weights.

    Returns
    -------
    signal : array of shape (n,)
        The signal.
    groups : list of tuple of int
        Columns that act together.
    """
    return z @ _weights(z.shape[1], rng), _singles(range(z.shape[1]))


def xor(z: _Float, rng: np.random.Generator) -> tuple[_Float, _Groups]:
    r"""Multiply in pairs: :math:`s = \sum_p w_p z_{2p-1} z_{2p}`.

    With one pair and two classes this is the exclusive or of two signs. The mean of the signal
    given one feature is zero: no feature is of use alone.

    Parameters
    ----------
    z : array of shape (n, r)
        The relevant columns; r is even.
    rng : Generator
        Draws the weights.

    Returns
    -------
    signal : array of shape (n,)
        The signal.
    groups : list of tuple of int
        The pairs.
    """
    r = z.shape[1]
    if r % 2:
        raise InputError(f"kind='xor' needs an even n_relevant, features act in pairs; got {r}")
    return (z[:, ::2] * z[:, 1::2]) @ _weights(r // 2, rng), [(j, j + 1) for j in range(0, r, 2)]


def rings(z: _Float, rng: np.random.Generator) -> tuple[_Float, _Groups]:
    r"""Take the radius: :math:`s = (\sum_j z_j^2)^{1/2}`; classes are shells around the origin.

    Parameters
    ----------
    z : array of shape (n, r)
        The relevant columns.
    rng : Generator
        Not used.

    Returns
    -------
    signal : array of shape (n,)
        The signal.
    groups : list of tuple of int
        One group of all columns.
    """
    return np.linalg.norm(z, axis=1), [tuple(range(z.shape[1]))]


def additive(z: _Float, rng: np.random.Generator) -> tuple[_Float, _Groups]:
    r"""Sum bent features: :math:`s = \sum_j w_j g_j(z_j)`.

    The bends take turns: :math:`z`, :math:`z^2`, :math:`\sin 2z`, :math:`|z|`, :math:`\tanh 3z`,
    each shifted and scaled to mean 0 and variance 1 over the sample.

    Parameters
    ----------
    z : array of shape (n, r)
        The relevant columns.
    rng : Generator
        Draws the weights.

    Returns
    -------
    signal : array of shape (n,)
        The signal.
    groups : list of tuple of int
        Columns that act together: each alone.
    """
    bends: tuple[Callable[[_Float], _Float], ...] = (
        lambda v: v,
        np.square,
        lambda v: np.sin(2 * v),
        np.abs,
        lambda v: np.tanh(3 * v),
    )
    r = z.shape[1]
    terms = np.column_stack([_standardized(bends[j % len(bends)](z[:, j])) for j in range(r)])
    return terms @ _weights(r, rng), _singles(range(r))


def mixed(z: _Float, rng: np.random.Generator) -> tuple[_Float, _Groups]:
    r"""Add linear features, pairs and squares.

    .. math::
        s = \sum_{j \in L} w_j z_j + \sqrt 2 \sum_{(a, b) \in P} w_{ab} z_a z_b
            + \sum_{j \in Q} w_j (z_j^2 - 1) / \sqrt 2

    A fifth of the features are squared, twice a fifth act in pairs, the others are linear: every
    feature has about the same share of the variance, and a test of one feature at a time sees
    the linear ones only (4 of 10).

    Parameters
    ----------
    z : array of shape (n, r)
        The relevant columns, at least 4.
    rng : Generator
        Draws the weights.

    Returns
    -------
    signal : array of shape (n,)
        The signal.
    groups : list of tuple of int
        Single columns and pairs.
    """
    r = z.shape[1]
    if r < 4:
        raise InputError(f"kind='mixed' needs n_relevant of at least 4, for a pair too; got {r}")
    n_squares = n_pairs = max(1, round(r / 5))
    n_linear = r - n_squares - 2 * n_pairs
    first_square = n_linear + 2 * n_pairs
    pairs = z[:, n_linear:first_square]
    signal = z[:, :n_linear] @ _weights(n_linear, rng)
    signal = signal + np.sqrt(2) * (pairs[:, ::2] * pairs[:, 1::2]) @ _weights(n_pairs, rng)
    signal = signal + (z[:, first_square:] ** 2 - 1) / np.sqrt(2) @ _weights(n_squares, rng)
    groups = _singles(range(n_linear))
    groups += [(j, j + 1) for j in range(n_linear, first_square, 2)]
    return signal, groups + _singles(range(first_square, r))


STRUCTURES: dict[str, Structure] = {
    "linear": linear,
    "xor": xor,
    "rings": rings,
    "additive": additive,
    "mixed": mixed,
}
"""The supervised kinds by name."""


def _weights(count: int, rng: np.random.Generator) -> _Float:
    return rng.choice([-1.0, 1.0], size=count) * rng.uniform(0.75, 1.25, size=count)


def _singles(columns: range) -> _Groups:
    return [(column,) for column in columns]


def _standardized(values: _Float) -> _Float:
    result: _Float = (values - values.mean()) / max(values.std(), 1e-12)
    return result
