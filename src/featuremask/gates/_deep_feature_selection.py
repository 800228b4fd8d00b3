"""DFS: deep feature selection, a sparse one-to-one linear layer."""

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from featuremask.exceptions import InputError
from featuremask.gates._base import Importance, MaskGate
from featuremask.gates._kept import hold_open, kept_positions
from featuremask.gates._norms import elastic_net, matrices
from featuremask.gates._rows import check_rows, checked_size

__all__ = ["DFSGate"]


class DFSGate(MaskGate):
    r"""Deep feature selection of Li, Chen and Wasserman (2015): one weight a feature.

    .. math::

        \tilde x = w \odot x, \quad
        \text{loss} + \lambda_1 \left( \tfrac{1 - \lambda_2}{2} \|w\|_2^2
            + \lambda_2 \|w\|_1 \right)
        + \alpha_1 \left( \tfrac{1 - \alpha_2}{2} \sum_l \|W_l\|_F^2
            + \alpha_2 \sum_l \|W_l\|_1 \right)

    over all matrices :math:`W_l` of the learning network. Features are ranked by :math:`|w|`.

    Parameters
    ----------
    n_features : int
    weight_penalty : float, default=0.001
        :math:`\lambda_1`, for the weights of the features.
    weight_l1_ratio : float, default=1.0
        :math:`\lambda_2`, from 0 (squares) to 1 (absolute values).
    network_penalty : float, default=0.001
        :math:`\alpha_1`, for the matrices of the network. The product of w and the first matrix
        is all the network sees, so that without this term w can shrink at no cost.
    network_l1_ratio : float, default=0.0
        :math:`\alpha_2`.
    must_keep : iterable of int, default=()
        Features that are multiplied by 1.
    device, dtype
        Where and in which precision the parameters live.

    Notes
    -----
    NOTE[DIFF] paper: tanh layers trained by momentum SGD; code: the same, the output layer
    starting at zero; here: the network and the optimizer of all methods, because methods should
    differ in their gates alone.

    NOTE[DIFF] paper: "selected" is what exceeds a thousandth of the largest absolute weight
    along a path of penalties; code: the same; here: the absolute weights of one training rank
    all features, because subgradient steps give no exact zeros.

    NOTE[DIFF] paper: elastic nets; code: also a variant with a group penalty on the rows of the
    first matrix and no weights of features; here: not, because it is another method.

    References
    ----------
    Y. Li, C.-Y. Chen, W. W. Wasserman, "Deep feature selection: theory and application to identify
    enhancers and promoters", RECOMB 2015; Journal of Computational Biology 23(5), 2016.

    Examples
    --------
    >>> gate = DFSGate(3)
    >>> gate(torch.ones(2, 3)).shape
    torch.Size([2, 3])
    >>> gate.penalty(nn.Linear(3, 1, bias=False)) > 0.003
    tensor(True)
    """

    kept: Tensor | None

    def __init__(
        self,
        n_features: int,
        *,
        weight_penalty: float = 0.001,
        weight_l1_ratio: float = 1.0,
        network_penalty: float = 0.001,
        network_l1_ratio: float = 0.0,
        must_keep: Iterable[int] = (),
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.n_entries = self.out_features = checked_size(n_features)
        self.weight_penalty = _coefficient("weight_penalty", weight_penalty)
        self.weight_l1_ratio = _ratio("weight_l1_ratio", weight_l1_ratio)
        self.network_penalty = _coefficient("network_penalty", network_penalty)
        self.network_l1_ratio = _ratio("network_l1_ratio", network_l1_ratio)
        self.weight = nn.Parameter(torch.ones(n_features, device=device, dtype=dtype))
        self.register_buffer("kept", kept_positions(must_keep, n_features, device))

    def multiplier(self, x: Tensor, sample_weight: Tensor | None = None) -> Tensor:
        """Return the weights of the features."""
        check_rows(x, self.n_entries)
        return hold_open(self.weight, self.kept)

    def penalty(self, network: nn.Module) -> Tensor | None:
        """Return the elastic nets on the weights of the features and on the network's."""
        own = self.weight_penalty * elastic_net([self.weight], self.weight_l1_ratio)
        if self.network_penalty == 0.0:
            return own
        return own + self.network_penalty * elastic_net(matrices(network), self.network_l1_ratio)

    @torch.no_grad()
    def importance(self, statistic: Tensor | None) -> Importance:
        """Return the sizes of the weights."""
        return Importance(self.weight.abs().double())

    def extra_repr(self) -> str:
        """Return what `repr` shows."""
        return f"{self.n_entries}"


def _coefficient(name: str, value: float) -> float:
    if not value >= 0.0:
        raise InputError(f"{name} must not be negative; got {value!r}.")
    return float(value)


def _ratio(name: str, value: float) -> float:
    if not 0.0 <= value <= 1.0:
        raise InputError(f"{name} must be from 0 (squares) to 1 (absolute values); got {value!r}.")
    return float(value)
