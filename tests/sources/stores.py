"""Files to read rows from."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from featuremask.sources import NpySource, ParquetSource, Stored

VALUES = np.random.default_rng(0).normal(size=(103, 6)).astype(np.float32)
LABELS = np.random.default_rng(1).integers(0, 3, size=103)


def table(x: np.ndarray = VALUES, **more: Any) -> pa.Table:
    return pa.table({**{f"c{i}": column for i, column in enumerate(x.T)}, **more})


def write(path: Path, x: np.ndarray = VALUES, group: int = 10, **more: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table(x, **more), path, row_group_size=group)
    return path


def one_file(folder: Path, **words: Any) -> Stored:
    return ParquetSource(write(folder / "rows.parquet"), **words)


def npy(folder: Path, **words: Any) -> Stored:
    np.save(folder / "rows.npy", VALUES)
    return NpySource(folder / "rows.npy", **words)


def in_folder(folder: Path, **words: Any) -> Stored:
    for i, part in enumerate(np.array_split(VALUES, 4)):
        write(folder / "lots" / f"{i}.parquet", part, group=7)
    return ParquetSource(folder / "lots", **words)


def by_pattern(folder: Path, **words: Any) -> Stored:
    in_folder(folder)
    return ParquetSource(str(folder / "l*s" / "*.parquet"), **words)


STORES: dict[str, Callable[..., Stored]] = {
    "one Parquet file": one_file,
    "a folder": in_folder,
    "a pattern": by_pattern,
    "a .npy file": npy,
}
