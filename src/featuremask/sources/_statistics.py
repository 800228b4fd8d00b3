"""What is known of the columns of files after one pass, and kept for the next fit."""

import hashlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from featuremask._tensorfile import digest_of, read_tensors, write_tensors
from featuremask.exceptions import FeatureMaskWarning, FileFormatError
from featuremask.sources._gaps import Gaps
from featuremask.sources._moments import Moments, chunk_rows, column_moments
from featuremask.sources._place import cache_folder
from featuremask.sources._stored import Stored
from featuremask.sources._streamed import StreamedSource
from featuremask.tables import BadValues, count_bad_values
from featuremask.tables._rules import FLOAT32_WHOLE

__all__ = [
    "Survey",
    "is_surveyed",
    "keep_survey",
    "kept_moments",
    "merged",
    "survey",
    "survey_part",
]

_KIND = "column-statistics"


@dataclass(frozen=True)
class Survey:
    """The columns of files: bad values and moments.

    Attributes
    ----------
    counts : ndarray of shape (4, n_features)
        Values that are missing, infinite, beyond the range of float32, and whole numbers that
        float32 may round.
    present : Moments
        Of the values that are there, each row counted as one.
    """

    counts: NDArray[np.int64]
    present: Moments
    n_rows: int

    @property
    def gaps(self) -> Gaps | None:
        """Where there are gaps, and the means that fill them."""
        columns = np.flatnonzero(self.counts[0])
        return Gaps(columns, self._fill[columns]) if len(columns) else None

    @property
    def _fill(self) -> NDArray[np.float64]:
        """The mean of what is there; 0 where nothing is."""
        present = self.present
        return np.asarray(present.shift + present.first / np.maximum(present.weight, 1.0))

    def bad_values(self, names: list[str] | None, *, wide: bool) -> BadValues:
        """Return the values that cannot be used; float64 takes more of them if `wide`."""

        def named(counts: NDArray[np.int64]) -> tuple[tuple[str | int, int], ...]:
            places = np.flatnonzero(counts).tolist()
            return tuple((i if names is None else names[i], int(counts[i])) for i in places)

        missing, infinite, large, rounded = (named(row) for row in self.counts)
        if wide:
            large, rounded = (), ()
        return BadValues(missing, infinite, large, rounded)

    @property
    def moments(self) -> Moments:
        """Moments of all rows, gaps filled, with the indicators of gaps as further columns."""
        gaps, present, n = self.gaps, self.present, float(self.n_rows)
        if gaps is None:
            return Moments(n, present.shift, present.first, present.second)
        missing = self.counts[0].astype(np.float64)
        nothing = np.zeros_like(missing)
        with np.errstate(all="ignore"):  # infinite values, which are counted and refused
            closed = present.merge(Moments(missing, self._fill, nothing, nothing))
        # An indicator is 1 in so many rows; one that is 1 everywhere is constant.
        share = missing[gaps.columns]
        everywhere = (share == n).astype(np.float64)
        times = np.where(everywhere, 0.0, share)
        return Moments(
            n,
            np.concatenate([closed.shift, everywhere]),
            np.concatenate([closed.first, times]),
            np.concatenate([closed.second, times]),
        )


def survey(stored: Stored) -> Survey:
    """Return what one pass over the columns tells; at once if it was kept by an earlier call."""
    sums = _kept(stored, _SURVEY, lambda: {"sums": survey_part(stored, 0, 1)})["sums"].numpy()
    return Survey(sums[:4].astype(np.int64), Moments(*sums[4:]), stored.shape[0])


def is_surveyed(stored: Stored) -> bool:
    """Whether `survey` would return at once."""
    return _found(stored, _SURVEY) is not None


def keep_survey(stored: Stored, sums: Tensor) -> None:
    """Keep merged parts as the survey of all rows."""
    _write(stored, _SURVEY, {"sums": sums})


def kept_moments(stored: Stored, source: StreamedSource, weight: Tensor) -> Moments:
    """Return the moments of weighted rows; at once if they were kept by an earlier call."""

    def compute() -> dict[str, Tensor]:
        moments = column_moments(source)
        sums = (moments.shift, moments.first, moments.second)
        return {
            "weight": torch.tensor(moments.weight, dtype=torch.float64),
            "sums": torch.from_numpy(np.stack(sums)),
        }

    found = _kept(stored, f"moments {digest_of(weight)}", compute)
    return Moments(float(found["weight"]), *found["sums"].numpy())


_SURVEY = "survey"


def survey_part(stored: Stored, number: int, n_parts: int) -> Tensor:
    """Go once through the rows of each n-th block.

    **Shape**: (8, n_features): the counts of `Survey`, then number, shift, first and second sum of
    the values that are there.
    """
    width = stored.shape[1]
    found = torch.zeros(8, width, dtype=torch.float64)
    whole = np.flatnonzero(stored.whole)
    counts = found[:4].numpy()
    source = (
        StreamedSource(stored).shard(number, n_parts) if n_parts > 1 else StreamedSource(stored)
    )
    for x, _, _ in source.chunks(
        chunk_rows(width), device=torch.device("cpu"), dtype=torch.float64
    ):
        bad = count_bad_values(x.numpy())
        for row, columns in zip(counts, (bad.missing, bad.infinite, bad.too_large), strict=False):
            for column, count in columns:
                row[int(column)] += count
        counts[3, whole] += (np.abs(x.numpy()[:, whole]) > FLOAT32_WHOLE).sum(0)
        _add(found[4:], x, bool(bad.missing))
    return found


def merged(parts: Tensor) -> Tensor:
    """Return the survey of the rows of all parts.

    **Shape**: (parts, 8, n_features) to (8, n_features).
    """
    whole = parts[0].clone()
    for part in parts[1:]:
        # Where nothing was there so far, the shift is that of the new part.
        whole[5] = torch.where(whole[4] == 0.0, part[5], whole[5])
        with np.errstate(all="ignore"):  # infinite values, which are counted and refused later
            both = Moments(*whole[4:].numpy()).merge(Moments(*part[4:].numpy()))
        whole[:4] += part[:4]
        for row, value in zip(
            whole[4:], (both.weight, both.shift, both.first, both.second), strict=True
        ):
            row.copy_(torch.as_tensor(value))
    return whole


def _add(sums: Tensor, x: Tensor, has_gaps: bool) -> None:
    """Add rows to the sums; the shift of a column is its first value that is there."""
    weight, shift, first, second = sums
    there = ~x.isnan() if has_gaps else None
    new = weight == 0.0
    if bool(new.any()):
        start = torch.zeros(x.shape[1], dtype=torch.int64)
        start = start if there is None else there.int().argmax(0)
        values = x.gather(0, start[None])[0].nan_to_num_(nan=0.0)
        shift.copy_(torch.where(new, values, shift))
    difference = x - shift
    if there is not None:
        difference.masked_fill_(~there, 0.0)
    ones = x.new_ones(len(x))
    weight += len(x) if there is None else there.sum(0)
    first += ones @ difference
    second += ones @ difference.square_()


# ---- keeping it ----------------------------------------------------------------------------


def _kept(
    stored: Stored, question: str, compute: Callable[[], dict[str, Tensor]]
) -> dict[str, Tensor]:
    """Return an answer from its file, or compute it and write the file.

    The file lies beside the data, or in the user's cache where nothing can be written there. It
    holds for the version of the data that it names.
    """
    tensors = _found(stored, question)
    if tensors is None:
        tensors = compute()
        _write(stored, question, tensors)
    return tensors


def _places(stored: Stored, question: str) -> list[Path]:
    name = hashlib.sha256(f"{stored.key} {question}".encode()).hexdigest()[:16]
    folders = (stored.folder, cache_folder())
    return [folder / f".featuremask-{name}.safetensors" for folder in folders]


def _found(stored: Stored, question: str) -> dict[str, Tensor] | None:
    for place in _places(stored, question):
        if place.is_file():
            try:
                tensors, values = read_tensors(place, _KIND)
            except (FileFormatError, OSError):
                continue  # it is written anew
            if values == {"version": stored.version}:
                return tensors
    return None


def _write(stored: Stored, question: str, tensors: dict[str, Tensor]) -> None:
    error: OSError | None = None
    for place in _places(stored, question):
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            write_tensors(place, _KIND, tensors, {"version": stored.version})
            return
        except OSError as failed:
            error = failed
    warnings.warn(
        f"The column statistics could not be kept ({error}); the next fit computes them again. "
        "Name a folder for them in the environment variable FEATUREMASK_CACHE.",
        FeatureMaskWarning,
        stacklevel=4,
    )
