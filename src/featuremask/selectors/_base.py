"""The scikit-learn face that all methods share."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted
from torch import nn

from featuremask.exceptions import InputError
from featuremask.gates import Gate
from featuremask.selectors._callbacks import CallbackSupportMixin, with_callbacks
from featuremask.selectors._data import Rows, checked_rows
from featuremask.selectors._fitting import Fitted, fit_rows
from featuremask.selectors._how_many import selection_curve
from featuremask.selectors._html import fitted_html
from featuremask.selectors._partial import PartialFit, fit_portion
from featuremask.selectors._ranked import RankedColumns
from featuremask.selectors._ranking import AUTO, count_to_select
from featuremask.selectors._rules import Budget
from featuremask.selectors._specs import GateSpec
from featuremask.selectors._target import named_classes
from featuremask.selectors._words import check_words
from featuremask.training import Callback, Checkpoint

__all__ = ["BaseSelector"]

_DTYPES = {
    "auto": torch.float32,
    "float32": torch.float32,
    "float64": torch.float64,
    "bfloat16": torch.float32,
}


@dataclass(eq=False, repr=False)
class BaseSelector(CallbackSupportMixin, RankedColumns, BaseEstimator):
    """Base of all selectors. Think twice before adding anything to this class.

    The constructor words are fields, so that each selector has one explicit signature and its
    constructor only stores. A method adds its own words and says how its gate is made.
    """

    n_features_to_select: int | float | Literal["auto"] | None = None
    _: KW_ONLY
    objective: Literal["auto", "classification", "regression", "reconstruction"] = "auto"
    loss: str | Callable[..., Any] | None = None
    network: nn.Module | Callable[[int, int], nn.Module] | None = None
    hidden_units: tuple[int, ...] = (128, 64)
    dropout: float | Literal["auto"] = "auto"
    max_epochs: int | Literal["auto"] = "auto"
    max_seconds: float | None = None
    batch_size: int | Literal["auto"] = "auto"
    learning_rate: float = 1e-3
    standardize: Literal["auto", "global", "shrunk", "column", "none"] = "auto"
    early_stopping: bool = False
    validation_fraction: float = 0.1
    cv: Any = None
    class_weight: dict[Any, float] | Literal["balanced"] | None = None
    feature_groups: Mapping[Hashable, Iterable[Any]] | Sequence[Hashable] | None = None
    must_keep: Sequence[Any] = ()
    constant_features: Literal["last", "compete"] = "last"
    missing: Literal["error", "auto"] = "error"
    categorical: Literal["error", "auto"] = "error"
    dates: Literal["error", "auto"] = "error"
    warm_start: bool = False
    checkpoint: str | os.PathLike[str] | Checkpoint | None = None
    callbacks: Sequence[Callback] | None = None
    device: str = "auto"
    dtype: Literal["auto", "float32", "float64", "bfloat16"] = "auto"
    n_jobs: int | None = None
    random_state: Any = None
    verbose: bool | int = False

    search_space: ClassVar[Mapping[str, Sequence[Any]]] = {}
    """Values worth trying of the method's own words, for a search on held-out rows."""

    # ---- what a method says ----------------------------------------------------------------

    @abstractmethod
    def _make_gate(self, spec: GateSpec) -> Gate:
        """Return the method's gate with its initial weights."""

    def _training_extras(self) -> dict[str, Any]:
        """Return training options that the method's publication asks for."""
        return {}

    def _train(self, rows: Rows, groups: Any) -> Fitted:
        """Train on checked rows: once, unless the method says otherwise."""
        return fit_rows(self, rows, groups)

    # ---- fit -------------------------------------------------------------------------------

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Train the gate and rank the features.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features), path or source
            NumPy, PyTorch, SciPy sparse, pandas, polars or Arrow; or files that need not fit into
            memory, as a path or a `featuremask.sources` object. It is never changed.
        y : array-like of shape (n_rows,) or (n_rows, n_targets), optional
            Classes, labels or numbers; None selects without a target, by reconstruction. Of files
            the name of a column, or None for the target that the source names.
        sample_weight : array-like of shape (n_rows,), optional
            How much each row counts in the loss, the mask, the column statistics and the read-out.
        groups : array-like of shape (n_rows,), optional
            Passed on to `cv` for the validation part.

        Returns
        -------
        self
        """
        check_words(self)
        rows = checked_rows(self, X, y, sample_weight, dtype=self._torch_dtype())
        self._choose_count(X, y, sample_weight, rows)
        self._finish(self._train(rows, groups), rows)
        return self

    def _finish(self, fitted: Fitted, rows: Rows) -> None:
        """Publish what a whole fit has found."""
        self._publish(fitted, rows)
        self._partial: PartialFit | None = None

    def partial_fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, classes: Any = None
    ) -> Self:
        """Train for one pass over some rows, going on from earlier calls.

        The ranking is that of the mask over the rows of the last call. Standardization, classes,
        the scale of a numeric target and a number of features that is "auto" are those of the
        first call.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        classes : array-like, optional
            All classes there will be; needed in the first call if its `y` lacks some.

        Returns
        -------
        self
        """
        check_words(self)
        partial = getattr(self, "_partial", None)
        like = named_classes(classes, self.loss) if partial is None else partial.target
        rows = checked_rows(
            self, X, y, sample_weight, dtype=self._torch_dtype(), like=like, streamed=True
        )
        if partial is None:
            self._choose_count(X, y, sample_weight, rows)
            self._partial = partial = PartialFit.begin(self, rows)
        self._publish(fit_portion(self, rows, partial), rows)
        return self

    def _choose_count(self, X: Any, y: Any, sample_weight: Any, rows: Rows) -> None:
        self.__dict__.pop("selection_curve_", None)
        if self.n_features_to_select == AUTO:
            self.selection_curve_ = selection_curve(self, X, y, sample_weight, rows)

    def _publish(self, fitted: Fitted, rows: Rows) -> None:
        self.objective_ = rows.target.objective.kind
        self.classes_ = rows.target.classes
        self.groups_ = rows.groups
        ranking = fitted.ranking
        self.scores_ = ranking.scores
        self.feature_importances_ = ranking.shares
        self.ranking_ = ranking.ranks
        self.group_ranking_ = ranking.group_ranks
        self.history_ = fitted.history
        self.network_ = nn.Sequential(fitted.setup.standardize, fitted.setup.model).eval()
        self._encoding = rows.encoding
        self._n_rows: int | None = rows.source.n_rows
        self._words_then = self.get_params(deep=False)
        self._gate_spec = fitted.setup.gate_spec
        self._network_spec = fitted.setup.network_spec

    # ---- what was selected -----------------------------------------------------------------

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self, "ranking_")
        return np.asarray(self.group_ranking_ <= self._count(int(self.group_ranking_.max())))

    def _count(self, n_groups: int) -> int:
        """Return how many groups of columns are selected."""
        if self.n_features_to_select != AUTO:
            return count_to_select(self.n_features_to_select, n_groups)
        curve = getattr(self, "selection_curve_", None)
        if curve is None:
            raise InputError(
                f'n_features_to_select="{AUTO}" is chosen by `fit`, which has not been called with '
                "it. Call fit, or set a number."
            )
        return int(curve["k"][curve["selected"]][0])

    def selection_table(self) -> dict[str, NDArray[Any]]:
        """Return all columns, best first, as one array for each of rank, column, score, share.

        Data frame libraries take it as it is: ``pandas.DataFrame(selector.selection_table())``.
        """
        check_is_fitted(self, "ranking_")
        return self._table(score=self.scores_, share=self.feature_importances_)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted selector to one file, without pickle; see `featuremask.load`."""
        from featuremask.selectors._persistence import save_selector

        save_selector(self, path)

    def _html_repr(self) -> str:
        """Return what a notebook shows: scikit-learn's diagram and, after `fit`, the best."""
        diagram = str(estimator_html_repr(self))
        return diagram + (fitted_html(self) if hasattr(self, "ranking_") else "")

    # ---- what "auto" means -----------------------------------------------------------------

    def _standardize_rule(self, kind: str) -> str:
        """Return what is done to the columns for training.

        With a target the loss tells which columns matter, and their units should not. Without one
        the columns are the loss: blown up, rare ones would rule it.
        """
        if self.standardize != "auto":
            return self.standardize
        return "global" if kind == "reconstruction" else "column"

    def _ends_early(self) -> bool:
        """Whether training ends when the loss of the validation part no longer falls."""
        return self.early_stopping

    def _dropout_rate(self, budget: Budget, autoencodes: bool) -> float:
        if self.dropout != "auto":
            return 0.0 if budget.full_batch else float(self.dropout)
        return 0.0 if autoencodes else budget.dropout

    def _torch_dtype(self) -> torch.dtype:
        if self.dtype not in _DTYPES:
            raise InputError(f"dtype must be one of {list(_DTYPES)}; got {self.dtype!r}.")
        return _DTYPES[self.dtype]

    def _torch_device(self) -> torch.device:
        if self.device == "auto":
            return torch.device("cuda" if torch.cuda.is_available() else "cpu")
        try:
            return torch.empty(0, device=self.device).device
        except (RuntimeError, AssertionError, ImportError) as error:
            raise InputError(
                f"device={self.device!r} cannot be used by PyTorch: {error}"
            ) from error

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing == "auto"
        tags.target_tags.required = False
        tags.target_tags.multi_output = True
        return tags
