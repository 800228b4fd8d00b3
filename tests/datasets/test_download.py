import hashlib
import sys

import pytest

from featuremask.datasets import DatasetError, _download
from featuremask.datasets._catalog import PUBLIC_SETS, PublicFile
from featuremask.datasets._download import download
from featuremask.exceptions import MissingExtraError

CONTENT = bytes(range(256)) * 100
FILE = PublicFile("set/data.bin", hashlib.sha256(CONTENT).hexdigest(), len(CONTENT))


@pytest.fixture
def destination(tmp_path):
    return tmp_path / "cache" / "set" / "data.bin"


def leftovers(destination):
    return [entry.name for entry in destination.parent.iterdir()]


def test_the_file_comes_from_the_first_mirror(mirror, destination):
    mirror.answer("/a/data.bin", CONTENT).answer("/b/data.bin", CONTENT)
    assert download(FILE, destination, (f"{mirror.url}a/", f"{mirror.url}b/")) == destination
    assert destination.read_bytes() == CONTENT
    assert mirror.asked == ["/a/data.bin"]
    assert leftovers(destination) == ["data.bin"]


BAD_ANSWERS = {
    "an HTML page": ({"body": b"<!DOCTYPE html>moved"}, "checksum mismatch .* an HTML page"),
    "a short file": ({"body": CONTENT[:-1]}, "checksum mismatch .*25599 bytes of 25600"),
    "a damaged file": ({"body": CONTENT[:-1] + b"x"}, f"expected {FILE.sha256}"),
    "a long file": ({"body": CONTENT + b"x"}, "more than the 25600 bytes"),
    "an endless file": ({"body": CONTENT * 9}, "sends more bytes than the file has"),
    "nothing": ({"status": 404}, "404 Client Error"),
    "a way to http": (
        {"status": 302, "Location": "http://localhost:1/data.bin"},
        "not an https address",
    ),
    "a way to ftp": ({"status": 302, "Location": "ftp://host/data.bin"}, "not an https address"),
}


@pytest.mark.parametrize("kind", BAD_ANSWERS)
def test_a_bad_mirror_is_asked_once_and_the_next_one_helps(mirror, destination, kind):
    mirror.answer("/a/data.bin", **BAD_ANSWERS[kind][0]).answer("/b/data.bin", CONTENT)
    download(FILE, destination, (f"{mirror.url}a/", f"{mirror.url}b/"))
    assert destination.read_bytes() == CONTENT
    assert mirror.asked == ["/a/data.bin", "/b/data.bin"]


@pytest.mark.parametrize("kind", BAD_ANSWERS)
def test_without_a_good_mirror_the_error_says_why_and_where_to_put_the_file(
    mirror, destination, kind
):
    answer, reason = BAD_ANSWERS[kind]
    mirror.answer("/data.bin", **answer)
    with pytest.raises(DatasetError, match=f"(?s){reason}.* put it at {destination}.*set/data.bin"):
        download(FILE, destination, (mirror.url,))
    assert leftovers(destination) == []


def test_a_plain_http_mirror_is_never_asked(destination):
    with pytest.raises(DatasetError, match="not an https address; it is not followed"):
        download(FILE, destination, ("http://127.0.0.1:1/",))


def test_a_redirect_to_a_secure_address_is_followed(mirror, destination):
    mirror.answer("/data.bin", status=302, Location="/moved").answer("/moved", CONTENT)
    download(FILE, destination, (mirror.url,))
    assert destination.read_bytes() == CONTENT


@pytest.mark.parametrize("status", [500, 503, 429])
def test_a_busy_server_is_asked_again(mirror, destination, status):
    mirror.answer("/data.bin", status=status).answer("/data.bin", CONTENT)
    download(FILE, destination, (mirror.url,))
    assert mirror.asked == ["/data.bin"] * 2


def test_a_transfer_that_breaks_off_is_tried_again(mirror, destination):
    mirror.answer("/data.bin", CONTENT[:50], Content_Length=str(len(CONTENT)))
    mirror.answer("/data.bin", CONTENT)
    download(FILE, destination, (mirror.url,))
    assert destination.read_bytes() == CONTENT


def test_the_pauses_grow_and_end(mirror, destination, monkeypatch):
    pauses = []
    monkeypatch.setattr(_download, "_FIRST_PAUSE_S", 1.0)
    monkeypatch.setattr(_download.time, "sleep", pauses.append)
    mirror.answer("/data.bin", status=500)
    with pytest.raises(DatasetError, match=r"500 Server Error.*attempt 3"):
        download(FILE, destination, (mirror.url,))
    assert pauses == [1.0, 2.0]


def test_without_a_network_every_mirror_is_named(destination, monkeypatch):
    monkeypatch.setattr(_download, "_SCHEMES", ("http://",))
    dead = ("http://127.0.0.1:1/", "http://127.0.0.1:2/")
    with pytest.raises(DatasetError, match=r"(?s)any of 2 mirrors.*:1/data.bin.*:2/data.bin"):
        download(FILE, destination, dead)


def test_a_file_that_is_there_is_replaced(mirror, destination):
    destination.parent.mkdir(parents=True)
    destination.write_bytes(b"old")
    mirror.answer("/data.bin", CONTENT)
    download(FILE, destination, (mirror.url,))
    assert destination.read_bytes() == CONTENT


def test_a_file_that_is_there_outlives_a_bad_download(mirror, destination):
    destination.parent.mkdir(parents=True)
    destination.write_bytes(b"old")
    mirror.answer("/data.bin", b"bad")
    with pytest.raises(DatasetError, match="checksum mismatch"):
        download(FILE, destination, (mirror.url,))
    assert destination.read_bytes() == b"old"


def test_a_folder_that_cannot_be_made_is_an_error_with_a_way_out(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(DatasetError, match=r"cannot be written .* set FEATUREMASK_CACHE"):
        download(FILE, tmp_path / "file" / "data.bin", ("https://mirror.invalid/",))


def test_without_pooch_the_error_says_what_to_install(destination, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'featuremask\[datasets\]'"):
        download(FILE, destination, ("https://mirror.invalid/",))


def test_every_public_mirror_speaks_https_and_is_a_folder():
    mirrors = [mirror for entry in PUBLIC_SETS.values() for mirror in entry.mirrors]
    assert all(mirror.startswith("https://") and mirror.endswith("/") for mirror in mirrors)


def test_every_public_set_has_several_mirrors():
    assert all(len(set(entry.mirrors)) >= 2 for entry in PUBLIC_SETS.values())
