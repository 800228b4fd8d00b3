"""ConAE: the concrete selector layer, k neurons that each learn to pick one feature."""

from collections.abc import Iterable

import torch
from torch import Tensor, nn
from torch.nn import functional

from featuremask.exceptions import InputError
from featuremask.gates._base import Gate, Importance
from featuremask.gates._kept import kept_positions
from featuremask.gates._rows import check_rows, checked_count, checked_size
from featuremask.gates._seeded import Seeded

__all__ = ["ConcreteGate"]


class ConcreteGate(Seeded, Gate):
    r"""Concrete selector layer of Abid, Balin and Zou (2019): k soft choices that harden.

    Neuron k holds logits :math:`\alpha_k` over the features. One draw serves a whole batch:

    .. math::

        M_k = \mathrm{softmax}\bigl((\alpha_k + g_k) / T\bigr), \quad
        g_{kd} \sim \mathrm{Gumbel}(0, 1), \quad u = x M^\top, \quad
        T(t) = T_0 (T_1 / T_0)^t

    for progress t from 0 to 1; in evaluation :math:`M_k` is one at the largest of
    :math:`\alpha_k` and zero elsewhere. The network behind it sees k numbers.

    Features that a neuron picks come first, then the others, each by its largest probability
    :math:`\max_k \mathrm{softmax}(\alpha_k)_d`. That probability orders the first k well, and
    says little of the features far behind them. Neurons may pick the same feature.

    Parameters
    ----------
    n_features : int
    n_select : int
        Number of neurons, k.
    start_temperature, end_temperature : float, default=10.0, 0.1
        The temperatures :math:`T_0` and :math:`T_1`. The research code ends at 0.01.
    must_keep : iterable of int, default=()
        Features that are picked from the start; each takes one of the k neurons.
    generator : torch.Generator, optional
        Source of the initial logits.
    device, dtype
        Where and in which precision the parameters live.

    Attributes
    ----------
    out_features : int
        Width after the gate: k, or the number of features to keep if there are more.

    Notes
    -----
    NOTE[DIFF] paper: the temperature falls over training; code: with each call of the layer,
    validation included; here: `anneal` sets it, because a call should have no effect on the
    next.

    NOTE[DIFF] paper: the loss of the task; code: squared error, for classes too; here: that of
    the objective, because the paper says so.

    NOTE[DIFF] code: the research code ends a training once the neurons have decided, the
    package never does; here: it runs to the end of the schedule, because the network is still
    to be trained at the low temperature.

    References
    ----------
    A. Abid, M. F. Balin, J. Zou, "Concrete Autoencoders: Differentiable Feature Selection and
    Reconstruction", ICML 2019.

    Examples
    --------
    >>> gate = ConcreteGate(20, 3)
    >>> gate(torch.rand(5, 20)).shape
    torch.Size([5, 3])
    >>> bool((gate.eval()(torch.eye(20)).sum(0) == 1).all())
    True
    """

    kept: Tensor | None
    temperature: Tensor

    def __init__(
        self,
        n_features: int,
        n_select: int,
        *,
        start_temperature: float = 10.0,
        end_temperature: float = 0.1,
        must_keep: Iterable[int] = (),
        generator: torch.Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.n_entries = checked_size(n_features)
        if not start_temperature >= end_temperature > 0.0:
            raise InputError(
                "The temperatures must be positive and must not rise; got "
                f"{start_temperature=}, {end_temperature=}."
            )
        self.start_temperature = float(start_temperature)
        self.end_temperature = float(end_temperature)
        self.register_buffer("kept", kept_positions(must_keep, n_features, device))
        n_kept = 0 if self.kept is None else self.kept.numel()
        n_free = max(0, checked_count("n_select", n_select) - n_kept)
        self.out_features = n_kept + n_free
        drawn = torch.empty(n_free, n_features, dtype=dtype)
        drawn.normal_(0.0, (2.0 / (n_select + n_features)) ** 0.5, generator=generator)
        self.logits = nn.Parameter(drawn.to(device))
        self.register_buffer(
            "temperature", torch.tensor(self.start_temperature, device=device, dtype=dtype)
        )

    def forward(self, x: Tensor, sample_weight: Tensor | None = None) -> Tensor:
        """Return what the neurons pick, softly while training.

        **Shape**: (rows, n_features) to (rows, out_features); first the features to keep.
        """
        check_rows(x, self.n_entries)
        if not self.training:
            return x[..., self.picks()]
        picked = functional.linear(x, self.selection())
        return picked if self.kept is None else torch.cat([x[..., self.kept], picked], -1)

    def selection(self) -> Tensor:
        """Return one draw of the soft choices at the present temperature.

        **Shape**: (free neurons, n_features); each row sums to one.
        """
        waiting = torch.empty_like(self.logits).exponential_(generator=self.generator)
        gumbel = -waiting.clamp_min_(torch.finfo(waiting.dtype).tiny).log_()
        return ((self.logits + gumbel) / self.temperature).softmax(-1)

    def anneal(self, progress: float) -> None:
        """Set the temperature, which falls exponentially."""
        ratio = self.end_temperature / self.start_temperature
        self.temperature.fill_(self.start_temperature * ratio**progress)

    @torch.no_grad()
    def picks(self) -> Tensor:
        """Return the feature that each neuron picks; one may come more than once.

        **Shape**: (out_features,).
        """
        picked = self.logits.argmax(-1)
        return picked if self.kept is None else torch.cat([self.kept, picked])

    @torch.no_grad()
    def probabilities(self) -> Tensor:
        """Return how likely each neuron is to pick each feature, in float64.

        **Shape**: (out_features, n_features).
        """
        learned = self.logits.double().softmax(-1)
        if self.kept is None:
            return learned
        certain = functional.one_hot(self.kept, self.n_entries).double()
        return torch.cat([certain, learned])

    def mean_max(self) -> float:
        """Return the mean over neurons of the largest probability: 1 when all have decided."""
        return float(self.probabilities().amax(-1).mean())

    @torch.no_grad()
    def importance(self, statistic: Tensor | None) -> Importance:
        """Return the largest probability of each feature, plus one where a neuron picks it.

        The logits order what is equal, the shares are the mean probabilities.
        """
        probabilities = self.probabilities()
        scores = probabilities.amax(0)
        scores[self.picks()] += 1.0
        if self.logits.numel() == 0:
            return Importance(scores, shares=probabilities.mean(0))
        ties = self.logits.double().amax(0)
        return Importance(scores, ties=ties, shares=probabilities.mean(0))

    def extra_repr(self) -> str:
        """Return what `repr` shows."""
        return f"{self.n_entries}, {self.out_features}"
