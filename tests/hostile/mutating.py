"""Change saved files byte by byte and read each of them, under a watch.

A program of its own: what takes the interpreter down takes this process down and not the tests. An
audit hook ends it at once if reading a file unpickles, starts a process, opens a connection or
compiles code. Memory and the time of one reading are limited.
"""

import argparse
import contextlib
import gc
import json
import os
import random
import resource
import signal
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import torch
from scipy.io import savemat

import featuremask
from featuremask import FeatureMaskSelector
from featuremask._tensorfile import digest_of, read_tensors
from featuremask.datasets._spec import read_spec
from featuremask.datasets._tabular import read_table
from featuremask.exceptions import FeatureMaskError
from featuremask.experiments import Record, Store, load_suite

MORE_MEMORY = 2 * 2**30
SECONDS_A_READING = 20
FORBIDDEN = (
    "pickle.find_class",
    "subprocess.Popen",
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.fork",
    "socket.connect",
    "socket.getaddrinfo",
    "marshal.loads",
    "exec",
)
IMPORTING = ("marshal.loads", "exec")
"""What an import does too, of a module that is needed for the first time."""


@dataclass
class Kind:
    """A kind of file.

    Attributes
    ----------
    path : Path
    read : callable
        Reads the file and returns what it holds, in a form that can be compared.
    checked : bool
        Whether the file carries checksums, so that no change may go unnoticed.
    """

    path: Path
    read: Callable[[], Any]
    checked: bool


def kinds(folder: Path) -> dict[str, Kind]:
    """Write a small file of each kind."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 3))
    y = np.arange(12) % 2
    words: dict[str, Any] = {"hidden_units": (2,), "mask_units": 2, "max_epochs": 1}
    fitted = FeatureMaskSelector(2, **words, checkpoint=folder / "fit", random_state=0).fit(X, y)
    fitted.save(folder / "selector.fm")
    found = {
        "selector": Kind(folder / "selector.fm", lambda: _told(folder / "selector.fm"), True),
        "checkpoint": Kind(
            folder / "fit" / "checkpoint.safetensors",
            lambda: _tensors(folder / "fit" / "checkpoint.safetensors"),
            True,
        ),
        "records": _records(folder / "records"),
        "experiment": _experiment(folder / "suite"),
    }
    columns = {"a": X[:, 0], "b": np.arange(12), "y": y}
    savemat(folder / "data.mat", {"X": X, "Y": y}, do_compression=True)
    np.savez_compressed(folder / "data.npz", X=X, y=y)
    pa.csv.write_csv(pa.table(columns), folder / "data.csv")
    pa.parquet.write_table(pa.table(columns), folder / "data.parquet")
    for ending in ("mat", "npz", "csv", "parquet"):
        toml = folder / f"{ending}.toml"
        target = "Y" if ending == "mat" else "y"
        toml.write_text(f'name = "own"\npath = "data.{ending}"\ntarget = "{target}"\n')
        path = folder / f"data.{ending}"
        found[ending] = Kind(path, lambda toml=toml: str(read_table(read_spec(toml))), False)
    found["toml"] = Kind(folder / "csv.toml", lambda: str(read_spec(folder / "csv.toml")), False)
    return found


def _told(path: Path) -> Any:
    selector = featuremask.load(path)
    state = {name: digest_of(value) for name, value in selector.network_.state_dict().items()}
    return str(
        [selector.get_params(), selector.ranking_, selector.scores_, selector.history_, state]
    )


def _tensors(path: Path) -> str:
    tensors, values = read_tensors(path, "checkpoint")
    return str([{name: digest_of(value) for name, value in sorted(tensors.items())}, values])


def _records(folder: Path) -> Kind:
    store = Store(folder)
    for number in range(4):
        record = Record(f"{number:016x}", "fit", "ok", result={"accuracy": 0.5}, run={"seed": 1})
        store.append("a/b/c.jsonl", record)
    return Kind(folder / "a" / "b" / "c.jsonl", lambda: str(list(store.read())), False)


def _experiment(folder: Path) -> Kind:
    folder.mkdir()
    (folder / "datasets.toml").write_text('[toy]\ncontent = "0123"\n')
    (folder / "methods.toml").write_text('[plain]\nselector = "FeatureMaskSelector"\n')
    path = folder / "trial.toml"
    path.write_text(
        'title = "A trial"\nsection = 1\nmethods = ["plain"]\ndatasets = ["toy"]\nseeds = [0, 1]\n'
        "ks = [2]\n[vary]\nlearning_rate = [0.1, 0.2]\n[smoke]\nseeds = [0]\n"
    )
    return Kind(path, lambda: str(load_suite(folder)), False)


def mutated(content: bytes, rng: random.Random) -> bytes:
    """Return a content with one to three changes."""
    data = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        place = rng.randrange(len(data) + 1)
        stop = min(len(data), place + rng.choice((1, 1, 2, 4, 8, 64)))
        change = rng.randrange(7)
        if change == 0 and place < len(data):
            data[place] ^= 1 << rng.randrange(8)
        elif change == 1 and place < len(data):
            data[place] = rng.choice((0, 1, 127, 128, 255, rng.randrange(256)))
        elif change == 2:
            del data[place:stop]
        elif change == 3:
            data[place:place] = rng.randbytes(rng.randrange(1, 9))
        elif change == 4:
            del data[place:]
        elif change == 5:
            huge = rng.choice((2**31 - 1, 2**32 - 1, 2**63 - 1, 2**64 - 1, 2**40))
            data[place : place + 8] = huge.to_bytes(8, rng.choice(("little", "big")))
        else:
            data[place:place] = data[rng.randrange(len(data) + 1) :][:64]
        data = data or bytearray(b"\0")
    return bytes(data)


def watch() -> None:
    """End the process at what no reading of a file may do."""

    def hook(event: str, arguments: Any) -> None:
        if event in FORBIDDEN and not (event in IMPORTING and _imports()):
            os.write(2, f"reading a file caused {event} {arguments!r:.200}\n".encode())
            os._exit(77)

    def late(number: int, frame: Any) -> None:
        os.write(2, b"reading a file took too long\n")
        os._exit(78)

    sys.addaudithook(hook)
    signal.signal(signal.SIGALRM, late)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MORE_MEMORY,) * 2)


def _imports() -> bool:
    frame: Any = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def tried(kind: Kind, content: bytes, expected: Any) -> str:
    """Read a content and say what came of it."""
    kind.path.write_bytes(content)
    signal.alarm(SECONDS_A_READING)
    try:
        found = kind.read()
    except FeatureMaskError:
        return "refused"
    except MemoryError:
        return "no memory"
    finally:
        signal.alarm(0)
    if found == expected:
        return "same"
    if kind.checked:
        raise AssertionError("a changed file was read as something else")
    return "other data"


def run(folder: Path, names: list[str], count: int, seed: int) -> dict[str, dict[str, int]]:
    """Try some changes of each kind and count what came of them."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    known = kinds(folder)
    contents = {name: known[name].path.read_bytes() for name in names}
    expected = {name: known[name].read() for name in names}  # loads all that reading needs
    for name in names:
        with contextlib.suppress(FeatureMaskError):
            tried(known[name], b"no such thing", expected[name])
    watch()
    counts: dict[str, dict[str, int]] = {}
    for name in names:
        rng, outcomes, start = random.Random(f"{seed}-{name}"), Counter[str](), time.monotonic()
        for number in range(count):
            content = mutated(contents[name], rng)
            try:
                outcomes[tried(known[name], content, expected[name])] += 1
            except Exception as error:
                kept = folder / f"failed-{name}"
                kept.write_bytes(content)
                said = f"{name}, change {number} of seed {seed}: {type(error).__name__}: {error}"
                sys.exit(f"{said} ({kept})")
        known[name].path.write_bytes(contents[name])
        gc.collect()
        counts[name] = dict(outcomes) | {"seconds": round(time.monotonic() - start)}
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("kinds", nargs="+")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    found = run(arguments.folder, arguments.kinds, arguments.count, arguments.seed)
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
