"""List the packages that featuremask needs, with versions and licenses; write an SBOM.

    python tools/licenses.py [--extra all] [--sbom out/sbom.cdx.json]

The list is what is installed of the declared dependencies and of theirs. It ends with an error if a
license is not known to be compatible with BSD-3-Clause.
"""

import argparse
import importlib.metadata as metadata
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = "featuremask"
COMPATIBLE = re.compile(
    r"BSD|MIT|Apache|PSF|Python Software Foundation|ISC|Unlicense|0BSD|MPL|Mozilla|HPND|"
    r"Historical Permission|Zlib|CC0|BSL-1|Boost",
    re.IGNORECASE,
)
STRICT = re.compile(r"\bA?GPL|LGPL|GNU|Proprietary|SSPL|Business Source", re.IGNORECASE)


def needed(name: str, extras: tuple[str, ...]) -> Iterator[metadata.Distribution]:
    """Yield the installed packages that a package needs, itself left out, each once."""
    seen, todo = set(), [(name, extras)]
    while todo:
        current, wanted = todo.pop()
        distribution = metadata.distribution(current)
        if current != name:
            yield distribution
        for text in distribution.requires or ():
            requirement = Requirement(text)
            environments = [{"extra": extra} for extra in ("", *wanted)]
            key = canonicalize_name(requirement.name)
            if requirement.marker and not any(map(requirement.marker.evaluate, environments)):
                continue
            if key == canonicalize_name(current):
                todo.append((current, tuple(requirement.extras)))
            elif key not in seen and _installed(key):
                seen.add(key)
                todo.append((key, tuple(requirement.extras)))


def _installed(name: str) -> bool:
    try:
        metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def license_of(distribution: metadata.Distribution) -> str:
    """Return the license that a package declares: as expression, classifier, or first line."""
    said = distribution.metadata
    if said.get("License-Expression"):
        return str(said["License-Expression"])
    classifiers = [
        one.split(" :: ")[-1]
        for one in said.get_all("Classifier", [])
        if one.startswith("License :: ") and one != "License :: OSI Approved"
    ]
    if classifiers:
        return " AND ".join(classifiers)
    return str(said.get("License") or "unknown").strip().splitlines()[0][:60]


def is_compatible(said: str) -> bool:
    """Whether a license lets a BSD-3-Clause package depend on it."""
    choices = re.split(r"\bOR\b", said)
    return any(COMPATIBLE.search(one) and not STRICT.search(one) for one in choices)


def sbom(packages: list[metadata.Distribution]) -> dict[str, Any]:
    """Return a bill of materials in CycloneDX 1.6."""
    components = []
    for one in packages:
        name = canonicalize_name(one.metadata["Name"])
        components.append(
            {
                "type": "library",
                "bom-ref": f"pkg:pypi/{name}@{one.version}",
                "name": name,
                "version": one.version,
                "purl": f"pkg:pypi/{name}@{one.version}",
                "licenses": [{"license": {"name": license_of(one)}}],
            }
        )
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "name": ROOT,
                "version": metadata.version(ROOT),
                "bom-ref": ROOT,
            }
        },
        "components": components,
        "dependencies": [{"ref": ROOT, "dependsOn": [one["bom-ref"] for one in components]}],
    }


def main() -> None:
    """List, write, and fail at a license that does not fit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--extra", action="append", default=[])
    parser.add_argument("--sbom", type=Path)
    arguments = parser.parse_args()
    packages = sorted(
        needed(ROOT, tuple(arguments.extra or ["all"])),
        key=lambda one: canonicalize_name(one.metadata["Name"]),
    )
    for one in packages:
        print(f"{one.metadata['Name']:<24} {one.version:<16} {license_of(one)}")
    if arguments.sbom:
        arguments.sbom.parent.mkdir(parents=True, exist_ok=True)
        arguments.sbom.write_text(json.dumps(sbom(packages), indent=2) + "\n", encoding="utf-8")
    unfit = [one.metadata["Name"] for one in packages if not is_compatible(license_of(one))]
    if unfit:
        sys.exit(f"license not known to be compatible: {', '.join(unfit)}")
    print(f"{len(packages)} packages, all licenses compatible with BSD-3-Clause")


if __name__ == "__main__":
    main()
