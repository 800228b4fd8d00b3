"""Tensors and plain values in one file, without pickle, every byte checked.

The file is a safetensors file. Its metadata hold a JSON payload with the caller's values and the
SHA-256 of each tensor, and the SHA-256 of that payload.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor

from featuremask._files import write_atomically
from featuremask.exceptions import FileFormatError

__all__ = ["digest_of", "read_tensors", "write_tensors"]


def write_tensors(
    path: str | os.PathLike[str], kind: str, tensors: Mapping[str, Tensor], values: dict[str, Any]
) -> None:
    """Write tensors and JSON values to a file, whole or not at all.

    Parameters
    ----------
    path : path
        Where to write.
    kind : str
        What the file is; `read_tensors` asks for it.
    tensors : mapping of str to Tensor
    values : dict
        Plain values that JSON can say.
    """
    plain = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    payload = json.dumps(
        {
            "kind": kind,
            "values": values,
            "sha256": {name: digest_of(tensor) for name, tensor in plain.items()},
        },
        sort_keys=True,
    )
    metadata = {"payload": payload, "payload_sha256": _sha256(payload.encode())}
    write_atomically(path, _in_order(safetensors.torch.save(plain, metadata)))


def _in_order(data: bytes) -> bytes:
    """Return a safetensors file with its metadata sorted: the same content, the same bytes."""
    size = int.from_bytes(data[:8], "little")
    head = json.loads(data[8 : 8 + size])
    head["__metadata__"] = dict(sorted(head["__metadata__"].items()))
    text = json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # tensors begin at a multiple of eight bytes
    return len(text).to_bytes(8, "little") + text + data[8 + size :]


def read_tensors(
    path: str | os.PathLike[str], kind: str
) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read a file that `write_tensors` wrote, and check every byte of it."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {str(path)!r}.")
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            names = list(file.keys())
            payload = _payload(path, metadata, kind)
            tensors = {name: file.get_tensor(name) for name in names}
    except (safetensors.SafetensorError, RuntimeError, UnicodeDecodeError) as error:
        raise FileFormatError(
            f"{str(path)!r} is not a readable featuremask file: {error}. It may be cut off, "
            "damaged, or of another kind; write it again from the fitted object."
        ) from error
    _compare(path, tensors, payload["sha256"])
    return tensors, payload["values"]


def digest_of(tensor: Tensor) -> str:
    """Return the SHA-256 of a tensor: of its dtype, its shape and its bytes."""
    head = f"{tensor.dtype}{tuple(tensor.shape)}".encode()
    data = tensor.detach().cpu().contiguous()
    flat = data.reshape(-1).view(torch.uint8) if data.numel() else data.new_empty(0).byte()
    return _sha256(head + flat.numpy().tobytes())


def _payload(path: Path, metadata: Mapping[str, str], kind: str) -> dict[str, Any]:
    text = metadata.get("payload")
    if text is None:
        raise FileFormatError(
            f"{str(path)!r} was not written by featuremask: it has no payload. Foreign "
            "safetensors files cannot be loaded."
        )
    if _sha256(text.encode()) != metadata.get("payload_sha256"):
        raise FileFormatError(f"{str(path)!r} is damaged: the checksum of its head is wrong.")
    payload: dict[str, Any] = json.loads(text)
    if payload.get("kind") != kind:
        raise FileFormatError(
            f"{str(path)!r} holds a {payload.get('kind')!r}; a {kind!r} was asked for."
        )
    return payload


def _compare(path: Path, tensors: dict[str, Tensor], digests: dict[str, str]) -> None:
    if set(tensors) != set(digests):
        raise FileFormatError(f"{str(path)!r} is damaged: tensors are missing or were added.")
    for name, tensor in tensors.items():
        if digest_of(tensor) != digests[name]:
            raise FileFormatError(
                f"{str(path)!r} is damaged: the checksum of tensor {name!r} is wrong."
            )


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
