"""Objectives: the target and the loss that a learning network is trained on."""

from featuremask.objectives._base import (
    BinaryLabels,
    Classes,
    Loss,
    Objective,
    OfMembers,
    Reconstruction,
    Regression,
    loss_function,
)

__all__ = [
    "BinaryLabels",
    "Classes",
    "Loss",
    "Objective",
    "OfMembers",
    "Reconstruction",
    "Regression",
    "loss_function",
]
