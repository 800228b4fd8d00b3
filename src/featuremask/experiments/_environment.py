"""With what a run was made: versions, machine, revision of the source."""

import os
import platform
import subprocess
from pathlib import Path
from typing import Any

import featuremask
from featuremask._versions import installed_version

__all__ = ["environment"]

_PACKAGES = ("torch", "scikit-learn", "numpy", "scipy", "umap-learn")


def environment() -> dict[str, Any]:
    """Return plain values that are the same as long as nothing relevant changes."""
    return {
        "featuremask": featuremask.__version__,
        "revision": _revision(),
        "python": platform.python_version(),
        **{name: version for name in _PACKAGES if (version := installed_version(name)) is not None},
        "system": platform.system(),
        "machine": platform.machine(),
        "processor": _processor(),
        "cores": os.cpu_count(),
    }


def _revision() -> str:
    """Return the git revision of the source, with a plus if it was changed since; or "unknown"."""
    folder = Path(__file__).resolve().parent.parent
    revision = _git(folder, "rev-parse", "--short=12", "HEAD")
    if not revision:
        return "unknown"
    changed = _git(folder, "status", "--porcelain", "--untracked-files=no", "--", str(folder))
    return revision + ("+" if changed else "")


def _git(folder: Path, *words: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *words], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor()
