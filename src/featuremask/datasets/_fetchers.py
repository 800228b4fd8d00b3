"""One function a public dataset, in the style of `sklearn.datasets`."""

import importlib.util
from typing import TYPE_CHECKING, Any, Literal

from featuremask.datasets._dataset import Dataset
from featuremask.datasets._load import load
from featuremask.exceptions import MissingExtraError

if TYPE_CHECKING:
    from sklearn.utils import Bunch

__all__ = ["fetch_coil20", "fetch_fashion_mnist", "fetch_isolet", "fetch_mnist", "fetch_pcmac"]

_FRAME_LIBRARIES: tuple[Literal["pandas", "polars", "pyarrow"], ...] = (
    "pandas",
    "polars",
    "pyarrow",
)


def fetch_mnist(
    *, return_X_y: bool = False, as_frame: bool = False, download_if_missing: bool = True
) -> "Bunch | tuple[Any, Any]":
    """Load MNIST: 70000 handwritten digits of 28 x 28 pixels.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` only.
    as_frame : bool, default=False
        Whether to return data frames of pandas, polars or pyarrow, the first that is installed.
    download_if_missing : bool, default=True
        Whether files that are not here may be downloaded.

    Returns
    -------
    Bunch or tuple
        ``data``, ``target``, ``frame``, ``feature_names``, ``target_names``, ``train_index``,
        ``test_index`` (the official split) and ``DESCR``; or ``(data, target)``.
    """
    dataset = load("mnist", download_if_missing=download_if_missing)
    return _present(dataset, return_X_y, as_frame)


def fetch_fashion_mnist(
    *, return_X_y: bool = False, as_frame: bool = False, download_if_missing: bool = True
) -> "Bunch | tuple[Any, Any]":
    """Load Fashion-MNIST: 70000 articles of clothing of 28 x 28 pixels.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` only.
    as_frame : bool, default=False
        Whether to return data frames of pandas, polars or pyarrow, the first that is installed.
    download_if_missing : bool, default=True
        Whether files that are not here may be downloaded.

    Returns
    -------
    Bunch or tuple
        ``data``, ``target``, ``frame``, ``feature_names``, ``target_names``, ``train_index``,
        ``test_index`` (the official split) and ``DESCR``; or ``(data, target)``.
    """
    dataset = load("fashion-mnist", download_if_missing=download_if_missing)
    return _present(dataset, return_X_y, as_frame)


def fetch_coil20(
    *, return_X_y: bool = False, as_frame: bool = False, download_if_missing: bool = True
) -> "Bunch | tuple[Any, Any]":
    """Load COIL-20: 1440 views of 20 objects of 32 x 32 pixels.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` only.
    as_frame : bool, default=False
        Whether to return data frames of pandas, polars or pyarrow, the first that is installed.
    download_if_missing : bool, default=True
        Whether files that are not here may be downloaded.

    Returns
    -------
    Bunch or tuple
        ``data``, ``target``, ``frame``, ``feature_names``, ``target_names``, ``train_index``,
        ``test_index`` (the fixed split) and ``DESCR``; or ``(data, target)``.
    """
    dataset = load("coil20", download_if_missing=download_if_missing)
    return _present(dataset, return_X_y, as_frame)


def fetch_isolet(
    *, return_X_y: bool = False, as_frame: bool = False, download_if_missing: bool = True
) -> "Bunch | tuple[Any, Any]":
    """Load Isolet: 1560 spoken letters, 617 acoustic features.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` only.
    as_frame : bool, default=False
        Whether to return data frames of pandas, polars or pyarrow, the first that is installed.
    download_if_missing : bool, default=True
        Whether files that are not here may be downloaded.

    Returns
    -------
    Bunch or tuple
        ``data``, ``target``, ``frame``, ``feature_names``, ``target_names``, ``train_index``,
        ``test_index`` (the fixed split) and ``DESCR``; or ``(data, target)``.
    """
    dataset = load("isolet", download_if_missing=download_if_missing)
    return _present(dataset, return_X_y, as_frame)


def fetch_pcmac(
    *, return_X_y: bool = False, as_frame: bool = False, download_if_missing: bool = True
) -> "Bunch | tuple[Any, Any]":
    """Load PCMAC: 1943 newsgroup postings, counts of 3289 words.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` only.
    as_frame : bool, default=False
        Whether to return data frames of pandas, polars or pyarrow, the first that is installed.
    download_if_missing : bool, default=True
        Whether files that are not here may be downloaded.

    Returns
    -------
    Bunch or tuple
        ``data``, ``target``, ``frame``, ``feature_names``, ``target_names``, ``train_index``,
        ``test_index`` (the fixed split) and ``DESCR``; or ``(data, target)``.
    """
    dataset = load("pcmac", download_if_missing=download_if_missing)
    return _present(dataset, return_X_y, as_frame)


def _present(dataset: Dataset, return_X_y: bool, as_frame: bool) -> "Bunch | tuple[Any, Any]":
    """Put a dataset into the form that scikit-learn's own loaders return."""
    from sklearn.utils import Bunch

    data, target, frame = dataset.X, dataset.y, None
    if as_frame:
        data, target, frame = _frames(dataset)
    if return_X_y:
        return data, target
    return Bunch(
        data=data,
        target=target,
        frame=frame,
        feature_names=list(dataset.feature_names),
        target_names=list(dataset.target_names),
        train_index=dataset.train,
        test_index=dataset.test,
        DESCR=f"{dataset.description}\nOrigin: {dataset.origin}\nLicense: {dataset.license}",
    )


def _frames(dataset: Dataset) -> tuple[Any, Any, Any]:
    """Make the frame of the features, the series of the target, and the frame of both."""
    import narwhals as nw

    library = next((name for name in _FRAME_LIBRARIES if importlib.util.find_spec(name)), None)
    if library is None:
        raise MissingExtraError(
            "as_frame=True needs a data frame library; install one with: pip install pandas, or "
            "use as_frame=False"
        )
    schema = list(dataset.feature_names)
    data = nw.from_numpy(dataset.X, schema, backend=library)
    target = nw.new_series("target", dataset.y, backend=library)
    frame = data.with_columns(target)
    return data.to_native(), target.to_native(), frame.to_native()
