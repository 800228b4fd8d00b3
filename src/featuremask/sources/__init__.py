"""Sources: where rows come from, in batches."""

from featuremask.sources._array import ArraySource
from featuremask.sources._arrow import ArrowSource
from featuremask.sources._base import Batch, Source, batch_edges
from featuremask.sources._gaps import Gaps, find_gaps
from featuremask.sources._moments import Moments, column_moments
from featuremask.sources._npy import NpySource
from featuremask.sources._open import open_source
from featuremask.sources._parquet import ParquetSource
from featuremask.sources._sparse import SparseRows, as_sparse
from featuremask.sources._statistics import (
    Survey,
    is_surveyed,
    keep_survey,
    kept_moments,
    merged,
    survey,
    survey_part,
)
from featuremask.sources._stored import Stored
from featuremask.sources._streamed import StreamedSource
from featuremask.sources._write import write_parquet

__all__ = [
    "ArraySource",
    "ArrowSource",
    "Batch",
    "Gaps",
    "Moments",
    "NpySource",
    "ParquetSource",
    "Source",
    "SparseRows",
    "Stored",
    "StreamedSource",
    "Survey",
    "as_sparse",
    "batch_edges",
    "column_moments",
    "find_gaps",
    "is_surveyed",
    "keep_survey",
    "kept_moments",
    "merged",
    "open_source",
    "survey",
    "survey_part",
    "write_parquet",
]
