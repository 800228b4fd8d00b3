"""CancelOut: one bounded gate a feature, with a penalty."""

import math
from collections.abc import Callable, Iterable
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn

from featuremask.exceptions import InputError
from featuremask.gates._base import Importance, MaskGate
from featuremask.gates._kept import hold_open, kept_positions
from featuremask.gates._rows import check_rows, checked_size

__all__ = ["CancelOutGate", "CancelOutPenalty"]

CancelOutPenalty = Literal["paper", "torch", "keras", "none"]

_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "sigmoid": torch.sigmoid,
    "softmax": lambda weight: weight.softmax(-1),
}


class _Coefficients(NamedTuple):
    """Of the terms of a penalty."""

    variance_weight: float
    l1_weight: float
    l2_weight: float


class _Form(NamedTuple):
    """One published penalty.

    Attributes
    ----------
    varied : callable
        From weight and gate to what shall have a large variance.
    normed : callable
        From weight and gate to what shall have a small norm.
    published : _Coefficients
    """

    varied: Callable[[Tensor, Tensor], Tensor]
    normed: Callable[[Tensor, Tensor], Tensor]
    published: _Coefficients


def _weight(weight: Tensor, gate: Tensor) -> Tensor:
    return weight


def _gate(weight: Tensor, gate: Tensor) -> Tensor:
    return gate


def _weight_by_size(weight: Tensor, gate: Tensor) -> Tensor:
    return weight / weight.numel()


_FORMS: dict[str, _Form] = {
    "paper": _Form(_weight_by_size, _weight_by_size, _Coefficients(0.2, 0.1, 0.0)),
    "torch": _Form(_weight, _gate, _Coefficients(0.001, 0.001, 0.0)),
    "keras": _Form(_weight, _weight, _Coefficients(0.0, 0.002, 0.001)),
    "none": _Form(_weight, _weight, _Coefficients(0.0, 0.0, 0.0)),
}


class CancelOutGate(MaskGate):
    r"""CancelOut of Borisov, Haug and Kasneci (2019): the input times a sigmoid of weights.

    .. math:: \tilde x = a(w) \odot x

    with a penalty of which three forms were published, over D features:

    ======= ===========================================================================
    "paper" :math:`-\lambda_v \operatorname{var}(w / D) + \lambda_1 \|w / D\|_1`
    "torch" :math:`-\lambda_v \operatorname{var}(w) + \lambda_1 \|a(w)\|_1`
    "keras" :math:`\lambda_1 \|w\|_1 + \lambda_2 \|w\|_2`
    "none"  nothing
    ======= ===========================================================================

    Features are ranked by w, which orders them as the gate does but never saturates.

    Parameters
    ----------
    n_features : int
    activation : {"sigmoid", "softmax"}, default="sigmoid"
        The function a.
    penalty : {"paper", "torch", "keras", "none"}, default="torch"
        The form of the penalty: that of the paper, of the authors' PyTorch or Keras code, or none.
    variance_weight, l1_weight, l2_weight : float, optional
        The coefficients :math:`\lambda_v, \lambda_1, \lambda_2`. None takes the published ones:
        0.2, 0.1, 0 for "paper"; 0.001, 0.001, 0 for "torch"; 0, 0.002, 0.001 for "keras". The
        reward of variance has no bound: a large coefficient drives the weights apart for ever.
    init : float, default=4.0
        Middle of the initial weights. The PyTorch code starts at 4, the Keras code at 1.
    init_spread : float or "paper", default=0.0
        The initial weights are uniform within this distance of the middle; "paper" takes
        :math:`1 / \sqrt D`.
    must_keep : iterable of int, default=()
        Features that are multiplied by 1.
    generator : torch.Generator, optional
        Source of the initial weights.
    device, dtype
        Where and in which precision the parameters live.

    Notes
    -----
    NOTE[DIFF] paper: penalty "paper", and initial weights with a spread around a coefficient of
    no stated value; code: penalty "torch" and all weights at 4 (PyTorch), penalty "keras" and
    all at 1 (Keras); here: those of the PyTorch code, all others as options, because its
    numbers are known.

    NOTE[DIFF] paper: the variance of the weights; code: the unbiased one, which is NaN for a
    single weight; here: 0 for a single weight, because one feature is valid input.

    References
    ----------
    V. Borisov, J. Haug, G. Kasneci, "CancelOut: A Layer for Feature Selection in Deep Neural
    Networks", ICANN 2019.

    Examples
    --------
    >>> gate = CancelOutGate(3)
    >>> gate(torch.ones(2, 3))[0].detach()
    tensor([0.9820, 0.9820, 0.9820])
    """

    kept: Tensor | None

    def __init__(
        self,
        n_features: int,
        *,
        activation: Literal["sigmoid", "softmax"] = "sigmoid",
        penalty: CancelOutPenalty = "torch",
        variance_weight: float | None = None,
        l1_weight: float | None = None,
        l2_weight: float | None = None,
        init: float = 4.0,
        init_spread: float | Literal["paper"] = 0.0,
        must_keep: Iterable[int] = (),
        generator: torch.Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.n_entries = self.out_features = checked_size(n_features)
        if activation not in _ACTIVATIONS:
            raise InputError(f"activation must be one of {list(_ACTIVATIONS)}; got {activation!r}.")
        self.activation = activation
        if penalty not in _FORMS:
            raise InputError(f"penalty must be one of {list(_FORMS)}; got {penalty!r}.")
        self.form = penalty
        self.coefficients = _coefficients(penalty, variance_weight, l1_weight, l2_weight)
        spread = _spread(init_spread, n_features)
        drawn = torch.empty(n_features, dtype=dtype).uniform_(-spread, spread, generator=generator)
        self.weight = nn.Parameter((drawn + init).to(device))
        self.register_buffer("kept", kept_positions(must_keep, n_features, device))

    def multiplier(self, x: Tensor, sample_weight: Tensor | None = None) -> Tensor:
        """Return the gates."""
        check_rows(x, self.n_entries)
        return hold_open(self._gates(), self.kept)

    def _gates(self) -> Tensor:
        return _ACTIVATIONS[self.activation](self.weight)

    def penalty(self, network: nn.Module) -> Tensor | None:
        """Return the terms that the form of the penalty has."""
        variance_weight, l1_weight, l2_weight = self.coefficients
        if not any(self.coefficients):
            return None
        form, gates = _FORMS[self.form], self._gates()
        normed = form.normed(self.weight, gates)
        total = l1_weight * normed.abs().sum()
        if l2_weight:
            total = total + l2_weight * normed.norm()
        if variance_weight:
            total = total - variance_weight * _variance(form.varied(self.weight, gates))
        return total

    @torch.no_grad()
    def importance(self, statistic: Tensor | None) -> Importance:
        """Return the weights as scores, the gates as shares."""
        scores = self.weight.detach().to(torch.float64, copy=True)
        return Importance(scores, shares=self._gates().double())

    def extra_repr(self) -> str:
        """Return what `repr` shows."""
        return f"{self.n_entries}, activation={self.activation!r}"


def _coefficients(
    penalty: str,
    variance_weight: float | None,
    l1_weight: float | None,
    l2_weight: float | None,
) -> _Coefficients:
    """Return the given coefficients, and the published ones where none is given."""
    coefficients = {
        "variance_weight": variance_weight,
        "l1_weight": l1_weight,
        "l2_weight": l2_weight,
    }
    given = {name: value for name, value in coefficients.items() if value is not None}
    for name, value in given.items():
        if not 0.0 <= value < math.inf:
            raise InputError(f"{name} must be None or 0 or more; got {value!r}.")
        if penalty == "none" and value:
            raise InputError(f'{name} needs a penalty other than "none"; got {name}={value!r}.')
    return _FORMS[penalty].published._replace(**given)


def _spread(init_spread: float | str, n_features: int) -> float:
    if init_spread == "paper":
        return 1.0 / math.sqrt(n_features)
    if isinstance(init_spread, str) or not 0.0 <= init_spread < math.inf:
        raise InputError(f'init_spread must be "paper" or 0 or more; got {init_spread!r}.')
    return float(init_spread)


def _variance(values: Tensor) -> Tensor:
    """Return the unbiased variance; 0 of a single value."""
    return values.var() if values.numel() > 1 else values.sum() * 0.0
