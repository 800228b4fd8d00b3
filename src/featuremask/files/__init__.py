"""The user's own files: tables and matrices in, fewer columns out."""

from featuremask.files._data import Data, Picks, matching, numbered
from featuremask.files._formats import format_of, read_files, reduce_files

__all__ = ["Data", "Picks", "format_of", "matching", "numbered", "read_files", "reduce_files"]
