"""Datasets: public ones, small built-in ones, your own, and planted ones.

`load` gives any of them by name, with a fixed split into training and test rows. Files are looked
for in the folder named by the environment variable ``FEATUREMASK_DATA``, then in the user's cache,
and else downloaded over https and compared with their SHA-256.
"""

from featuremask.datasets._dataset import Dataset, Matrix
from featuremask.datasets._describe import describe_all
from featuremask.datasets._errors import DatasetError
from featuremask.datasets._fetchers import (
    fetch_coil20,
    fetch_fashion_mnist,
    fetch_isolet,
    fetch_mnist,
    fetch_pcmac,
)
from featuremask.datasets._load import available, fetch, load, where
from featuremask.datasets._mat import read_mat_arrays
from featuremask.datasets._npz import NpzArchive
from featuremask.datasets._planted_table import PlantedTable, make_planted_table
from featuremask.datasets._registry import register, unregister
from featuremask.datasets._synthetic import Planted, make_planted

__all__ = [
    "Dataset",
    "DatasetError",
    "Matrix",
    "NpzArchive",
    "Planted",
    "PlantedTable",
    "available",
    "describe_all",
    "fetch",
    "fetch_coil20",
    "fetch_fashion_mnist",
    "fetch_isolet",
    "fetch_mnist",
    "fetch_pcmac",
    "load",
    "make_planted",
    "make_planted_table",
    "read_mat_arrays",
    "register",
    "unregister",
    "where",
]
