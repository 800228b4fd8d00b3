"""Words of the command: the short names of methods, and lists of names in one word."""

import csv
import io
from collections.abc import Iterable, Mapping
from types import MappingProxyType

__all__ = ["METHODS", "joined", "parted"]

METHODS: Mapping[str, str] = MappingProxyType(
    {
        "fm": "FeatureMaskSelector",
        "afs": "AFSSelector",
        "conae": "ConcreteSelector",
        "cancelout": "CancelOutSelector",
        "bsf": "BSFSelector",
        "dfs": "DFSSelector",
        "fsdnn": "FSDNNSelector",
        "seqatt": "SequentialAttentionSelector",
        "sand": "SANDSelector",
        "random": "RandomSelector",
    }
)
"""From the short name of a method to its selector."""


def joined(names: Iterable[str]) -> str:
    """Return names as one word, with commas between; a name with a comma is quoted.

    Examples
    --------
    >>> joined(["lat", "lon, deg"])
    'lat,"lon, deg"'
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(names)
    return text.getvalue()


def parted(word: str) -> tuple[str, ...]:
    """Return the names that `joined` made one word of.

    Examples
    --------
    >>> parted('lat,"lon, deg"')
    ('lat', 'lon, deg')
    """
    return tuple(next(csv.reader([word]), []))
