"""Gates: what stands between the data and the learning network, one file a method."""

from featuremask.gates._afs import AFSGate
from featuremask.gates._base import Gate, Importance, MaskGate
from featuremask.gates._binary_stochastic import BSFGate
from featuremask.gates._bounds import AllFeaturesGate, RandomGate
from featuremask.gates._cancel_out import CancelOutGate
from featuremask.gates._concrete import ConcreteGate
from featuremask.gates._deep_feature_selection import DFSGate
from featuremask.gates._feature_mask import FeatureMask
from featuremask.gates._first_dense import first_dense, has_hooks
from featuremask.gates._large import masked_linear
from featuremask.gates._noise_distortion import SANDGate
from featuremask.gates._potentials import FSDNNGate
from featuremask.gates._rounds import geometric_takes
from featuremask.gates._seeded import MemberDraws, Seeded
from featuremask.gates._sequential_attention import SequentialAttentionGate
from featuremask.gates._transformation import DenseTransformation, TwoStage

__all__ = [
    "AFSGate",
    "AllFeaturesGate",
    "BSFGate",
    "CancelOutGate",
    "ConcreteGate",
    "DFSGate",
    "DenseTransformation",
    "FSDNNGate",
    "FeatureMask",
    "Gate",
    "Importance",
    "MaskGate",
    "MemberDraws",
    "RandomGate",
    "SANDGate",
    "Seeded",
    "SequentialAttentionGate",
    "TwoStage",
    "first_dense",
    "geometric_takes",
    "has_hooks",
    "masked_linear",
]
