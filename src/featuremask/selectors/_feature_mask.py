"""The selector of the FM-module."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch

from featuremask.exceptions import InputError
from featuremask.gates import FeatureMask, geometric_takes
from featuremask.gates._transformation import Initialization
from featuremask.selectors._base import BaseSelector
from featuremask.selectors._rules import N_ROUNDS
from featuremask.selectors._specs import GateSpec

__all__ = ["FeatureMaskSelector"]

_STRATEGIES = ("auto", "narrowing", "joint", "sequential")

_SCALE = 3.0


@dataclass(eq=False, repr=False)
class FeatureMaskSelector(BaseSelector):
    """Select features by the FM-module, with a target or without.

    A feature mask in front of a small network is trained by the network's own loss: to tell
    classes, to predict numbers, or (without a target) to reconstruct the rows. The features are
    ranked by the mask. One training serves every number of features.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or None, default=None
        A count, a fraction in (0, 1], or None for half. "auto" is the smallest number whose loss
        on held-out rows is within one standard error of the best, see `selection_curve_`; without
        a target, or that loses at most a tenth of the variance. It costs less than two fits more.
        The number may be changed after `fit`, without a refit. Groups count as one.
    strategy : {"auto", "narrowing", "joint", "sequential"}, default="auto"
        "narrowing" begins with all features and lets fewer and fewer pass, down to one; features
        rank by how long they stay, so that those that tell something only together, or that
        nothing replaces, are found. "joint" is the paper's mask, a softmax in which all compete
        until the end. "sequential" takes the best features round by round; what is taken no
        longer competes. "auto" is "narrowing", but "joint" where `mask_scale`, `attenuation` or
        `normalization` ask for the paper's mask. `partial_fit` always trains a joint mask.
    objective : {"auto", "classification", "regression", "reconstruction"}, default="auto"
        "auto" reads the type of the target; no target means reconstruction.
    loss : str or callable, optional
        In place of the usual loss: "squared_error", "huber" or "absolute_error" for numbers, or
        a function of (output, target) that returns one value a row. Numeric targets are
        standardized before it sees them.
    network : nn.Module or callable, optional
        A learning network in place of the default one, or a function of (n_inputs, n_outputs) that
        returns one. A module is copied, not changed.
    hidden_units : tuple of int, default=(128, 64)
        Widths of the default learning network; an autoencoder mirrors them.
    dropout : float or "auto", default="auto"
        Rate before the output layer.
    mask_units : int, default=128
        Width of the mask's hidden layers.
    mask_depth : int, default=1
        Number of the mask's hidden layers.
    mask_scale : "auto", "sum", "mean" or float, default="auto"
        What the entries of a joint or sequential mask sum to: 1 ("sum", as in the paper), their
        number ("mean"), or a number; "auto" is 3. A narrowing mask has a budget in its place.
    mask_init : {"xavier", "uniform", "normal", "ones", "authors"}, default="xavier"
        Distribution of the mask's initial weights.
    attenuation, normalization : bool, default=True
        The two parts of the FM-module; False for the paper's ablation, of a joint or sequential
        mask.
    max_epochs : int or "auto", default="auto"
        Passes over the data; "auto" follows from the number of rows.
    max_seconds : float, optional
        Wall time after which training ends.
    batch_size : int or "auto", default="auto"
        Up to 256 rows every fit is full-batch, without dropout, and holds no rows back.
    learning_rate : float, default=1e-3
        Of Adam.
    standardize : {"auto", "global", "shrunk", "column", "none"}, default="auto"
        What is done to the columns for training: centered and divided by one number ("global"),
        each by its own standard deviation ("column"), or by something between ("shrunk"). "auto"
        is "column" with a target, so that units do not matter, and "global" without, where columns
        should have comparable units. Values farther than five such numbers from the mean count as
        five, but not under "none". `transform` returns columns as they are.
    early_stopping : bool, default=False
        Hold back a part of the rows and stop when its loss no longer falls. A narrowing mask goes
        through its whole schedule; the loss of that part is in `history_` all the same.
    validation_fraction : float, default=0.1
        Size of that part.
    cv : splitter, optional
        Makes that part instead, by its last split; for rows in groups or in time.
    class_weight : dict or "balanced", optional
        Weights of classes.
    feature_groups : mapping or sequence, optional
        Columns chosen or dropped as one: a mapping from a label to columns (names or positions),
        or a label for each column.
    must_keep : sequence, default=()
        Columns (names or positions) that are always selected; they count toward the number.
    constant_features : {"last", "compete"}, default="last"
        Whether columns that hold one value are left out of training and ranked last.
    missing, categorical, dates : {"error", "auto"}, default="error"
        What to do with gaps, with text and categories, with dates: raise an error, or turn them
        into numbers by the rules of `featuremask.tables.TableEncoder`. All numbers of a column are
        selected or left out as one.
    warm_start : bool, default=False
        Go on from the weights of the last fit, if it had the same columns and target.
    checkpoint : path or Checkpoint, optional
        Folder in which the state of the fit is kept; a fit that was interrupted goes on from it.
    callbacks : sequence of Callback, optional
    device : str, default="auto"
        "auto" takes a CUDA device if there is one.
    dtype : {"auto", "float32", "float64", "bfloat16"}, default="auto"
        Precision of training; "auto" is float32. "bfloat16" computes the matrix products in
        bfloat16 and all else in float32.
    n_jobs : int, optional
        Threads for training; None leaves PyTorch's setting.
    random_state : int, RandomState or None, default=None
        Seed of all randomness of the fit. None draws a new one and leaves the global random state
        as it is.
    verbose : bool, default=False
        Show progress.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Importance; higher is better. "narrowing": the share of training for which a feature was
        open, 0 to 1. "joint": the logits of the mask. "sequential": the number of rounds for which
        a feature was in, plus a part in (0, 1] for its place in its round.
    feature_importances_ : ndarray of shape (n_features,)
        The same, non-negative and with a sum of one. "joint": the mask.
    ranking_ : ndarray of shape (n_features,)
        A permutation of 1 to n_features; 1 is the best.
    support_ : ndarray of bool, shape (n_features,)
    selected_names_ : ndarray of str
    selection_curve_ : dict of arrays
        Only of a fit with "auto": numbers of features ``k``, the ``loss`` of held-out rows, its
        ``standard_error``, and which one was ``selected``. The selector is fitted to one half of
        at most 5,000 rows, the other half judges its first k features by kernel ridge regression,
        and the other way round.
    history_ : list of dict
        One record an epoch.
    network_ : nn.Module
        The trained network for whole rows, mask included.
    objective_ : str
        What was learned.
    classes_ : ndarray or None
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if `X` has column names that are all strings.

    See Also
    --------
    featuremask.FeatureMask : The FM-module as a layer.

    References
    ----------
    Y. Liao, R. Latty, B. Yang, "Feature Selection Using Batch-Wise Attenuation and Feature Mask
    Normalization", IJCNN 2021.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from featuremask import FeatureMaskSelector
    >>> X, y = load_digits(return_X_y=True)
    >>> selector = FeatureMaskSelector(10, random_state=0).fit(X, y)
    >>> selector.transform(X).shape
    (1797, 10)
    """

    strategy: Literal["auto", "narrowing", "joint", "sequential"] = "auto"
    mask_units: int = 128
    mask_depth: int = 1
    mask_scale: Literal["auto", "sum", "mean"] | float = "auto"
    mask_init: Initialization = "xavier"
    attenuation: bool = True
    normalization: bool = True

    def _make_gate(self, spec: GateSpec) -> FeatureMask:
        strategy = "joint" if spec.streamed else self._strategy()
        n_entries = spec.n_features if spec.groups is None else max(spec.groups) + 1
        return FeatureMask(
            spec.n_features,
            mask_units=self.mask_units,
            depth=self.mask_depth,
            init=self.mask_init,
            attenuation=self.attenuation,
            normalization=self.normalization,
            scale=self._scale(strategy),
            feature_groups=spec.groups,
            must_keep=spec.kept,
            takes=geometric_takes(n_entries, N_ROUNDS) if strategy == "sequential" else None,
            narrowing=strategy == "narrowing",
            generator=spec.generator(),
            dtype=torch.float32,
        )

    def _strategy(self) -> str:
        if self.strategy not in _STRATEGIES:
            raise InputError(f"strategy must be one of {_STRATEGIES}; got {self.strategy!r}.")
        if self.strategy != "auto":
            return self.strategy
        plain = self.mask_scale == "auto" and self.attenuation and self.normalization
        return "narrowing" if plain else "joint"

    def _scale(self, strategy: str) -> Literal["sum", "mean"] | float:
        if self.mask_scale != "auto":
            return self.mask_scale
        return "sum" if strategy == "narrowing" else _SCALE

    def _ends_early(self) -> bool:
        return super()._ends_early() and self._strategy() != "narrowing"
