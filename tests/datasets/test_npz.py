import contextlib
import io
import pickle
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featuremask.datasets._npz import read_npz
from featuremask.exceptions import FileFormatError

LIMIT = 1 << 16
X = np.arange(12.0).reshape(4, 3)
Y = np.array(["a", "b", "a", "b"])


@pytest.fixture
def path(tmp_path):
    return tmp_path / "data.npz"


def read(path):
    return read_npz(path, x_key="X", y_key="y", max_bytes=LIMIT)


def npy(array, allow_pickle=False):
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=allow_pickle)
    return stream.getvalue()


def write(path, X, y):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("X.npy", X)
        archive.writestr("y.npy", y)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_the_arrays_come_back(path, save):
    save(path, X=X, y=Y, other=np.zeros(3))
    found, labels = read(path)
    assert np.array_equal(found, X)
    assert labels.tolist() == ["a", "b", "a", "b"]


def test_a_missing_array_is_named_with_those_that_are_there(path):
    np.savez(path, X=X, labels=Y)
    with pytest.raises(FileFormatError, match=r"no array 'y'; it has \['X', 'labels'\]"):
        read(path)


class Canary:
    """Unpickling one leaves a trace."""

    woken = False

    def __reduce__(self):
        return (setattr, (Canary, "woken", True))


def test_pickled_objects_are_refused_and_not_run(path):
    evil = np.array([Canary()], dtype=object)
    write(path, npy(evil, allow_pickle=True), npy(Y))
    with pytest.raises(FileFormatError, match="it holds Python objects"):
        read(path)
    assert not Canary.woken


def test_a_bare_pickle_is_refused_and_not_run(path):
    path.write_bytes(pickle.dumps(Canary()))
    with pytest.raises(FileFormatError, match="not an NPZ archive"):
        read(path)
    assert not Canary.woken


@pytest.mark.parametrize("name", ["../X.npy", "/X.npy", "a/X.npy", "..\\X.npy", "C:X.npy", "X.txt"])
def test_entries_without_a_plain_name_are_refused(path, name):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(name, npy(X))
        archive.writestr("y.npy", npy(Y))
    with pytest.raises(FileFormatError, match="an NPZ archive holds plain names"):
        read(path)


def test_two_entries_of_one_name_are_refused(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("X.npy", npy(X))
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("X.npy", npy(X))
    with pytest.raises(FileFormatError, match="two entries of one name"):
        read(path)


def test_a_bomb_is_refused_before_it_is_inflated(path):
    np.savez_compressed(path, X=np.zeros(LIMIT), y=Y)
    assert path.stat().st_size < LIMIT / 8
    with pytest.raises(FileFormatError, match=f"more than the {LIMIT} that are accepted"):
        read(path)


def test_a_header_that_promises_too_much_allocates_nothing(path):
    huge = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        huge, {"descr": "<f8", "fortran_order": False, "shape": (1 << 40, 8)}
    )
    write(path, huge.getvalue() + bytes(8), npy(Y))
    with pytest.raises(FileFormatError, match="its header promises 70368744177"):
        read(path)


def test_an_unknown_format_version_is_refused(path):
    content = bytearray(npy(X))
    content[6] = 9
    write(path, bytes(content), npy(Y))
    with pytest.raises(FileFormatError, match="cannot be read without trusting"):
        read(path)


def test_a_header_of_version_2_is_read(path):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, X, version=(2, 0))
    write(path, stream.getvalue(), npy(Y))
    assert np.array_equal(read(path)[0], X)


def test_an_unusual_way_of_packing_is_refused(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("X.npy", npy(X))
    with pytest.raises(FileFormatError, match="is packed by method 14"):
        read(path)


def test_a_cut_off_archive_is_refused(path):
    np.savez(path, X=X, y=Y)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(FileFormatError, match="not an NPZ archive, or is damaged"):
        read(path)


@settings(max_examples=60, deadline=None)
@given(position=st.integers(0, 127), value=st.integers(0, 255))
def test_a_changed_byte_in_a_header_gives_data_or_a_format_error(tmp_path_factory, position, value):
    path = tmp_path_factory.mktemp("npz") / "data.npz"
    content = bytearray(npy(X))
    content[position] = value
    write(path, bytes(content), npy(Y))
    with contextlib.suppress(FileFormatError):
        assert read(path)[0].nbytes <= LIMIT


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_changed_byte_gives_data_or_a_format_error(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("npz") / "data.npz"
    np.savez_compressed(path, X=X, y=Y)
    content = bytearray(path.read_bytes())
    position = data.draw(st.integers(0, len(content) - 1))
    content[position] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    with contextlib.suppress(FileFormatError):
        assert read(path)[0].nbytes <= LIMIT
