"""featuremask: feature selection with neural networks.

Public names are loaded when first used, so that importing the package imports no PyTorch.
"""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "FeatureMask": "featuremask.gates",
    "FeatureMaskSelector": "featuremask.selectors",
    "GatedNetwork": "featuremask.networks",
    "AFSSelector": "featuremask.selectors",
    "AllFeaturesSelector": "featuremask.selectors",
    "BSFSelector": "featuremask.selectors",
    "CancelOutSelector": "featuremask.selectors",
    "ConcreteSelector": "featuremask.selectors",
    "DFSSelector": "featuremask.selectors",
    "FSDNNSelector": "featuremask.selectors",
    "RandomSelector": "featuremask.selectors",
    "SANDSelector": "featuremask.selectors",
    "SequentialAttentionSelector": "featuremask.selectors",
    "StabilitySelection": "featuremask.selectors",
    "fit_together": "featuremask.selectors",
    "load": "featuremask.selectors",
}

__all__ = [
    "AFSSelector",
    "AllFeaturesSelector",
    "BSFSelector",
    "CancelOutSelector",
    "ConcreteSelector",
    "DFSSelector",
    "FSDNNSelector",
    "FeatureMask",
    "FeatureMaskSelector",
    "GatedNetwork",
    "RandomSelector",
    "SANDSelector",
    "SequentialAttentionSelector",
    "StabilitySelection",
    "__version__",
    "fit_together",
    "load",
]

if TYPE_CHECKING:
    from featuremask.gates import FeatureMask
    from featuremask.networks import GatedNetwork
    from featuremask.selectors import (
        AFSSelector,
        AllFeaturesSelector,
        BSFSelector,
        CancelOutSelector,
        ConcreteSelector,
        DFSSelector,
        FeatureMaskSelector,
        FSDNNSelector,
        RandomSelector,
        SANDSelector,
        SequentialAttentionSelector,
        StabilitySelection,
        fit_together,
        load,
    )


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'featuremask' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
