"""Evaluation: what chosen columns are worth, and how steady a choice is."""

from featuremask.evaluation._classifiers import CLASSIFIERS, Classifier
from featuremask.evaluation._evaluate import Evaluation, evaluate, k_curve, top_columns
from featuremask.evaluation._redundancy import alike, like_groups, like_order
from featuremask.evaluation._stability import (
    expected_errors,
    jaccard,
    kuncheva,
    mean_pairwise,
    nogueira,
    nogueira_interval,
)

__all__ = [
    "CLASSIFIERS",
    "Classifier",
    "Evaluation",
    "alike",
    "evaluate",
    "expected_errors",
    "jaccard",
    "k_curve",
    "kuncheva",
    "like_groups",
    "like_order",
    "mean_pairwise",
    "nogueira",
    "nogueira_interval",
    "top_columns",
]
