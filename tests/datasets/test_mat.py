import contextlib
import struct
import zlib

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.io import savemat

from featuremask.datasets._mat import read_mat
from featuremask.exceptions import FileFormatError

LIMIT = 1 << 20
X = np.arange(12.0).reshape(4, 3) / 7
Y = np.array([[1], [2], [1], [2]])


@pytest.fixture
def path(tmp_path):
    return tmp_path / "data.mat"


@pytest.mark.parametrize("compressed", [True, False])
def test_the_matrix_and_the_labels_come_back(path, compressed):
    savemat(path, {"X": X, "Y": Y}, do_compression=compressed)
    found, labels = read_mat(path, max_bytes=LIMIT)
    assert np.array_equal(found, X)
    assert labels.tolist() == [1, 2, 1, 2]


def test_rows_lie_together_in_memory(path):
    savemat(path, {"X": X, "Y": Y})
    assert read_mat(path, max_bytes=LIMIT)[0].flags.c_contiguous


def test_labels_may_be_a_row(path):
    savemat(path, {"X": X, "Y": Y.T})
    assert read_mat(path, max_bytes=LIMIT)[1].shape == (4,)


def test_variables_may_have_other_names(path):
    savemat(path, {"fea": X, "gnd": Y, "X": X[:1]})
    assert read_mat(path, x_key="fea", y_key="gnd", max_bytes=LIMIT)[0].shape == (4, 3)


def test_a_sparse_matrix_stays_sparse(path):
    savemat(path, {"X": scipy.sparse.csc_array(X), "Y": Y})
    found = read_mat(path, max_bytes=LIMIT)[0]
    assert found.format == "csr"
    assert np.array_equal(found.toarray(), X)


def test_sparse_labels_become_dense(path):
    savemat(path, {"X": X, "Y": scipy.sparse.csc_array(Y)})
    assert read_mat(path, max_bytes=LIMIT)[1].tolist() == [1, 2, 1, 2]


def test_a_missing_variable_is_named_with_those_that_are_there(path):
    savemat(path, {"fea": X, "Y": Y})
    with pytest.raises(FileFormatError, match=r"no variable 'X'; it has \['Y', 'fea'\]"):
        read_mat(path, max_bytes=LIMIT)


def test_a_cell_array_is_refused(path):
    savemat(path, {"X": np.array([[1, "a"]], dtype=object), "Y": Y})
    with pytest.raises(FileFormatError, match="'X' is of the kind cell"):
        read_mat(path, max_bytes=LIMIT)


def test_a_struct_is_refused(path):
    savemat(path, {"X": X, "Y": {"a": 1}})
    with pytest.raises(FileFormatError, match="'Y' is of the kind struct"):
        read_mat(path, max_bytes=LIMIT)


def test_complex_numbers_are_refused(path):
    savemat(path, {"X": X + 1j, "Y": Y})
    with pytest.raises(FileFormatError, match="got complex numbers"):
        read_mat(path, max_bytes=LIMIT)


def test_three_axes_are_refused(path):
    savemat(path, {"X": np.zeros((2, 2, 2)), "Y": Y})
    with pytest.raises(FileFormatError, match=r"real numbers of shape \(2, 2, 2\)"):
        read_mat(path, max_bytes=LIMIT)


def test_labels_of_two_columns_are_refused(path):
    savemat(path, {"X": X, "Y": np.hstack([Y, Y])})
    with pytest.raises(FileFormatError, match="'Y' must be one row or column"):
        read_mat(path, max_bytes=LIMIT)


def test_labels_of_another_length_are_refused(path):
    savemat(path, {"X": X, "Y": Y[:3]})
    with pytest.raises(FileFormatError, match="'X' has 4 rows and 'Y' has 3 labels"):
        read_mat(path, max_bytes=LIMIT)


@pytest.mark.parametrize("offset", [0, 512])
def test_version_7_3_is_named_with_a_way_out(path, offset):
    path.write_bytes(bytes(offset) + b"\x89HDF\r\n\x1a\n" + bytes(100))
    with pytest.raises(FileFormatError, match=r"MATLAB 7\.3 file .*'-v7'"):
        read_mat(path, max_bytes=LIMIT)


def test_version_7_3_is_recognized_by_its_text(path):
    path.write_bytes(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(512))
    with pytest.raises(FileFormatError, match=r"MATLAB 7\.3 file"):
        read_mat(path, max_bytes=LIMIT)


@pytest.mark.parametrize("version", ["4", "empty", "html"])
def test_other_files_are_refused(path, version):
    if version == "4":
        savemat(path, {"X": X, "Y": Y}, format="4")
    else:
        path.write_bytes({"empty": b"", "html": b"<!DOCTYPE html>"}[version])
    with pytest.raises(FileFormatError, match="not a MATLAB file of version 5 to 7"):
        read_mat(path, max_bytes=LIMIT)


def test_a_cut_off_file_is_called_so(path):
    savemat(path, {"X": X, "Y": Y})
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(FileFormatError, match="cut off or damaged"):
        read_mat(path, max_bytes=LIMIT)


def test_a_missing_file_is_not_called_damaged(path):
    with pytest.raises(FileNotFoundError, match=r"data\.mat"):
        read_mat(path, max_bytes=LIMIT)


def test_a_bomb_is_refused_before_it_is_read(path):
    savemat(path, {"X": np.zeros((4, 1 << 19)), "Y": Y}, do_compression=True)
    assert path.stat().st_size < LIMIT / 8
    with pytest.raises(FileFormatError, match="more bytes than are accepted"):
        read_mat(path, max_bytes=LIMIT)


def test_a_bomb_in_a_variable_nobody_asked_for_is_refused(path):
    savemat(path, {"X": X, "Y": Y, "Z": np.zeros((4, 1 << 19))}, do_compression=True)
    with pytest.raises(FileFormatError, match="more bytes than are accepted"):
        read_mat(path, max_bytes=LIMIT)


def with_forged_shape(plain, rows, columns):
    """Change the dimensions of the first variable of an uncompressed file."""
    return plain.replace(struct.pack("<ii", 4, 3), struct.pack("<ii", rows, columns), 1)


def test_forged_dimensions_are_refused(path):
    savemat(path, {"X": X, "Y": Y})
    path.write_bytes(with_forged_shape(path.read_bytes(), 1 << 30, 1 << 10))
    with pytest.raises(FileFormatError, match=r"says it is \(1073741824, 1024\) and has 12 values"):
        read_mat(path, max_bytes=LIMIT)


def test_dimensions_that_do_not_fit_the_values_are_refused(path):
    savemat(path, {"X": X, "Y": Y})
    path.write_bytes(with_forged_shape(path.read_bytes(), 40, 3))
    with pytest.raises(FileFormatError, match="cut off or damaged"):
        read_mat(path, max_bytes=LIMIT)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_changed_byte_gives_data_or_a_format_error(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("mat") / "data.mat"
    savemat(path, {"X": X, "Y": Y}, do_compression=data.draw(st.booleans()))
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        position = data.draw(st.integers(0, len(content) - 1))
        content[position] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    with contextlib.suppress(FileFormatError):
        found, labels = read_mat(path, max_bytes=LIMIT)
        assert found.shape[0] == len(labels)


def test_big_endian_files_are_measured_too(path):
    deflated = zlib.compress(bytes(LIMIT + 1))
    element = struct.pack(">II", 15, len(deflated)) + deflated
    path.write_bytes(b"MATLAB 5.0 MAT-file".ljust(124) + b"\x01\x00MI" + element)
    with pytest.raises(FileFormatError, match="more bytes than are accepted"):
        read_mat(path, max_bytes=LIMIT)
