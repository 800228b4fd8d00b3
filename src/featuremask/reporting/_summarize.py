"""From a fitted selector, and what else is known, to the summary of a report."""

import inspect
import platform
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import featuremask
from featuremask._versions import installed_version
from featuremask.evaluation import alike, like_groups
from featuremask.exceptions import InputError
from featuremask.reporting._summary import (
    Column,
    Curve,
    DataSummary,
    Note,
    RedundancyGroup,
    Setting,
    Summary,
)
from featuremask.tables import Hint

__all__ = ["software", "summarize"]

_PACKAGES = ("torch", "scikit-learn", "numpy", "scipy")
_ALIKE = 0.9
"""Magnitude of correlation from which two columns count as saying the same."""

_MOST_COMPARED = 2000
_MOST_PAIRS = 2**24
"""Chosen columns that are compared with all, and pairs, at most."""

_MOST_OTHERS = 5
_MOST_CLASSES = 8


def summarize(
    selector: Any,
    X: Any = None,
    y: Any = None,
    *,
    curve: Curve | None = None,
    stability: Sequence[float] | NDArray[Any] | None = None,
    hints: Iterable[Hint] = (),
    warnings: Iterable[str] = (),
    repeat: Iterable[str] | None = None,
    title: str = "",
) -> Summary:
    """Return what a report says of a fitted selector. Nothing is trained for it.

    Parameters
    ----------
    selector : BaseSelector
        Fitted.
    X : array-like, sparse matrix or data frame, optional
        The rows it was fitted to, for the summary of the data and, on a sample of them, for the
        columns that say the same.
    y : array-like, optional
        Their target.
    curve : Curve, optional
        Scores of a downstream model: of the best k columns, of all, of random ones.
    stability : array-like of shape (n_features,), optional
        In which share of repeated selections each column was chosen, in the order of the data.
    hints : iterable of Hint
        Of `featuremask.tables`: leakage, duplicates, row numbers, shift.
    warnings : iterable of str
        What was warned of on the way.
    repeat : iterable of str, optional
        Lines that do it again, such as a command; Python if None.
    title : str
        What the data is called.

    Returns
    -------
    Summary

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from featuremask import FeatureMaskSelector
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selector = FeatureMaskSelector(2, max_epochs=5, random_state=0).fit(X, y)
    >>> summary = summarize(selector, X, y, title="iris")
    >>> len(summary.chosen), summary.data.target
    (2, '3 classes: 0 (50 rows), 1 (50 rows), 2 (50 rows)')
    """
    from featuremask.selectors._sample import sample_rows

    columns = _columns(selector, stability)
    k = int(selector.group_ranking_[selector.support_].max())
    settings = _settings(selector)
    rows = None if X is None else sample_rows(selector, X)
    return Summary(
        title=title,
        method=type(selector).__name__,
        objective=str(selector.objective_),
        k=k,
        named=hasattr(selector, "feature_names_in_"),
        columns=columns,
        data=_data(selector, rows, y),
        curve=curve,
        redundancy=None if rows is None else _redundancy(columns, k, rows),
        notes=tuple(_notes(selector, warnings, hints, rows)),
        settings=settings,
        versions=software(),
        repeat=_python(selector, settings, y) if repeat is None else tuple(repeat),
    )


def _notes(selector: Any, warnings: Iterable[str], hints: Iterable[Hint], rows: Any) -> list[Note]:
    notes = [Note("warning", str(message)) for message in warnings]
    notes += [Note(hint.kind, hint.message, tuple(hint.columns)) for hint in hints]
    n_chosen, compared = int(selector.support_.sum()), _compared(int(selector.n_features_in_))
    if rows is not None and n_chosen > compared:
        notes.append(
            Note(
                "redundancy",
                f"Columns that say the same were looked for among the best {compared:,} of the "
                f"{n_chosen:,} chosen columns, not among all of them.",
            )
        )
    if selector.get_params(deep=False).get("random_state") is None:
        notes.append(
            Note(
                "seed",
                "random_state is None: the same fit, done again, may choose other columns. Pass an "
                "integer to be able to repeat it.",
            )
        )
    return notes


def _columns(selector: Any, stability: Any) -> tuple[Column, ...]:
    table = selector.selection_table()
    order = np.argsort(selector.ranking_)
    shares: list[float | None] = [None] * len(order)
    if stability is not None:
        given = np.asarray(stability, dtype=float)
        if given.shape != order.shape or not np.all((given >= 0.0) & (given <= 1.0)):
            raise InputError(
                f"stability holds one share from 0 to 1 for each of the {len(order)} columns; got "
                f"an array of shape {given.shape}."
            )
        shares = given[order].tolist()
    return tuple(
        Column(rank, str(name), position, place, score, share, steady)
        for rank, name, position, place, score, share, steady in zip(
            table["rank"].tolist(),
            table["column"].tolist(),
            order.tolist(),
            selector.group_ranking_[order].tolist(),
            table["score"].tolist(),
            table["share"].tolist(),
            shares,
            strict=True,
        )
    )


def _data(selector: Any, rows: Any, y: Any) -> DataSummary:
    encoding = selector._encoding
    n_columns = int(selector.n_features_in_)
    kinds: dict[str, int] = {"number": n_columns}
    left_out: tuple[tuple[str, str], ...] = ()
    if encoding is not None:
        found = list(encoding.kinds)
        kinds = {kind: found.count(kind) for kind in dict.fromkeys(found)}
        left_out = tuple((record.column, record.reason) for record in encoding.left_out)
    return DataSummary(
        n_columns=n_columns,
        n_rows=selector._n_rows if rows is None else rows.n_rows,
        n_places=int(selector.group_ranking_.max()),
        target=_target(selector, y),
        kinds=kinds,
        gaps=None if rows is None else rows.gaps,
        left_out=left_out,
    )


def _target(selector: Any, y: Any) -> str:
    """Return in words what was learned."""
    if selector.objective_ == "reconstruction":
        return "none; the columns reconstruct each other"
    values = None if y is None else np.asarray(y)
    if selector.classes_ is None:
        if values is None or values.ndim != 1 or values.dtype.kind not in "biuf":
            return "numbers"
        low, high, mean = np.min(values), np.max(values), np.mean(values)
        return f"numbers from {low:.4g} to {high:.4g}, mean {mean:.4g}"
    classes = [str(name) for name in np.asarray(selector.classes_).tolist()]
    if values is not None and values.ndim == 1:
        names, counts = np.unique(values.astype(str), return_counts=True)
        by_name = dict(zip(names.tolist(), counts.tolist(), strict=True))
        classes = [
            f"{name} ({by_name[name]:,} rows)" if name in by_name else name for name in classes
        ]
    more = len(classes) - _MOST_CLASSES
    listed = ", ".join(classes[:_MOST_CLASSES]) + (f" and {more} more" if more > 0 else "")
    return f"{len(classes)} classes: {listed}"


def _compared(n_columns: int) -> int:
    """Return how many chosen columns are compared with all."""
    return min(_MOST_COMPARED, max(1, _MOST_PAIRS // n_columns))


def _redundancy(columns: tuple[Column, ...], k: int, rows: Any) -> tuple[RedundancyGroup, ...]:
    """Return chosen columns that are much alike, and those left out that are like the best."""
    chosen = [column for column in columns if column.place <= k][: _compared(len(columns))]
    left_out = [column for column in columns if column.place > k]
    places = np.array([column.position for column in chosen])
    similarity = alike(rows.numbers, places, rows.column_of, len(columns), rows.gap_marks)
    groups = like_groups(similarity[:, places], _ALIKE)
    grouped = {member for group in groups for member in group}
    groups += [[i] for i in range(len(chosen)) if i not in grouped]
    others = np.array([column.position for column in left_out], dtype=np.int64)
    found = []
    for group in sorted(groups):
        near = similarity[group[0], others]
        like = [i for i in np.argsort(-near, kind="stable").tolist() if near[i] >= _ALIKE]
        like = like[:_MOST_OTHERS]
        if len(group) > 1 or like:
            inside = similarity[np.ix_(np.asarray(group), places[group])]
            weakest = min([float(inside.min()), *near[like].tolist()])
            names = tuple(chosen[i].name for i in group)
            found.append(RedundancyGroup(names, tuple(left_out[i].name for i in like), weakest))
    return tuple(found)


def _settings(selector: Any) -> tuple[Setting, ...]:
    defaults = inspect.signature(type(selector)).parameters
    return tuple(
        Setting(name, repr(value), repr(value) != repr(defaults[name].default))
        for name, value in selector.get_params(deep=False).items()
    )


def software() -> dict[str, str]:
    """Return the versions of the software that takes part, and the system."""
    found = {name: installed_version(name) for name in _PACKAGES}
    return {
        "featuremask": featuremask.__version__,
        "python": platform.python_version(),
        **{name: version for name, version in found.items() if version is not None},
        "system": f"{platform.system()} {platform.machine()}",
    }


def _python(selector: Any, settings: tuple[Setting, ...], y: Any) -> tuple[str, ...]:
    name = type(selector).__name__
    words = ", ".join(f"{s.name}={s.value}" for s in settings if s.changed)
    learned = "X" if selector.objective_ == "reconstruction" and y is None else "X, y"
    return (
        f"from featuremask import {name}",
        "",
        f"selector = {name}({words})",
        f"selector.fit({learned})",
    )
