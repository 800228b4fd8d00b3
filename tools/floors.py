"""Print a requirements file of the oldest versions that pyproject.toml declares, without torch.

PyTorch is left out: its floor is the version that `constraints.txt` names.
"""

import tomllib
from pathlib import Path

_EXTRAS = ("io", "h5ad", "plot", "datasets")
_GROUP = "test"


def floors(pyproject: str) -> list[str]:
    r"""Return pins of all declared lower bounds: of the core, the extras and the tests.

    Examples
    --------
    >>> floors('[project]\\ndependencies = ["torch>=2", "numpy>=1.26"]')
    ['numpy==1.26']
    """
    declared = tomllib.loads(pyproject)
    project = declared["project"]
    extras = project.get("optional-dependencies", {})
    wanted = [*project["dependencies"], *(one for name in _EXTRAS for one in extras.get(name, ()))]
    wanted += declared.get("dependency-groups", {}).get(_GROUP, [])
    return [one.replace(">=", "==") for one in wanted if not one.startswith("torch>=")]


if __name__ == "__main__":
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    print("\n".join(floors(text)))
