"""FSDNN: the contribution of each feature to the first layer of a trained network."""

import torch
from torch import Tensor, nn

from featuremask.exceptions import InputError
from featuremask.gates._base import Gate, Importance
from featuremask.gates._first_dense import first_dense
from featuremask.gates._rows import check_rows, checked_size, column_blocks

__all__ = ["FSDNNGate", "mean_potentials"]


class FSDNNGate(Gate):
    r"""Feature selection by activation potentials, of Roy, Murty and Mohan (2015).

    The network is trained on the input as it is. Then, with :math:`w_{ij}` and :math:`b_j` of its
    first layer, i a feature and j a hidden unit, over the N training rows,

    .. math::

        p_{ij} = \tfrac 1 N \sum_n | w_{ij} x_{ni} + b_j |, \quad
        c_{ij} = p_{ij} / \textstyle\sum_i p_{ij}, \quad
        c_i = \textstyle\sum_j c_{ij}.

    Features are ranked by :math:`c_i`.

    Parameters
    ----------
    n_features : int
    include_bias : bool, default=True
        Whether :math:`b_j` counts. If it does, a feature that is always zero has the potential
        :math:`|b_j|`.

    Notes
    -----
    NOTE[DIFF] paper: the contributions pass through a ReLU; code (of others): summed as they
    are; here: summed as they are, because they are not negative.

    NOTE[DIFF] paper: potentials of the features as given; here: of the rows that the network is
    trained on, standardized by the selector, because they belong to its weights.

    NOTE[DIFF] code (of others): one row, feature and unit after the other; here: from sorted
    columns and running sums, because it is the same mean without an array of rows by units by
    features.

    References
    ----------
    D. Roy, K. S. R. Murty, C. K. Mohan, "Feature selection using Deep Neural Networks",
    IJCNN 2015.

    Examples
    --------
    >>> gate, network = FSDNNGate(3), nn.Linear(3, 2)
    >>> statistic = gate.statistic(torch.rand(5, 3), network=network)
    >>> statistic.shape
    torch.Size([2, 3])
    >>> gate.importance(statistic).scores.sum().round(decimals=4)
    tensor(2., dtype=torch.float64)
    """

    def __init__(self, n_features: int, *, include_bias: bool = True) -> None:
        super().__init__()
        self.n_entries = self.out_features = checked_size(n_features)
        self.include_bias = include_bias

    def forward(self, x: Tensor, sample_weight: Tensor | None = None) -> Tensor:
        """Return the input."""
        check_rows(x, self.n_entries)
        return x

    def penalty(self, network: nn.Module) -> Tensor | None:
        """Return None, but raise at the first step if the network cannot be read out."""
        self._first_layer(network)
        return None

    @torch.no_grad()
    def statistic(
        self,
        x: Tensor,
        sample_weight: Tensor | None = None,
        *,
        network: nn.Module | None = None,
    ) -> Tensor:
        """Return the mean potentials of the rows, in float64.

        **Shape**: (units of the first layer, n_features).
        """
        check_rows(x, self.n_entries)
        layer = self._first_layer(network)
        bias = layer.bias if self.include_bias else None
        return mean_potentials(x, layer.weight, bias, sample_weight)

    def importance(self, statistic: Tensor | None) -> Importance:
        """Return the contributions, which sum to the number of units."""
        if statistic is None:
            raise InputError("importance needs the statistic of the training rows; got None.")
        total = statistic.sum(1, keepdim=True)
        return Importance((statistic / total.where(total > 0.0, 1.0)).sum(0))

    def _first_layer(self, network: nn.Module | None) -> nn.Linear:
        layer = None if network is None else first_dense(network)
        if layer is None or layer.in_features != self.n_entries:
            found = "None" if network is None else type(network).__name__
            raise InputError(
                "FSDNN reads the weights of a network that begins with a plain nn.Linear on all "
                f"{self.n_entries} features; got {found}. Use such a network or another method."
            )
        return layer


def mean_potentials(
    x: Tensor, weight: Tensor, bias: Tensor | None, sample_weight: Tensor | None = None
) -> Tensor:
    """Return the mean over rows of ``|weight * x + bias|`` for each unit and feature, in float64.

    Each column is sorted once. The rows on either side of the point where a potential changes
    sign then add up to two differences of running sums, whatever the number of units, and no
    array of rows by units by features is made.

    **Shape**: `x` is (rows, n_features), `weight` (units, n_features), `bias` (units,); the result
    is (units, n_features).

    Examples
    --------
    >>> mean_potentials(torch.tensor([[1.0], [-3.0]]), torch.tensor([[2.0]]), torch.tensor([1.0]))
    tensor([[4.]], dtype=torch.float64)
    """
    if sample_weight is None:
        sample_weight = x.new_ones(x.shape[0])
    share = sample_weight.double() / sample_weight.double().sum()
    potentials = torch.empty(weight.shape, dtype=torch.float64, device=weight.device)
    for columns, values in column_blocks(x):
        w = weight[:, columns].T.double().contiguous()
        if bias is None:
            part = w.abs() * (values.abs() @ share)[:, None]
        else:
            part = _biased(values, w, bias.double(), share)
        potentials[:, columns] = part.T
    return potentials


def _biased(values: Tensor, w: Tensor, b: Tensor, share: Tensor) -> Tensor:
    """Return the mean of ``|w x + b|`` over the rows of each column.

    **Shape**: `values` is (columns, rows), `w` (columns, units), `b` (units,), `share` (rows,).
    """
    values, order = values.sort(dim=1)
    shares = share[order]
    rows_below, sum_below = _running_sum(shares), _running_sum(shares * values)
    n_below = torch.searchsorted(values, (-b / w).nan_to_num())
    rows_left, sum_left = rows_below.gather(1, n_below), sum_below.gather(1, n_below)
    rows_right, sum_right = rows_below[:, -1:] - rows_left, sum_below[:, -1:] - sum_left
    return (w * (sum_right - sum_left) + b * (rows_right - rows_left)).abs()


def _running_sum(values: Tensor) -> Tensor:
    """Return the sums of the first 0, 1, 2, ... entries of each row."""
    return torch.nn.functional.pad(values.cumsum(1), (1, 0))
