"""Selectors: the scikit-learn face of each method."""

import os
from functools import partial
from typing import Any

from featuremask.selectors._afs import AFSSelector
from featuremask.selectors._base import BaseSelector
from featuremask.selectors._bounds import AllFeaturesSelector, RandomSelector
from featuremask.selectors._bsf import BSFSelector
from featuremask.selectors._cancel_out import CancelOutSelector
from featuremask.selectors._concrete import ConcreteSelector
from featuremask.selectors._dfs import DFSSelector
from featuremask.selectors._feature_mask import FeatureMaskSelector
from featuremask.selectors._fsdnn import FSDNNSelector
from featuremask.selectors._noise_distortion import SANDSelector
from featuremask.selectors._persistence import load_selector, restored, restored_stability
from featuremask.selectors._sequential_attention import SequentialAttentionSelector
from featuremask.selectors._stability import StabilitySelection
from featuremask.selectors._together import fit_together
from featuremask.selectors._transform_file import transform_file

__all__ = [
    "AFSSelector",
    "AllFeaturesSelector",
    "BSFSelector",
    "BaseSelector",
    "CancelOutSelector",
    "ConcreteSelector",
    "DFSSelector",
    "FSDNNSelector",
    "FeatureMaskSelector",
    "RandomSelector",
    "SANDSelector",
    "SequentialAttentionSelector",
    "StabilitySelection",
    "fit_together",
    "load",
    "transform_file",
]


def load(path: str | os.PathLike[str]) -> Any:
    """Read a selector that was written by its method `save`.

    Nothing in the file is executed; every byte of it is checked.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    BaseSelector or StabilitySelection
        Fitted, as it was when saved. A learning network of the user's own is not in the file.
    """
    classes = {cls.__name__: cls for cls in _SELECTORS}
    known = {name: partial(restored, cls) for name, cls in classes.items()}
    stability = {StabilitySelection.__name__: partial(restored_stability, classes)}
    return load_selector(path, known | stability)


_SELECTORS: tuple[type[BaseSelector], ...] = (
    FeatureMaskSelector,
    AFSSelector,
    AllFeaturesSelector,
    BSFSelector,
    CancelOutSelector,
    ConcreteSelector,
    DFSSelector,
    FSDNNSelector,
    RandomSelector,
    SANDSelector,
    SequentialAttentionSelector,
)
