"""Some columns of stored rows, written to a Parquet file."""

from collections.abc import Sequence
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from featuremask._extras import needed
from featuremask.sources._stored import Stored

__all__ = ["write_parquet"]


def write_parquet(
    stored: Stored, columns: NDArray[np.int64], beside: Sequence[str], file: BinaryIO
) -> int:
    """Write some features behind other columns, reading no others; types stay as they are.

    Rows go through memory a few megabytes at a time.

    Parameters
    ----------
    stored : Stored
    columns : ndarray of int
        Places of features.
    beside : sequence of str
        Names of columns of any type, which are written first.
    file : binary file

    Returns
    -------
    int
        Number of rows.
    """
    schema = stored.schema(columns, beside)
    with needed("pyarrow.parquet", "io").ParquetWriter(file, schema) as writer:
        for block in range(len(stored.block_rows)):
            for table in stored.tables(block, schema):
                writer.write_table(table)
    return stored.shape[0]
