import gzip
import hashlib
import re
import tracemalloc

import pytest

from featuremask.datasets._content import check_sha256, describe_start, read_verified, verified
from featuremask.exceptions import FileFormatError

CONTENT = b"the expected content " * 10
SHA256 = hashlib.sha256(CONTENT).hexdigest()
SIZE = len(CONTENT)


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
@pytest.mark.parametrize("name", ["file", "file.gz"])
def test_the_content_counts_whatever_the_file_is_called(tmp_path, pack, name):
    (tmp_path / name).write_bytes(pack(CONTENT))
    assert read_verified(tmp_path / name, SHA256, SIZE) == CONTENT


def test_a_sum_that_differs_is_reported_with_both_sums():
    other = hashlib.sha256(b"other").hexdigest()
    with pytest.raises(FileFormatError, match=f"got {other}, expected {SHA256}"):
        verified(b"other", SHA256, SIZE, "it")


def test_a_file_cut_off_inside_gzip_is_called_cut_off():
    with pytest.raises(FileFormatError, match="cut off or damaged"):
        verified(gzip.compress(CONTENT)[:-9], SHA256, SIZE, "it")


def test_a_damaged_gzip_file_is_called_damaged():
    packed = bytearray(gzip.compress(CONTENT))
    packed[12] ^= 0xFF
    with pytest.raises(FileFormatError, match="cut off or damaged"):
        verified(bytes(packed), SHA256, SIZE, "it")


def test_a_gzip_bomb_is_inflated_to_the_limit_only():
    bomb = gzip.compress(bytes(1 << 25))
    tracemalloc.start()
    with pytest.raises(FileFormatError, match=f"more than the {SIZE} bytes"):
        verified(bomb, SHA256, SIZE, "it")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20


def test_a_plain_file_that_is_too_long_is_not_read_to_its_end(tmp_path):
    with (tmp_path / "long").open("wb") as stream:
        stream.truncate(1 << 40)
    with pytest.raises(FileFormatError, match="more than the"):
        read_verified(tmp_path / "long", SHA256, SIZE)


def test_an_error_page_is_recognized(tmp_path):
    (tmp_path / "page").write_bytes(b"\n<!DOCTYPE html><title>Not found</title>")
    with pytest.raises(FileFormatError, match="look like an HTML page"):
        read_verified(tmp_path / "page", SHA256, SIZE)


@pytest.mark.parametrize(
    ("content", "phrase"),
    [
        (b"<HTML>", "an HTML page"),
        (b"<?xml version='1.0'?>", "an XML error page"),
        (b"<Error>", "an HTML or XML page"),
        (b'{"message": "gone"}', "a JSON answer"),
        (b"version https://git-lfs.github.com/spec/v1", "a Git LFS pointer"),
        (b"\x00\x01", r"first bytes are b'\\x00\\x01'"),
        (b"", "the file is empty"),
    ],
)
def test_what_came_instead_of_the_file_is_named(content, phrase):
    assert re.search(phrase, describe_start(content))


def test_a_file_of_the_right_sum_passes_in_either_case(tmp_path):
    (tmp_path / "file").write_bytes(CONTENT)
    check_sha256(tmp_path / "file", SHA256.upper())


def test_a_file_of_another_sum_does_not_pass(tmp_path):
    (tmp_path / "file").write_bytes(b"<html>")
    with pytest.raises(FileFormatError, match=r"checksum mismatch .* an HTML page"):
        check_sha256(tmp_path / "file", SHA256)
