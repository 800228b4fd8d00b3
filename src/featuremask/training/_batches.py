"""The standardized batches of each epoch: of one source, or of each member of several."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from featuremask.networks import MemberDraws, Standardize
from featuremask.sources import Batch, Source, batch_edges
from featuremask.training._options import TrainingOptions

__all__ = [
    "Batches",
    "MemberBatches",
    "SourceBatches",
    "as_taken",
    "n_batches",
    "standardized",
    "work_dtype",
]


class Batches(ABC):
    """What an epoch of training visits."""

    n_batches: int

    @abstractmethod
    def epoch(self, epoch: int) -> Iterator[Batch]:
        """Yield the batches of an epoch."""


def n_batches(n_rows: int, options: TrainingOptions) -> int:
    """Return how many batches an epoch has."""
    return len(batch_edges(n_rows, options.batch_size)) - 1


class SourceBatches(Batches):
    """The batches of a source; kept where one batch is the whole data."""

    def __init__(
        self, source: Source, options: TrainingOptions, standardize: Standardize | None
    ) -> None:
        self._source = source
        self._options = options
        self._standardize = standardize
        self._whole: Batch | None = None
        self.n_batches = n_batches(source.n_rows, options)

    def epoch(self, epoch: int) -> Iterator[Batch]:
        """Yield the batches of an epoch."""
        if self._whole is not None:
            yield self._whole
            return
        for batch in self.raw(epoch):
            batch = standardized(batch, self._standardize)
            if self.n_batches == 1:
                self._whole = batch
            yield batch

    def raw(self, epoch: int) -> Iterator[Batch]:
        """Yield the batches of an epoch, not standardized."""
        options = self._options
        yield from self._source.batches(
            options.batch_size,
            seed=options.seed,
            epoch=epoch,
            device=options.device,
            dtype=work_dtype(options, self._standardize),
        )


class MemberBatches(Batches):
    """The batches of several sources, stacked: each member's rows in its own order.

    Where one member has fewer rows in a batch than another, rows of weight zero fill it up.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        options: Sequence[TrainingOptions],
        standardize: Sequence[Standardize | None],
        draws: MemberDraws,
    ) -> None:
        parts = zip(sources, options, standardize, strict=True)
        self._parts = [SourceBatches(*part) for part in parts]
        self._standardize = standardize
        self._options = options[0]
        self._draws = draws
        self._memory: Tensor | None = None
        self._whole: Batch | None = None
        self.n_batches = self._parts[0].n_batches

    def epoch(self, epoch: int) -> Iterator[Batch]:
        """Yield the batches of an epoch."""
        if self._whole is not None:
            yield self._whole
            return
        for batches in zip(*(part.raw(epoch) for part in self._parts), strict=True):
            batch = self._stacked(batches)
            if self.n_batches == 1:
                self._whole = batch
            yield batch

    def _stacked(self, batches: tuple[Batch, ...]) -> Batch:
        self._draws.rows = sizes = [batch.x.shape[0] for batch in batches]
        most = max(sizes)
        x = self._room(len(batches), most, batches[0].x.shape[1])
        for into, batch, standardize in zip(x, batches, self._standardize, strict=True):
            _write(batch.x, standardize, into[: batch.x.shape[0]])
        weights = [batch.sample_weight for batch in batches]
        if min(sizes) < most or any(weight is not None for weight in weights):
            for into, size in zip(x, sizes, strict=True):
                into[size:] = 0.0
            weight = torch.stack([_filled(_weight(batch, x), most) for batch in batches])
        else:
            weight = None
        targets = [batch.target for batch in batches if batch.target is not None]
        target = torch.stack([_filled(each, most) for each in targets]) if targets else None
        return Batch(x, target, weight)

    def _room(self, n_members: int, n_rows: int, n_columns: int) -> Tensor:
        """Return memory for stacked rows: the same again, unless they are more than before."""
        if self._memory is None or self._memory.shape[1] < n_rows:
            shape, options = (n_members, n_rows, n_columns), self._options
            self._memory = torch.empty(shape, dtype=options.dtype, device=options.device)
        return self._memory[:, :n_rows]


def _write(x: Tensor, standardize: Standardize | None, into: Tensor) -> None:
    if standardize is not None and standardize.work_dtype == into.dtype:
        torch.addcmul(standardize.shift, x, standardize.inverse, out=into)
    else:
        into.copy_(x if standardize is None else standardize.apply_(x))


def _weight(batch: Batch, x: Tensor) -> Tensor:
    if batch.sample_weight is None:
        return x.new_ones(batch.x.shape[0])
    return batch.sample_weight.to(x.dtype)


def _filled(values: Tensor, n: int) -> Tensor:
    if values.shape[0] == n:
        return values
    return torch.cat([values, values.new_zeros(n - values.shape[0], *values.shape[1:])])


def as_taken(
    source: Source, takes_sparse: bool, options: TrainingOptions, standardize: Standardize | None
) -> Source:
    """Return the source, in sparse batches if it has them and they are taken.

    Columns that lie far from zero need float64 before they are centered, and so dense rows.
    """
    if not takes_sparse or work_dtype(options, standardize) != options.dtype:
        return source
    return source.sparsely() or source


def work_dtype(options: TrainingOptions, standardize: Standardize | None) -> torch.dtype:
    """Return the precision in which rows should come."""
    return options.dtype if standardize is None else standardize.work_dtype


def standardized(batch: Batch, standardize: Standardize | None) -> Batch:
    """Return a batch whose rows are standardized in place."""
    if standardize is None:
        return batch
    weight = batch.sample_weight
    x = standardize.apply_(batch.x)
    return Batch(x, batch.target, None if weight is None else weight.to(x.dtype))
