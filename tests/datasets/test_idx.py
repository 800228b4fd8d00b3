import contextlib
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from featuremask.datasets._idx import parse_idx
from featuremask.exceptions import FileFormatError


def idx(values: np.ndarray) -> bytes:
    return (
        bytes([0, 0, 8, values.ndim])
        + struct.pack(f">{values.ndim}I", *values.shape)
        + (values.astype(np.uint8).tobytes())
    )


@given(st.lists(st.integers(0, 5), min_size=1, max_size=4))
def test_any_shape_comes_back(shape):
    values = (np.arange(np.prod(shape)) % 256).reshape(shape)
    assert np.array_equal(parse_idx(idx(values), ndim=len(shape)), values)


def test_the_array_can_be_written():
    assert parse_idx(idx(np.zeros(3)), ndim=1).flags.writeable


def test_a_short_header_is_called_cut_off():
    with pytest.raises(FileFormatError, match="header needs 16 bytes, there are 9"):
        parse_idx(idx(np.zeros(1)), ndim=3)


@pytest.mark.parametrize("position", [0, 1, 2, 3])
def test_each_byte_of_the_magic_number_counts(position):
    content = bytearray(idx(np.zeros(3)))
    content[position] ^= 0xFF
    with pytest.raises(FileFormatError, match="not an idx file of unsigned bytes"):
        parse_idx(bytes(content), ndim=1)


def test_a_number_of_dimensions_that_is_not_expected_is_refused():
    with pytest.raises(FileFormatError, match="starts with 00000802, expected 00000801"):
        parse_idx(idx(np.zeros((2, 2))), ndim=1)


@pytest.mark.parametrize("change", [lambda b: b[:-1], lambda b: b + b"x"])
def test_a_byte_too_few_or_too_many_is_refused(change):
    with pytest.raises(FileFormatError, match="promises 2 x 2 = 4 values and holds"):
        parse_idx(change(idx(np.zeros((2, 2)))), ndim=2)


def test_forged_dimensions_allocate_nothing():
    forged = bytes([0, 0, 8, 3]) + b"\xff" * 12 + b"abc"
    with pytest.raises(FileFormatError, match="= 79228162458924105385300197375 values"):
        parse_idx(forged, ndim=3)


@given(st.binary(max_size=64))
def test_no_bytes_raise_anything_but_a_format_error(content):
    with contextlib.suppress(FileFormatError):
        assert parse_idx(content, ndim=1).nbytes == len(content) - 8
