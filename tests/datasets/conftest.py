"""No test of datasets sees the user's folders or the network."""

import gzip
import hashlib
import struct
import threading
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from featuremask.datasets import _download, _memory
from featuremask.datasets._catalog import PUBLIC_SETS, PublicFile, PublicSet


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache and configuration, no data folder; gives the cache's folder."""
    monkeypatch.delenv("FEATUREMASK_DATA", raising=False)
    monkeypatch.setenv("FEATUREMASK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(_memory, "_IN_PROCESS", {})
    monkeypatch.setattr(_download, "_FIRST_PAUSE_S", 0.0)
    return tmp_path / "cache" / "datasets"


@pytest.fixture(scope="session")
def real_data(paper_data: Path) -> str:
    """The folder of the real files."""
    return str(paper_data)


@pytest.fixture
def use_real_data(cache: Path, real_data: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FEATUREMASK_DATA", real_data)


def idx_bytes(array: np.ndarray) -> bytes:
    header = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    return header + array.astype(np.uint8).tobytes()


class TinySet:
    """A public dataset of 2 x 3 pixels, 2 classes, 6 + 4 rows, as it lies on its mirrors."""

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        self.images = rng.integers(0, 256, size=(10, 2, 3), dtype=np.uint8)
        self.labels = np.array([0, 1] * 5, dtype=np.uint8)
        parts = {
            "train-images": self.images[:6],
            "train-labels": self.labels[:6],
            "t10k-images": self.images[6:],
            "t10k-labels": self.labels[6:],
        }
        contents = {f"{name}.gz": idx_bytes(part) for name, part in parts.items()}
        self.files = {name: gzip.compress(content) for name, content in contents.items()}
        self.entry = PublicSet(
            name="tiny",
            files=tuple(
                PublicFile(f"tiny/{name}", hashlib.sha256(content).hexdigest(), len(content))
                for name, content in contents.items()
            ),
            mirrors=("https://mirror.invalid/tiny/",),
            n_train=6,
            n_test=4,
            n_features=6,
            target_names=("even", "odd"),
            feature_prefix="pixel",
            domain="image",
            description="Tiny images.",
            origin="a test",
            license="none",
            image_shape=(2, 3),
        )

    def put(self, folder: Path) -> None:
        """Lay the files into a data folder."""
        (folder / "tiny").mkdir(parents=True)
        for name, content in self.files.items():
            (folder / "tiny" / name).write_bytes(content)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> TinySet:
    tiny = TinySet()
    monkeypatch.setitem(PUBLIC_SETS, "tiny", tiny.entry)
    return tiny


class Mirror:
    """A web server on this machine; each address answers from its own list, the last repeats."""

    def __init__(self) -> None:
        self.answers: dict[str, list[tuple[int, dict[str, str], bytes]]] = defaultdict(list)
        self.asked: list[str] = []
        mirror = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                mirror.asked.append(self.path)
                queue = mirror.answers[self.path] or [(404, {}, b"")]
                status, headers, body = queue.pop(0) if len(queue) > 1 else queue[0]
                self.send_response(status)
                for key, value in ({"Content-Length": str(len(body))} | headers).items():
                    self.send_header(key, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"

    def answer(self, path: str, body: bytes = b"", status: int = 200, **headers: str) -> "Mirror":
        named = {key.replace("_", "-"): value for key, value in headers.items()}
        self.answers[path].append((status, named, body))
        return self


@pytest.fixture
def mirror(monkeypatch: pytest.MonkeyPatch) -> Iterator[Mirror]:
    """A mirror that counts as secure; nothing else on this machine does."""
    mirror = Mirror()
    monkeypatch.setattr(_download, "_SCHEMES", ("https://", mirror.url))
    thread = threading.Thread(target=mirror.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield mirror
    mirror.server.shutdown()
    mirror.server.server_close()
    thread.join()


@pytest.fixture
def tiny_on_mirror(tiny: TinySet, mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> Mirror:
    """The tiny set, to be had from one mirror only."""
    monkeypatch.setitem(PUBLIC_SETS, "tiny", replace(tiny.entry, mirrors=(mirror.url,)))
    for name, content in tiny.files.items():
        mirror.answer(f"/{name}", content)
    return mirror
