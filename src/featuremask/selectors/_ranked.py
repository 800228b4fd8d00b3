"""What is said of selected columns, wherever a ranking of them comes from."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from featuremask.selectors._inputs import from_torch, note_columns
from featuremask.tables import Table, TableEncoding

__all__ = ["RankedColumns"]


class RankedColumns(SelectorMixin):
    """Selected columns of a fitted estimator that has `ranking_` and `_get_support_mask`."""

    ranking_: NDArray[np.int64]
    n_features_in_: int
    _encoding: TableEncoding | None

    def transform(self, X: Any) -> Any:
        """Return the selected columns as they are.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_rows, n_features)

        Returns
        -------
        array, sparse matrix or data frame of shape (n_rows, n_selected)
            A data frame with columns that are not plain numbers stays one, of its own library.
            Of a memory map only the selected columns are looked at.
        """
        check_is_fitted(self, "ranking_")
        if self._encoding is None and isinstance(X, np.memmap) and X.ndim == 2:
            return self._transform_map(X)
        if self._encoding is None:
            return super().transform(from_torch(X))
        note_columns(self, X, reset=False)
        chosen = np.flatnonzero(self.support_).tolist()
        if isinstance(X, Table):
            return X.select([X.names[i] for i in chosen])
        return nw.from_native(X, eager_only=True)[:, chosen].to_native()

    def _transform_map(self, X: NDArray[Any]) -> Any:
        """Return the selected columns of a memory map; the others are not read."""
        note_columns(self, X, reset=False)
        gaps = self.__sklearn_tags__().input_tags.allow_nan
        return check_array(np.asarray(X[:, self.support_]), dtype=None, ensure_all_finite=not gaps)

    @property
    def support_(self) -> NDArray[np.bool_]:
        """Which columns are selected, by `ranking_` and the present `n_features_to_select`."""
        return np.asarray(self._get_support_mask())

    @property
    def selected_names_(self) -> NDArray[np.object_]:
        """Names of the selected columns, best first; "x0", "x1", ... where there are none."""
        names, order = self._names(), np.argsort(self.ranking_)
        return names[order][self.support_[order]]

    def _names(self) -> NDArray[np.object_]:
        check_is_fitted(self, "ranking_")
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            names = [f"x{i}" for i in range(self.n_features_in_)]
        return np.asarray(names, dtype=object)

    def _table(self, **values: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """Return all columns, best first, with some values of each."""
        order = np.argsort(self.ranking_)
        return {
            "rank": self.ranking_[order],
            "column": self._names()[order],
            **{name: found[order] for name, found in values.items()},
            "selected": self.support_[order],
        }
