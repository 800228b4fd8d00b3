"""Reading files unpickles nothing, and nothing but a download uses the network."""

import subprocess
import sys
from pathlib import Path

import pytest

CLOSED = """
import os, sys

def hook(event, arguments):
    if event.startswith("socket.") and event != "socket.gethostname":
        os.write(2, f"{event} {arguments!r:.200}".encode())
        os._exit(77)
    if event == "pickle.find_class":
        os.write(2, f"{event} {arguments!r:.200}".encode())
        os._exit(78)

sys.addaudithook(hook)
"""

EVERYTHING = """
import sys
import numpy as np
import featuremask
from click.testing import CliRunner
from featuremask import datasets
from featuremask.cli import main

folder = sys.argv[1]
X = np.random.default_rng(0).normal(size=(30, 4))
y = X[:, 0] > 0
words = {"max_epochs": 1, "random_state": 0}
for name in featuremask.__all__:
    if name.endswith("Selector"):
        more = {"max_tries": 1} if name == "ConcreteSelector" else {}
        selector = getattr(featuremask, name)(2, **words, **more)
        selector.fit(X, y).save(f"{folder}/{name}")
        featuremask.load(f"{folder}/{name}").transform(X)
checked = featuremask.FeatureMaskSelector(2, **words, checkpoint=f"{folder}/fit")
checked.fit(X, y)
checked.fit(X, y)
np.savez(f"{folder}/own.npz", X=X, y=y)
with open(f"{folder}/own.toml", "w") as file:
    file.write('name = "own"\\npath = "own.npz"\\n')
datasets.load(datasets.register(f"{folder}/own.toml"))
datasets.load("digits")
for arguments in (["datasets", "list"], ["doctor"], ["--help"]):
    CliRunner().invoke(main, arguments)
try:
    datasets.load("mnist", download_if_missing=False)
except OSError:
    print("done")
"""


def run(program: str, *arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
    environment = {"PYTHONPATH": ":".join(sys.path), "HOME": str(home), "PATH": "/usr/bin:/bin"}
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment, timeout=200
    )


@pytest.mark.slow
def test_fitting_saving_loading_and_looking_use_no_network_and_no_pickle(tmp_path: Path) -> None:
    done = run(CLOSED + EVERYTHING, str(tmp_path), home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "done"


def test_the_watch_sees_what_it_watches_for(tmp_path: Path) -> None:
    told = run(CLOSED + "import socket; socket.create_connection(('127.0.0.1', 9))", home=tmp_path)
    assert (told.returncode, "socket." in told.stderr) == (77, True)
    unpickles = "import pickle, pathlib; pickle.loads(pickle.dumps(pathlib.Path))"
    told = run(CLOSED + unpickles, home=tmp_path)
    assert (told.returncode, "pickle.find_class" in told.stderr) == (78, True)
