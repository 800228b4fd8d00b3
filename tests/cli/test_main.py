"""The command is light until it is called, and its help shows how to call it."""

import subprocess
import sys
import time
from typing import Any

import pytest
from click.testing import CliRunner

import featuremask
from featuremask.cli import main
from featuremask.cli._main import _COMMANDS

_HELP = """
import sys
from featuremask.cli import main
main({arguments!r}, standalone_mode=False)
heavy = ("torch", "sklearn", "numpy", "scipy", "pandas", "polars", "matplotlib", "narwhals")
print("loaded:", [name for name in heavy if name in sys.modules])
"""


def run(*arguments: str) -> Any:
    return CliRunner().invoke(main, arguments)


def python(*arguments: str) -> str:
    command = [sys.executable, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["demo", "--help"], ["doctor", "-h"]]
)
def test_help_and_version_load_nothing_heavy(arguments: list[str]) -> None:
    code = _HELP.format(arguments=arguments)
    assert python("-c", code).splitlines()[-1] == "loaded: []"


def test_help_is_there_at_once() -> None:
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        python("-m", "featuremask", "--help")
        seconds.append(time.perf_counter() - start)
    assert min(seconds) < 1.0  # about 0.1 on a quiet machine


def test_the_module_is_the_command() -> None:
    assert python("-m", "featuremask", "--version").strip().endswith(featuremask.__version__)
    assert "Usage: python -m featuremask" in python("-m", "featuremask", "--help")


def test_all_commands_are_listed_with_what_they_do() -> None:
    lines = run("--help").output.splitlines()
    for name, (_, said) in _COMMANDS.items():
        found = [line for line in lines if line.strip().startswith(f"{name} ")]
        assert len(found) == 1
        assert said[:30] in found[0]
    assert "Examples:" in run("--help").output


@pytest.mark.parametrize("name", _COMMANDS)
def test_each_command_has_help_with_an_example(name: str) -> None:
    found = run(name, "--help")
    assert found.exit_code == 0
    assert f"featuremask {name}" in found.output


def test_an_unknown_command_is_named() -> None:
    found = run("selekt")
    assert found.exit_code == 2
    assert "No such command 'selekt'" in found.output


def test_an_error_of_ours_is_one_message_without_a_traceback() -> None:
    found = run("datasets", "where", "no-such-set")
    assert found.exit_code == 1
    assert found.output.startswith("Error: ")
    assert "Traceback" not in found.output
