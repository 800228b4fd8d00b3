"""Fetch one plain file from the first mirror that gives the right content.

Only https is spoken, also after a redirect. A file is received in memory, up to its known length,
compared with its checksum, and only then written: what is not the expected file never gets a name.
"""

import io
import time
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from featuremask._files import write_atomically
from featuremask.datasets._catalog import PublicFile
from featuremask.datasets._content import SLACK_BYTES, verified
from featuremask.datasets._errors import DatasetError
from featuremask.datasets._progress import ProgressBar
from featuremask.exceptions import FileFormatError, MissingExtraError

__all__ = ["download"]

_SCHEMES = ("https://",)
_ATTEMPTS = 3
_FIRST_PAUSE_S = 1.0
_TIMEOUT_S = 30


class _MirrorError(Exception):
    """A mirror gives no file or a wrong one; the next mirror may do better."""


class _Bounded(io.BytesIO):
    """Bytes in memory that refuse to become more than a limit."""

    def __init__(self, limit: int) -> None:
        super().__init__()
        self._left = limit

    def write(self, chunk: Any, /) -> int:
        self._left -= memoryview(chunk).nbytes
        if self._left < 0:
            raise _MirrorError("it sends more bytes than the file has")
        return super().write(chunk)


def download(file: PublicFile, destination: Path, mirrors: tuple[str, ...]) -> Path:
    """Fetch a file, check it, and put it in its place.

    Parameters
    ----------
    file : PublicFile
        The file's name, length and checksum.
    destination : Path
        Where it goes. The folder is made if need be.
    mirrors : tuple of str
        Addresses of folders that hold the file, tried in this order. Each is tried again after a
        pause, but only when the network failed.

    Returns
    -------
    Path
        `destination`.
    """
    _import_pooch()
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        content = _from_any_mirror(file, mirrors, destination)
        write_atomically(destination, content)
    except DatasetError:
        raise
    except OSError as error:
        raise DatasetError(
            f"{destination} cannot be written ({error}); make room, or set FEATUREMASK_CACHE to "
            f"a folder that can be written"
        ) from error
    return destination


def _from_any_mirror(file: PublicFile, mirrors: tuple[str, ...], destination: Path) -> bytes:
    failures = []
    for mirror in mirrors:
        url = mirror + file.name
        try:
            received = _transfer_patiently(url, file)
            verified(received, file.sha256, file.size, "the answer")
        except (_MirrorError, FileFormatError) as error:
            failures.append(f"  {url}: {error}")
        else:
            return received
    raise DatasetError(
        f"{file.name} could not be downloaded from any of {len(mirrors)} mirrors:\n"
        + "\n".join(failures)
        + f"\nGet the file by other means and put it at {destination}, or below the folder named "
        f"by the environment variable FEATUREMASK_DATA as {file.path}"
    )


def _transfer_patiently(url: str, file: PublicFile) -> bytes:
    """Transfer, and again after a growing pause where the network failed."""
    for attempt in range(1, _ATTEMPTS):
        try:
            return _transfer(url, file)
        except OSError as error:
            if not _may_pass(error):
                raise _MirrorError(f"{error}") from error
            time.sleep(_FIRST_PAUSE_S * 2 ** (attempt - 1))
    try:
        return _transfer(url, file)
    except OSError as error:
        raise _MirrorError(f"{error} (attempt {_ATTEMPTS})") from error


def _transfer(url: str, file: PublicFile) -> bytes:
    """Get what an address gives into memory; no more, no unpacking."""
    _require_secure(url)
    pooch = _import_pooch()
    received = _Bounded(file.size + SLACK_BYTES)
    with ProgressBar(file.name) as bar:
        fetch = pooch.HTTPDownloader(
            progressbar=bar,
            chunk_size=1 << 16,
            timeout=_TIMEOUT_S,
            hooks={"response": _check_redirect},
        )
        fetch(url, received, None)
    return received.getvalue()


def _check_redirect(response: Any, *_args: Any, **_kwargs: Any) -> None:
    """Look at each answer before a redirect is followed."""
    if response.is_redirect:
        _require_secure(urljoin(response.url, response.headers["location"]))


def _require_secure(url: str) -> None:
    if not url.lower().startswith(_SCHEMES):
        raise _MirrorError(f"{url} is not an https address; it is not followed")


def _may_pass(error: OSError) -> bool:
    """Say whether trying again makes sense: no answer, a busy server or a broken one."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    return status is None or status == 429 or status >= 500


def _import_pooch() -> Any:
    try:
        import pooch
    except ImportError as error:
        raise MissingExtraError(
            "downloading a dataset needs pooch; install it with: "
            "pip install 'featuremask[datasets]', or put the files in place by hand"
        ) from error
    return pooch
