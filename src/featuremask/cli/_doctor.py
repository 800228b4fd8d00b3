"""`featuremask doctor`."""

import importlib.metadata
import json
import os
import platform
import re
from typing import Any

import click

from featuremask import __version__
from featuremask._versions import installed_version

__all__ = ["command"]

_PACKAGES = (
    "torch",
    "scikit-learn",
    "numpy",
    "scipy",
    "narwhals",
    "safetensors",
    "jinja2",
    "click",
    "rich",
)
_OF_AN_EXTRA = re.compile(r"""([\w.-]+).*; extra == ['"]([\w-]+)['"]""")


def _extras() -> dict[str, str]:
    """Return for each extra that is declared the first package it brings."""
    found: dict[str, str] = {}
    for line in importlib.metadata.requires("featuremask") or ():
        match = _OF_AN_EXTRA.match(line)
        if match and match[2] != "all":
            found.setdefault(match[2], match[1])
    return found


def _findings() -> dict[str, Any]:
    import torch

    return {
        "featuremask": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "packages": {package: installed_version(package) for package in _PACKAGES},
        "extras": {extra: installed_version(package) for extra, package in _extras().items()},
    }


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool) -> None:
    """Show versions, devices, threads and extras.

    \b
    Examples:
      featuremask doctor
      featuremask doctor --json
    """
    findings = _findings()
    if as_json:
        click.echo(json.dumps(findings, indent=2))
        return
    for name, value in findings.items():
        if not isinstance(value, dict):
            click.echo(f"{name:14} {value}")
    for package, version in findings["packages"].items():
        click.echo(f"{package:14} {version or 'not found'}")
    for extra, version in findings["extras"].items():
        missing = f"missing; pip install 'featuremask[{extra}]'"
        click.echo(f"extra {extra:8} {version or missing}")
