"""The FM-module: batch-wise attenuation and feature mask normalization as a layer."""

import warnings
from collections.abc import Hashable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any, Literal, cast

import torch
import torch.distributed as dist
from torch import Tensor, nn

from featuremask.exceptions import FeatureMaskWarning, InputError
from featuremask.gates._attenuation import attenuate, weighted_mean
from featuremask.gates._base import Importance, MaskGate
from featuremask.gates._competition import Competition
from featuremask.gates._large import is_cast
from featuremask.gates._layout import Layout, entries_of
from featuremask.gates._narrowing import Narrowing
from featuremask.gates._rounds import Rounds
from featuremask.gates._transformation import DenseTransformation, Initialization, TwoStage

__all__ = ["FeatureMask"]

_RUNNING_MOMENTUM = 0.1


class FeatureMask(MaskGate):
    r"""Feature mask module of Liao, Latty and Yang (2021), in front of any network.

    Rows :math:`x_i` of a batch are mapped to logits, the logits averaged over the batch, the
    average normalized to a mask, and the rows multiplied by it:

    .. math::

        z_i = W_2 \tanh(W_1 x_i + b_1) + b_2, \quad
        \bar z = \tfrac{1}{B} \sum_i z_i, \quad
        m = \mathrm{softmax}(\bar z), \quad
        \tilde x_i = \mathrm{scale} \cdot m \odot x_i .

    It is trained together with the network by the network's own loss; no term is added to it.

    Parameters
    ----------
    n_features : int or tuple of int
        Number of features, or the sizes of the masked axes: ``(28, 28)`` for pixels.
    dims : int or tuple of int, optional
        The masked axes of the input; the last ones if None. All positions along the other axes
        are rows that share the mask: ``FeatureMask((28, 28))`` masks the pixels of ``(B, C, H, W)``
        images, shared over channels; ``FeatureMask((3, 28, 28))`` each pixel of each channel;
        ``FeatureMask(3, dims=1)`` the channels; ``FeatureMask(F)`` the features of ``(B, T, F)``
        sequences, shared over time.
    mask_units : int, default=128
        Width E of the hidden layer, whatever the number of features.
    depth : int, default=1
        Number of hidden layers.
    activation : {"tanh", "relu", "sigmoid", "leaky_relu"}, default="tanh"
        Non-linearity of the hidden layers.
    transformation : nn.Module, optional
        Replaces the dense layers: any module from rows ``(rows, n_features)`` to logits
        ``(rows, n_entries)``. If it has a method ``penalty()``, such as a KL term, its value is
        added to the loss by the training loop. If it has ``encode`` and an affine ``decode`` (see
        `TwoStage`), the mean is taken between them.
    init : {"xavier", "uniform", "normal", "ones", "authors"}, default="xavier"
        Distribution of the initial weights. "authors" draws the last layer from U(0.9, 1.1).
    attenuation : bool, default=True
        Average over the batch. If False each row has its own mask (the paper's ablation).
    normalization : bool, default=True
        Normalize by a softmax. If False the logits themselves multiply the rows.
    scale : {"sum", "mean"} or float, default="sum"
        The mask entries sum to one ("sum", as in the paper), average one ("mean"), or sum to the
        number.
    feature_groups : sequence of length n_features, optional
        Labels; features of equal label share one entry of the mask.
    must_keep : iterable of int, default=()
        Indices of features whose gate is fixed at 1. They take no part in the softmax.
    takes : sequence of int, optional
        The sequential mask: training is split into ``len(takes)`` rounds of equal length, and
        after round r the entries of highest logit are taken until ``takes[r]`` of them are. A
        taken entry has gate 1 and leaves the softmax. See `anneal`.
    narrowing : bool, default=False
        The narrowing mask: the gates are no softmax, but sum to a budget that falls geometrically
        from all entries to one while training, and each step draws which entries pass. Entries are
        ranked by how long they stayed open. It has no `scale` and needs `attenuation` and
        `normalization`. See `anneal`.
    inference : {"frozen", "batch"}, default="frozen"
        The mask in evaluation mode: the stored one, or that of the batch at hand, as the original
        layer does.
    process_group : torch.distributed.ProcessGroup, optional
        Average over the rows of all ranks, as ``nn.SyncBatchNorm`` does.
    generator : torch.Generator, optional
        Source of the initial weights.
    device, dtype
        Where and in which precision the parameters live.

    Attributes
    ----------
    n_entries : int
        Number of entries of the mask: features, or groups of them.

    Notes
    -----
    NOTE[DIFF] paper: the mask of a new batch depends on that batch; here evaluation mode uses a
    stored mask, so that a row's output never depends on its batch-mates (`freeze`). Before
    `freeze`, a running mean of the hidden code of the training batches serves, with a warning.

    Examples
    --------
    >>> import torch
    >>> from featuremask import FeatureMask
    >>> gate = FeatureMask(784)
    >>> network = torch.nn.Sequential(gate, torch.nn.Linear(784, 10))
    >>> network(torch.rand(32, 784)).shape
    torch.Size([32, 10])
    >>> bool(gate.mask(torch.rand(32, 784)).sum().isclose(torch.tensor(1.0)))
    True
    """

    running_code: Tensor
    running_steps: Tensor
    stored_logits: Tensor
    is_frozen: Tensor
    entry_of_feature: Tensor | None
    transformation: nn.Module

    def __init__(
        self,
        n_features: int | tuple[int, ...],
        *,
        dims: int | tuple[int, ...] | None = None,
        mask_units: int = 128,
        depth: int = 1,
        activation: str = "tanh",
        transformation: nn.Module | None = None,
        init: Initialization = "xavier",
        attenuation: bool = True,
        normalization: bool = True,
        scale: Literal["sum", "mean"] | float = "sum",
        feature_groups: Sequence[Hashable] | None = None,
        must_keep: Iterable[int] = (),
        takes: Sequence[int] | None = None,
        narrowing: bool = False,
        inference: Literal["frozen", "batch"] = "frozen",
        process_group: dist.ProcessGroup | None = None,
        generator: torch.Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        device = torch.get_default_device() if device is None else device
        self.layout = Layout.of(n_features, dims)
        self.out_features = self.layout.size
        entry_of_feature, self.n_entries = entries_of(feature_groups, self.layout.size)
        kept = self._entries(must_keep, entry_of_feature)
        if entry_of_feature is not None:
            entry_of_feature = entry_of_feature.to(device)
        self.register_buffer("entry_of_feature", entry_of_feature)
        self.attenuation = attenuation
        self.normalization = normalization
        if narrowing:
            _check_narrowing(scale, takes, attenuation, normalization)
        if inference not in ("frozen", "batch"):
            raise InputError(f'inference must be "frozen" or "batch"; got {inference!r}.')
        self.inference = inference
        self.process_group = process_group
        if transformation is None:
            transformation = DenseTransformation(
                self.layout.size,
                self.n_entries,
                units=mask_units,
                depth=depth,
                activation=activation,
                init=init,
                generator=generator,
                device=device,
                dtype=dtype,
            )
        self.transformation = transformation
        self.competition: Competition
        if narrowing:
            self.competition = Narrowing(self.n_entries, kept, device=device, dtype=dtype)
        else:
            self.competition = Rounds(
                self.n_entries,
                takes,
                kept,
                scale=_scale_factor(scale, self.n_entries),
                normalized=normalization,
                device=device,
                dtype=dtype,
            )
        self._register_state(device, dtype)

    def _register_state(self, device: torch.device | str, dtype: torch.dtype | None) -> None:
        two_stage = self.attenuation and isinstance(self.transformation, TwoStage)
        self._two_stage = two_stage
        code_units = self._stages().code_units if two_stage else self.n_entries
        place: dict[str, Any] = {"device": device, "dtype": dtype}
        self.register_buffer("running_code", torch.zeros(code_units, **place))
        self.register_buffer("running_steps", torch.zeros((), dtype=torch.int64, device=device))
        self.register_buffer("stored_logits", torch.zeros(self.n_entries, **place))
        self.register_buffer("is_frozen", torch.zeros((), dtype=torch.bool, device=device))
        self._tracked = False
        self._frozen = False
        self._warned = False

    @property
    def scale(self) -> float:
        """What the entries of the mask are multiplied by: a constant, or the present budget."""
        return self.competition.scale

    def _stages(self) -> TwoStage:
        return cast(TwoStage, self.transformation)  # an isinstance of a protocol takes long

    def _code(self, rows: Tensor) -> Tensor:
        """Return what is averaged over rows: hidden codes if the rest is affine, else logits."""
        code: Tensor = self._stages().encode(rows) if self._two_stage else self.transformation(rows)
        return code

    def _entries(self, features: Iterable[int], entry_of_feature: Tensor | None) -> list[int]:
        """Return the entries that hold these features."""
        features = list(features)
        for feature in features:
            if not 0 <= feature < self.layout.size:
                raise InputError(
                    f"must_keep holds indices of features, 0 to {self.layout.size - 1}; "
                    f"got {feature!r}."
                )
        if entry_of_feature is None:
            return features
        return sorted({int(entry_of_feature[feature]) for feature in features})

    # ---- the three submodules of the paper -------------------------------------------------

    def logits(self, x: Tensor, sample_weight: Tensor | None = None) -> Tensor:
        """Return the attenuated logits of a batch, (n_entries,).

        Without attenuation: the logits of each row, (rows, n_entries).
        """
        rows, row_weight = self.layout.rows(x, sample_weight)
        if not self.attenuation:
            z: Tensor = self.transformation(rows)
            return z
        return self._decode(self._mean_code(rows, row_weight))

    def mask(self, x: Tensor, sample_weight: Tensor | None = None) -> Tensor:
        """Return the normalized mask, one non-negative entry a feature or group.

        In training mode it is that of the batch and sums to one (entries fixed at a gate of 1 by
        `must_keep` or taken in a round hold ``1 / scale`` and are not counted). In evaluation mode
        it is the stored one.
        """
        return self.competition.mask(self._current_logits(x, sample_weight))

    def multiplier(self, x: Tensor, sample_weight: Tensor | None = None) -> Tensor:
        """Return what the features of a batch are multiplied by: scale times mask.

        The narrowing mask draws it in training mode.
        """
        logits = self._current_logits(x, sample_weight, track=self.training)
        compete = self.competition.draw if self.training else self.competition.gate
        entries = compete(logits)
        if self.entry_of_feature is None:
            return entries
        return entries[..., self.entry_of_feature]

    def forward(self, x: Tensor, sample_weight: Tensor | None = None) -> Tensor:
        """Return the input, multiplied by scale times mask along the masked axes.

        **Shape**: the output has the shape of the input.
        """
        return self.layout.multiply(x, self.multiplier(x, sample_weight))

    def _mean_code(self, rows: Tensor, row_weight: Tensor | None) -> Tensor:
        """Attenuate before the last linear layer: the mean commutes with it."""
        code = _wide(self._code(rows))
        with _full_precision(code):
            return attenuate(code, row_weight, self.process_group)

    def _decode(self, mean_code: Tensor) -> Tensor:
        if not self._two_stage:
            return mean_code
        with _full_precision(mean_code):  # one row costs nothing, and decides
            return self._stages().decode(mean_code)

    # ---- which logits hold -----------------------------------------------------------------

    def _current_logits(
        self, x: Tensor, sample_weight: Tensor | None, *, track: bool = False
    ) -> Tensor:
        if not self.training and self.inference == "frozen":
            return self._stored(x, sample_weight)
        if self.running_code.ndim == 2:  # of stacked members, whose rows are plain
            rows, row_weight = x, sample_weight
        else:
            rows, row_weight = self.layout.rows(x, sample_weight)
        if not self.attenuation:
            z: Tensor = self.transformation(rows)
            if track:
                scores = self._row_scores(z.detach())
                self._track(attenuate(scores, row_weight, self.process_group))
            return z
        mean_code = self._mean_code(rows, row_weight)
        if track:
            self._track(mean_code.detach())
        return self._decode(mean_code)

    def _stored(self, x: Tensor, sample_weight: Tensor | None) -> Tensor:
        if self._frozen:
            return self.stored_logits
        if not self._warned:
            self._warned = True
            warnings.warn(
                "This FeatureMask was never frozen: evaluation mode uses a running mean of the "
                "training batches. Call freeze_from(loader) or freeze(statistic) after training.",
                FeatureMaskWarning,
                stacklevel=4,
            )
        if not self._tracked:
            return self.logits(x, sample_weight)
        return self._logits_of(self.running_code)

    @torch.no_grad()
    def _track(self, mean_code: Tensor) -> None:
        self._tracked = True
        self.running_steps += 1  # counted in a tensor: torch.compile would recompile for an int
        dtype = self.running_code.dtype
        momentum = self.running_steps.to(dtype).reciprocal_().clamp_(min=_RUNNING_MOMENTUM)
        self.running_code.lerp_(mean_code.to(dtype), momentum)

    def _row_scores(self, z: Tensor) -> Tensor:
        """Return what is averaged over rows when each row has its own mask."""
        return self.competition.mask(z) if self.normalization else z

    def _logits_of(self, mean_code: Tensor) -> Tensor:
        """Return logits whose mask is the one that belongs to a mean over rows."""
        if self.attenuation:
            return self._decode(mean_code)
        return mean_code.log() if self.normalization else mean_code

    # ---- the verbs -------------------------------------------------------------------------

    def penalty(self, network: nn.Module) -> Tensor | None:
        """Return the transformation's own penalty, if it has one. The paper's has none."""
        own = getattr(self.transformation, "penalty", None)
        return None if own is None else own()

    @torch.no_grad()
    def anneal(self, progress: float) -> None:
        """End the rounds of the sequential mask that are due; set the budget of the narrowing one.

        The logits that decide come from the running mean of the hidden code of the batches.
        """
        self.competition.anneal(progress, lambda: self._logits_of(self.running_code))

    def passing_columns(self) -> Tensor | None:
        """Return the features that the narrowing mask has not shut; None if it has shut none."""
        return self.competition.passing() if self.entry_of_feature is None else None

    def column_axes(self) -> list[tuple[nn.Parameter, int]]:
        """Return the first and the last layer of the dense transformation."""
        plain = self.entry_of_feature is None and self.layout.is_plain
        if not plain or type(self.transformation) is not DenseTransformation:
            return []
        assert isinstance(self.transformation, DenseTransformation)
        return self.transformation.column_axes()

    def enter(self, columns: Tensor | None) -> None:
        """Take rows of these features alone from now on, while training; of all if None."""
        size = self.out_features if columns is None else columns.shape[-1]
        self.layout = replace(self.layout, shape=(size,))
        self.competition.enter(columns)

    def takes_sparse(self) -> bool:
        """Whether rows go through the plain dense transformation, and one mask is for them all."""
        plain = self.layout.is_plain and self.attenuation
        return plain and type(self.transformation) is DenseTransformation

    def stacks(self) -> bool:
        """Whether it is the plain dense mask of rows, joint or narrowing."""
        return self.takes_sparse() and self.inference == "frozen" and self.competition.stacks()

    def shared(self) -> tuple[str, ...]:
        """Return the buffers that say which entries there are."""
        return ("entry_of_feature", *(f"competition.{name}" for name in self.competition.shared))

    @torch.no_grad()
    def statistic(
        self,
        x: Tensor,
        sample_weight: Tensor | None = None,
        *,
        network: nn.Module | None = None,
    ) -> Tensor:
        """Return the mean hidden code of the rows, in float64.

        It needs few numbers and no second pass, averages over chunks and machines exactly, and
        the logits of the whole data follow from it (`importance`).
        """
        rows, row_weight = self.layout.rows(x, sample_weight)
        if not self.attenuation:
            return weighted_mean(self._row_scores(self.transformation(rows)), row_weight)
        return weighted_mean(self._code(rows), row_weight)

    @torch.no_grad()
    def importance(self, statistic: Tensor | None) -> Importance:
        """Return the logits as scores, the mask as shares.

        With rounds an entry's score is the number of rounds it was in for, and a part in (0, 1]
        for its place in its round; of the narrowing mask it is its mean gate over training.
        """
        if statistic is None:
            raise InputError("importance needs the statistic of the training rows; got None.")
        return self.competition.importance(self._logits_of(statistic.to(self.running_code.dtype)))

    @torch.no_grad()
    def freeze(self, statistic: Tensor | None) -> None:
        """Store the mask that belongs to a statistic; evaluation mode uses it from then on."""
        if statistic is None:
            raise InputError("freeze needs the statistic of the training rows; got None.")
        self.stored_logits.copy_(self._logits_of(statistic.to(self.running_code.dtype)))
        self.is_frozen.fill_(True)
        self._frozen = True

    def freeze_from(self, loader: Iterable[Any]) -> Tensor:
        """Stream a loader of batches, store the mask of all its rows, return the statistic.

        A batch may be a tensor, or a tuple or list whose first item is the input. With a process
        group every rank calls it with its own rows, and all store the same mask.
        """
        device = self.running_code.device
        total = torch.zeros(self.running_code.numel(), dtype=torch.float64, device=device)
        n_rows = torch.zeros((), dtype=torch.float64, device=device)
        was_training = self.transformation.training
        self.transformation.eval()
        try:
            for batch in loader:
                x = batch[0] if isinstance(batch, tuple | list) else batch
                rows = x.numel() // self.layout.size
                total += self.statistic(x.to(device)) * rows
                n_rows += rows
        finally:
            self.transformation.train(was_training)
        if self.process_group is not None:
            dist.all_reduce(total, group=self.process_group)
            dist.all_reduce(n_rows, group=self.process_group)
        if n_rows == 0:
            raise InputError("freeze_from needs at least one batch; the loader gave none.")
        statistic = total / n_rows
        self.freeze(statistic)
        return statistic

    def no_decay_parameters(self) -> list[nn.Parameter]:
        """Return the parameters that weight decay should leave alone: all of the gate's."""
        return list(self.parameters())

    # ---- state -----------------------------------------------------------------------------

    def _load_from_state_dict(self, *args: Any, **kwargs: Any) -> None:
        super()._load_from_state_dict(*args, **kwargs)
        self._frozen = bool(self.is_frozen)
        self._tracked = bool(self.running_steps)

    def extra_repr(self) -> str:
        """Return what `repr` shows."""
        return f"{self.layout}, n_entries={self.n_entries}, scale={self.scale:g}"


def _full_precision(x: Tensor) -> AbstractContextManager[Any]:
    """Return a block without autocast, where there is any."""
    return torch.autocast(x.device.type, enabled=False) if is_cast(x) else nullcontext()


def _wide(code: Tensor) -> Tensor:
    """Return codes that autocast made short in the precision of the parameters."""
    return code.float() if is_cast(code) else code


def _check_narrowing(scale: Any, takes: Any, attenuation: bool, normalization: bool) -> None:
    if scale != "sum" or takes is not None or not (attenuation and normalization):
        raise InputError(
            "narrowing=True has a budget in place of scale and takes, and needs attenuation and "
            f"normalization; got {scale=}, {takes=}, {attenuation=}, {normalization=}."
        )


def _scale_factor(scale: Literal["sum", "mean"] | float, n_entries: int) -> float:
    if scale == "sum":
        return 1.0
    if scale == "mean":
        return float(n_entries)
    if (
        isinstance(scale, bool)
        or not isinstance(scale, int | float)
        or not 0 < scale < float("inf")
    ):
        raise InputError(f'scale must be "sum", "mean" or a positive number; got {scale!r}.')
    return float(scale)
