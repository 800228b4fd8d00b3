"""What is measured of a fit besides accuracies: redundancy, pictures in the plane, the data."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from featuremask.evaluation import top_columns
from featuremask.experiments._bench import Selected, SkippedError
from featuremask.experiments._packing import pack_integers
from featuremask.experiments._plan import MeasureRun
from featuremask.experiments._prepare import Prepared
from featuremask.plot._plane import plane_model

__all__ = ["embedding", "overview", "redundancy"]

_RARE = 0.001
_FIT_ROWS = 20_000
_SHOWN_ROWS = 5_000
_JUDGED_ROWS = 2_000
_NEIGHBORS = 15
_GRID = 65_535
_EXAMPLES = 10


def redundancy(data: Prepared, selected: Selected, run: MeasureRun) -> dict[str, Any]:
    """Return what the chosen columns have in common, on the training rows.

    Keys: ``constant``, the share that hold one value; ``rare``, the share that differ from zero in
    fewer than one row of a thousand; ``correlation``, the mean absolute correlation of pairs;
    ``n_columns``.
    """
    columns = _columns(selected, run)
    rows = data.X_train[:, columns].astype(np.float64)
    spread = rows.std(axis=0)
    live = rows[:, spread > 0.0]
    return {
        "constant": float(np.mean(spread == 0.0)),
        "rare": float(np.mean((rows != 0.0).mean(axis=0) < _RARE)),
        "correlation": _mean_correlation(live),
        "n_columns": len(columns),
    }


def _mean_correlation(rows: NDArray[np.float64]) -> float:
    n = rows.shape[1]
    if n < 2:
        return 0.0
    correlation = np.abs(np.corrcoef(rows, rowvar=False))
    return float((correlation.sum() - n) / (n * (n - 1)))


def embedding(data: Prepared, selected: Selected, run: MeasureRun) -> dict[str, Any]:
    """Return the test rows in the plane, by the chosen columns, and how good the picture is.

    UMAP where umap-learn is installed, else principal components; ``by`` says which. It learns from
    a sample of the training rows and shows a sample of the test rows. Keys: ``x`` and ``y``
    (packed, 0 to 65,535), ``classes`` (packed), ``neighbors``, the accuracy of the five nearest
    training rows in the plane, and ``trustworthiness``, how far neighbors in the plane are
    neighbors in all columns of the data.
    """
    columns = _columns(selected, run)
    draw = np.random.default_rng(run.seed)
    fitted = _sample(draw, len(data.X_train), _FIT_ROWS)
    shown = _sample(draw, len(data.X_test), _SHOWN_ROWS)
    with threadpool_limits(run.threads):  # and back, whatever importing UMAP does to them
        by, at_train, at_test = _in_plane(
            data.X_train[fitted][:, columns], data.X_test[shown][:, columns], run
        )
    return {
        "by": by,
        "x": pack_integers(_on_grid(at_test[:, 0])),
        "y": pack_integers(_on_grid(at_test[:, 1])),
        "classes": pack_integers(data.y_test[shown]),
        "neighbors": _neighbor_accuracy(
            at_train, data.y_train[fitted], at_test, data.y_test[shown]
        ),
        "trustworthiness": _trust(data.X_test[shown], at_test),
    }


def _in_plane(
    train: NDArray[np.float32], test: NDArray[np.float32], run: MeasureRun
) -> tuple[str, NDArray[np.float64], NDArray[np.float64]]:
    name, model = plane_model(run.seed, _NEIGHBORS)
    at_train = model.fit_transform(train)
    return name, np.asarray(at_train, float), np.asarray(model.transform(test), float)


def _neighbor_accuracy(
    train: NDArray[np.float64],
    y_train: NDArray[Any],
    test: NDArray[np.float64],
    y_test: NDArray[Any],
) -> float:
    from sklearn.neighbors import KNeighborsClassifier

    return float(KNeighborsClassifier(5).fit(train, y_train).score(test, y_test))


def _trust(rows: NDArray[np.float32], at: NDArray[np.float64]) -> float:
    from sklearn.manifold import trustworthiness

    n = min(len(rows), _JUDGED_ROWS)
    neighbors = min(_NEIGHBORS, n // 2 - 1)
    return float(trustworthiness(rows[:n], at[:n], n_neighbors=neighbors))


def _on_grid(values: NDArray[np.float64]) -> NDArray[np.float64]:
    low, high = float(values.min()), float(values.max())
    return np.asarray(np.rint((values - low) / max(high - low, 1e-12) * _GRID))


def overview(data: Prepared, selected: Selected, run: MeasureRun) -> dict[str, Any]:
    """Return the sizes of the data and, where rows are images, one example of each class.

    Keys: those of ``Dataset.summary``, ``constant`` and ``rare``, the numbers of such columns, and
    for images ``image_shape``, ``image_order`` and ``examples`` (upright, packed, 0 to 255).
    """
    if data.raw is None:
        raise SkippedError("these data have no description")
    spread = data.X_train.max(axis=0) - data.X_train.min(axis=0)
    seldom = (data.X_train != 0.0).mean(axis=0) < _RARE
    result: dict[str, Any] = {
        **data.raw.summary(),
        "constant": int((spread == 0.0).sum()),
        "rare": int(seldom.sum()),
    }
    if data.raw.image_shape is not None:
        result["image_shape"] = list(data.raw.image_shape)
        result["image_order"] = data.raw.image_order
        result["examples"] = _examples(data)
    return result


def _examples(data: Prepared) -> str:
    """Return the first test row of each of the first ten classes, upright, packed."""
    classes = np.unique(data.y_test)[:_EXAMPLES]
    rows = np.stack([data.X_test[np.flatnonzero(data.y_test == c)[0]] for c in classes])
    largest = float(data.X_train.max())
    return pack_integers(np.rint(data.raw.as_images(rows) / largest * 255).ravel(), "u1")


def _columns(selected: Selected, run: MeasureRun) -> NDArray[np.intp]:
    n_features = len(selected.ranks)
    k = n_features if run.k is None else run.k
    if k > n_features:
        raise SkippedError(f"k = {k} is more than the {n_features} features of the data")
    return top_columns(selected.ranks_by(run.rank_by), k, selected.n_distinct)


def _sample(draw: np.random.Generator, n: int, most: int) -> NDArray[np.int64]:
    return np.sort(draw.permutation(n)[:most])
