"""Files made by hand, element by element, as no honest program writes them."""

import struct
import zlib

import numpy as np
import pytest

from featuremask.datasets._mat import read_mat
from featuremask.datasets._mat5 import variables
from featuremask.exceptions import FileFormatError

INT8, INT32, UINT32, DOUBLE, MATRIX, COMPRESSED = 1, 5, 6, 9, 14, 15
NUMERIC_CLASS, SPARSE_CLASS = 6, 5


def element(kind, data, order="<"):
    padding = b"" if kind == COMPRESSED else bytes(-len(data) % 8)
    return struct.pack(f"{order}II", kind, len(data)) + data + padding


def numbers(kind, values, order="<"):
    code = {INT32: "i4", UINT32: "u4", DOUBLE: "f8"}[kind]
    return element(kind, np.asarray(values).astype(order + code).tobytes(), order)


def variable(name, shape, *values, flags=(NUMERIC_CLASS, 0), order="<"):
    head = numbers(UINT32, flags, order) + numbers(INT32, shape, order)
    named = element(INT8, name.encode(), order)
    return element(MATRIX, head + named + b"".join(values), order)


def file(*elements, order="<"):
    mark = b"\x00\x01IM" if order == "<" else b"\x01\x00MI"
    return b"MATLAB 5.0 MAT-file".ljust(124) + mark + b"".join(elements)


X = variable("X", (3, 2), numbers(DOUBLE, [1, 2, 3, 4, 5, 6]))
Y = variable("Y", (3, 1), numbers(INT32, [1, 2, 1]))


def read(tmp_path, *elements, order="<", max_bytes=1 << 16):
    path = tmp_path / "data.mat"
    path.write_bytes(file(*elements, order=order))
    return read_mat(path, max_bytes=max_bytes)


def test_values_lie_column_by_column(tmp_path):
    assert read(tmp_path, X, Y)[0].tolist() == [[1, 4], [2, 5], [3, 6]]


def test_either_byte_order_is_read(tmp_path):
    big = [
        variable("X", (1, 2), numbers(DOUBLE, [1, 2], ">"), order=">"),
        variable("Y", (1, 1), numbers(INT32, [7], ">"), order=">"),
    ]
    rows, labels = read(tmp_path, *big, order=">")
    assert (rows.tolist(), labels.tolist()) == ([[1, 2]], [7])
    assert rows.dtype.isnative


def test_a_short_element_keeps_its_data_beside_its_length(tmp_path):
    short = struct.pack("<HHi", INT32, 4, 7)
    rows, _ = read(tmp_path, variable("X", (1, 1), short), variable("Y", (1, 1), short))
    assert rows.tolist() == [[7]]


def test_elements_that_are_no_variables_are_passed_over(tmp_path):
    assert read(tmp_path, element(INT8, b"note"), X, Y)[0].shape == (3, 2)


def test_variables_are_read_as_they_are_asked_for():
    """The second one is damaged, which shows only when it is reached."""
    content = file(X, element(MATRIX, b"damaged!"))
    reader = variables(content, 1 << 16)
    assert next(reader).name == "X"
    with pytest.raises(ValueError, match=r"an element of \d+ bytes has"):
        next(reader)


def test_a_sparse_matrix_is_put_together(tmp_path):
    parts = numbers(INT32, [0, 2, 1]), numbers(INT32, [0, 2, 3]), numbers(DOUBLE, [5, 6, 7])
    sparse = variable("X", (3, 2), *parts, flags=(SPARSE_CLASS, 3))
    assert read(tmp_path, sparse, Y)[0].toarray().tolist() == [[5, 0], [0, 7], [6, 0]]


@pytest.mark.parametrize(
    ("rows", "starts"),
    [
        ([0, 3, 1], [0, 2, 3]),
        ([0, -1, 1], [0, 2, 3]),
        ([0, 2, 1], [0, 4, 3]),
        ([0, 2, 1], [1, 2, 3]),
        ([0, 2, 1], [0, 2, 9]),
        ([0, 2, 1], [0, 3]),
        ([0, 2, 1], []),
    ],
    ids=["row-beyond", "row-below", "falling", "late", "too-many", "one-column", "none"],
)
def test_an_index_that_points_outside_is_refused(tmp_path, rows, starts):
    parts = numbers(INT32, rows), numbers(INT32, starts), numbers(DOUBLE, [5, 6, 7])
    with pytest.raises(FileFormatError, match="cut off or damaged"):
        read(tmp_path, variable("X", (3, 2), *parts, flags=(SPARSE_CLASS, 3)), Y)


def test_a_sparse_matrix_that_says_it_is_huge_is_refused(tmp_path):
    parts = numbers(INT32, [0]), numbers(INT32, [0, 1]), numbers(DOUBLE, [5])
    huge = variable("X", (1 << 30, 1), *parts, flags=(SPARSE_CLASS, 1))
    with pytest.raises(FileFormatError, match=r"says it is \(1073741824, 1\), whose index alone"):
        read(tmp_path, huge, Y)


def test_text_in_the_place_of_numbers_is_refused(tmp_path):
    with pytest.raises(FileFormatError, match="type 16 stands where numbers belong"):
        read(tmp_path, variable("X", (1, 1), element(16, b"evil")), Y)


def test_reals_in_the_place_of_dimensions_are_refused(tmp_path):
    wrong = element(MATRIX, numbers(UINT32, (6, 0)) + numbers(DOUBLE, (np.inf, 1)))
    with pytest.raises(FileFormatError, match="type 9 stands where numbers belong"):
        read(tmp_path, wrong)


@pytest.mark.parametrize("shape", [(3,), (-3, 2)])
def test_impossible_dimensions_are_refused(tmp_path, shape):
    with pytest.raises(FileFormatError, match="flags and dimensions"):
        read(tmp_path, variable("X", shape, numbers(DOUBLE, [1, 2, 3])), Y)


def test_an_unknown_class_is_refused(tmp_path):
    with pytest.raises(FileFormatError, match="'X' is of the kind unknown"):
        read(tmp_path, variable("X", (1, 1), numbers(DOUBLE, [1]), flags=(17, 0)), Y)


def test_bytes_after_the_last_element_are_damage(tmp_path):
    with pytest.raises(FileFormatError, match="an element is cut off, 3 bytes are left"):
        read(tmp_path, X, Y, b"abc")


def test_a_length_beyond_the_end_is_refused(tmp_path):
    with pytest.raises(FileFormatError, match="an element of 4294967295 bytes has 0 only"):
        read(tmp_path, struct.pack("<II", MATRIX, 0xFFFFFFFF))


def test_a_short_element_cannot_be_longer_than_its_place(tmp_path):
    long = struct.pack("<HHi", INT32, 8, 7) + bytes(8)
    with pytest.raises(FileFormatError, match="an element of 8 bytes"):
        read(tmp_path, variable("X", (1, 2), long), Y)


def test_deflated_data_that_end_too_soon_are_refused(tmp_path):
    with pytest.raises(FileFormatError, match="a deflated element is cut off"):
        read(tmp_path, element(COMPRESSED, zlib.compress(X)[:-5]), Y)


def test_deflated_variables_are_limited_together(tmp_path):
    rows = variable("X", (1, 500), numbers(DOUBLE, np.zeros(500)))
    more = variable("Z", (1, 500), numbers(DOUBLE, np.zeros(500)))
    deflated = [element(COMPRESSED, zlib.compress(part)) for part in (rows, more, Y)]
    assert read(tmp_path, deflated[0], variable("Y", (1, 1), numbers(INT32, [1])), max_bytes=5000)
    with pytest.raises(FileFormatError, match="more bytes than are accepted"):
        read(tmp_path, *deflated, max_bytes=5000)


def test_a_file_beyond_the_limit_is_refused(tmp_path):
    with pytest.raises(FileFormatError, match="more than the 256 bytes that are accepted"):
        read(tmp_path, X, Y, max_bytes=256)
