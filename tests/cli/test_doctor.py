"""The doctor says what is installed, and what is missing with its remedy."""

import importlib.metadata
import json

import pytest
import torch
from click.testing import CliRunner

import featuremask
from featuremask.cli import main


def output(*arguments: str) -> str:
    found = CliRunner().invoke(main, ["doctor", *arguments])
    assert found.exit_code == 0
    return found.output


def test_versions_devices_and_threads_are_shown() -> None:
    lines = dict(line.split(maxsplit=1) for line in output().splitlines())
    assert lines["featuremask"] == featuremask.__version__
    assert lines["torch"] == importlib.metadata.version("torch")
    assert lines["threads"] == str(torch.get_num_threads())
    assert lines["cuda"] == str(torch.cuda.is_available())


def test_json_says_the_same() -> None:
    found = json.loads(output("--json"))
    assert found["featuremask"] == featuremask.__version__
    assert found["packages"]["numpy"] == importlib.metadata.version("numpy")
    declared = importlib.metadata.metadata("featuremask").get_all("Provides-Extra") or []
    assert {"io", "plot", "umap"} <= set(found["extras"]) == set(declared) - {"all"}
    assert found["threads"] == torch.get_num_threads()


def test_every_dependency_is_among_the_packages() -> None:
    required = importlib.metadata.requires("featuremask") or []
    core = {line.split(">")[0].split(";")[0].strip() for line in required if "extra ==" not in line}
    assert core <= set(json.loads(output("--json"))["packages"])


def test_what_is_missing_comes_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    version = importlib.metadata.version

    def without(package: str) -> str:
        if package in ("matplotlib", "rich"):
            raise importlib.metadata.PackageNotFoundError(package)
        return version(package)

    monkeypatch.setattr(importlib.metadata, "version", without)
    found = output()
    assert "missing; pip install 'featuremask[plot]'" in found
    assert any(line.split() == ["rich", "not", "found"] for line in found.splitlines())
    assert json.loads(output("--json"))["extras"]["plot"] is None
