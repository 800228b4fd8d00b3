"""A tensor file gives back what was written, or says that it cannot."""

import json
import pickle
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from featuremask._tensorfile import digest_of, read_tensors, write_tensors
from featuremask.exceptions import FileFormatError

TENSORS = {
    "float": torch.tensor([[1.5, -0.0], [float("inf"), 1e-41]]),
    "double": torch.tensor([1e300, -1.0], dtype=torch.float64),
    "whole": torch.arange(-2, 3),
    "yes or no": torch.tensor([True, False]),
    "one number": torch.tensor(7.0),
    "nothing": torch.empty(0, 3),
    "bytes": torch.arange(5, dtype=torch.uint8),
}
VALUES: dict[str, Any] = {"list": [1, 2.5, "ä", None, True], "dict": {"a": {"b": []}}}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    write_tensors(path, "kind", TENSORS, VALUES)
    return path


def same_bytes(a: Tensor, b: Tensor) -> bool:
    return digest_of(a) == digest_of(b)


def test_what_was_written_is_read(path: Path) -> None:
    tensors, values = read_tensors(path, "kind")
    assert values == VALUES
    assert set(tensors) == set(TENSORS)
    assert all(same_bytes(tensors[name], value) for name, value in TENSORS.items())


def test_views_and_parameters_are_written_by_their_values(tmp_path: Path) -> None:
    base = torch.arange(12.0).reshape(3, 4)
    tensors = {
        "view": base[:, ::2],
        "shared": base,
        "parameter": torch.nn.Parameter(base.clone()),
    }
    write_tensors(tmp_path / "file", "kind", tensors, {})
    read, _ = read_tensors(tmp_path / "file", "kind")
    assert all(torch.equal(read[name], tensors[name]) for name in tensors)


def test_a_digest_tells_bytes_types_and_shapes_apart() -> None:
    zeros = torch.zeros(4)
    others = [
        zeros + 1e-7,
        -zeros,
        zeros.reshape(2, 2),
        zeros.int(),
        torch.zeros(0),
        torch.zeros(0, 2),
    ]
    assert len({digest_of(tensor) for tensor in [zeros, *others]}) == 7
    assert digest_of(zeros) == digest_of(zeros.clone())


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"There is no file '.*nowhere'"):
        read_tensors(tmp_path / "nowhere", "kind")


def test_another_kind_is_refused(path: Path) -> None:
    with pytest.raises(FileFormatError, match="holds a 'kind'; a 'selector' was asked for"):
        read_tensors(path, "selector")


def test_a_foreign_safetensors_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(safetensors.torch.save({"a": torch.zeros(2)}))
    with pytest.raises(FileFormatError, match=r"was not written by featuremask.*Foreign"):
        read_tensors(tmp_path / "file", "kind")


def test_a_head_that_was_written_over_is_noticed(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content.replace(b"2.5", b"3.5"))
    with pytest.raises(FileFormatError, match="checksum of its head is wrong"):
        read_tensors(path, "kind")


def test_a_tensor_that_was_exchanged_is_named(path: Path) -> None:
    tensors = dict(TENSORS, whole=torch.arange(-2, 3) * 2)
    with safetensors.safe_open(path, framework="pt") as file:
        metadata = file.metadata()
    path.write_bytes(safetensors.torch.save(tensors, metadata))
    with pytest.raises(FileFormatError, match="checksum of tensor 'whole' is wrong"):
        read_tensors(path, "kind")


@pytest.mark.parametrize("change", ["removed", "added"])
def test_tensors_that_were_removed_or_added_are_noticed(path: Path, change: str) -> None:
    tensors = dict(TENSORS)
    if change == "removed":
        del tensors["double"]
    else:
        tensors["more"] = torch.zeros(1)
    with safetensors.safe_open(path, framework="pt") as file:
        metadata = file.metadata()
    path.write_bytes(safetensors.torch.save(tensors, metadata))
    with pytest.raises(FileFormatError, match="tensors are missing or were added"):
        read_tensors(path, "kind")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00" * 7,
        b"\xff" * 16,
        b"\x10\x00\x00\x00\x00\x00\x00\x00{}",
        b"<!doctype html><html>Not found</html>",
        pickle.dumps({"a": 1}),
        json.dumps({"a": 1}).encode(),
    ],
)
def test_a_file_of_another_kind_altogether_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(FileFormatError, match="is not a readable featuremask file"):
        read_tensors(tmp_path / "file", "kind")


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes]:
    path = tmp_path_factory.mktemp("damage") / "file"
    write_tensors(path, "kind", TENSORS, VALUES)
    return path, path.read_bytes()


def read_or_refused(path: Path) -> None:
    """Read a damaged file: what is read must be what was written, all else must be refused."""
    try:
        tensors, values = read_tensors(path, "kind")
    except FileFormatError:
        return
    assert values == VALUES
    assert all(same_bytes(tensors[name], value) for name, value in TENSORS.items())


@given(place=st.integers(0, 10**9), mask=st.integers(1, 255))
def test_no_changed_byte_gives_another_content(
    content: tuple[Path, bytes], place: int, mask: int
) -> None:
    path, whole = content
    damaged = bytearray(whole)
    damaged[place % len(whole)] ^= mask
    path.write_bytes(damaged)
    read_or_refused(path)


@given(data=st.data())
def test_no_cut_gives_a_content(content: tuple[Path, bytes], data: st.DataObject) -> None:
    path, whole = content
    path.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
    with pytest.raises(FileFormatError, match="is not a readable featuremask file"):
        read_tensors(path, "kind")


def test_the_same_content_is_the_same_bytes(path: Path, tmp_path: Path) -> None:
    for again in range(8):
        write_tensors(tmp_path / str(again), "kind", TENSORS, VALUES)
        assert (tmp_path / str(again)).read_bytes() == path.read_bytes()
    head = int.from_bytes(path.read_bytes()[:8], "little")
    assert head % 8 == 0
