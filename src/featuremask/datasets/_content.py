"""Read a file's content, bounded in size and checked against its sum.

A sum is that of the content: a gzip file's own bytes depend on who compressed it, so the sum of
what it holds is compared.
"""

import gzip
import hashlib
import io
import zlib
from pathlib import Path

from featuremask.exceptions import FileFormatError

__all__ = ["SLACK_BYTES", "check_sha256", "describe_start", "read_verified", "verified"]

SLACK_BYTES = 1 << 16
"""How much longer than its content a gzip file may be: its own header, blocks that resist."""

_REMEDY = "delete it and get it again"

_GZIP_MAGIC = b"\x1f\x8b"
_KNOWN_STARTS = (
    (b"<!doctype", "an HTML page"),
    (b"<html", "an HTML page"),
    (b"<?xml", "an XML error page"),
    (b"<", "an HTML or XML page"),
    (b"{", "a JSON answer"),
    (b"version https://git-lfs", "a Git LFS pointer, not the file it stands for"),
)


def read_verified(path: Path, sha256: str, max_bytes: int) -> bytes:
    """Read a plain or gzip file, whatever it is called, and compare its content's SHA-256.

    Parameters
    ----------
    path : Path
        The file.
    sha256 : str
        The expected sum of the content, in hexadecimal.
    max_bytes : int
        How much content is accepted.

    Returns
    -------
    bytes
        The content, inflated, which is the expected one.
    """
    with path.open("rb") as stream:
        raw = stream.read(max_bytes + SLACK_BYTES)
    return verified(raw, sha256, max_bytes, f"{path}")


def verified(raw: bytes, sha256: str, max_bytes: int, where: str) -> bytes:
    """Inflate what was read, if it is gzip, and compare its SHA-256.

    Parameters
    ----------
    raw : bytes
        A plain or a gzip file.
    sha256 : str
        The expected sum of the content, in hexadecimal.
    max_bytes : int
        How much content is accepted. Inflating stops there, so a small file cannot fill memory.
    where : str
        The name to use in error messages.

    Returns
    -------
    bytes
        The content, inflated, which is the expected one.
    """
    content = _inflated(raw, max_bytes, where) if raw.startswith(_GZIP_MAGIC) else raw
    if len(content) > max_bytes:
        raise FileFormatError(
            f"{where} holds more than the {max_bytes} bytes that are expected; {_REMEDY}"
        )
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise FileFormatError(
            f"checksum mismatch in {where}: got {found}, expected {sha256} ({len(content)} bytes "
            f"of {max_bytes}; {describe_start(content)}); {_REMEDY}"
        )
    return content


def check_sha256(path: Path, sha256: str) -> None:
    """Compare the SHA-256 of a file of any size, as it is on disk.

    Parameters
    ----------
    path : Path
        The file.
    sha256 : str
        The expected sum, in hexadecimal.
    """
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
        stream.seek(0)
        start = stream.read(64)
    if found != sha256.lower():
        raise FileFormatError(
            f"checksum mismatch in {path}: got {found}, expected {sha256} "
            f"({describe_start(start)}); get the file again, or correct the sha256"
        )


def _inflated(raw: bytes, max_bytes: int, where: str) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(raw)) as stream:
            return stream.read(max_bytes + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FileFormatError(
            f"{where} is a gzip file that is cut off or damaged ({error}); {_REMEDY}"
        ) from error


def describe_start(content: bytes) -> str:
    """Say what a file that is not the expected one seems to be.

    Parameters
    ----------
    content : bytes
        At least the first bytes of the file.

    Returns
    -------
    str
        A phrase for an error message.

    Examples
    --------
    >>> describe_start(b"<!DOCTYPE html><title>404</title>")
    'the first bytes look like an HTML page'
    >>> describe_start(b"")
    'the file is empty'
    """
    if not content:
        return "the file is empty"
    start = content[:64].lstrip().lower()
    for prefix, kind in _KNOWN_STARTS:
        if start.startswith(prefix):
            return f"the first bytes look like {kind}"
    return f"the first bytes are {content[:8]!r}"
