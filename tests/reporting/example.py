"""A summary with everything in it, and names that try to be more than text."""

import dataclasses
from typing import Any

from featuremask.reporting import (
    Column,
    Curve,
    DataSummary,
    Note,
    RedundancyGroup,
    Setting,
    Summary,
)

HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "{{ 7 * 7 }}",
    "a\r\nb \"'`&\\",
    "",
    "$\\frac{$",
)


def make_summary(names: tuple[str, ...] = HOSTILE, k: int = 3, **changes: Any) -> Summary:
    """Return a summary of columns that rank in the order of their names."""
    n = len(names)
    ks = sorted({1, k, max(n // 2, 1), n})
    summary = Summary(
        title="a plant",
        method="FeatureMaskSelector",
        objective="classification",
        k=k,
        named=True,
        columns=tuple(
            Column(i + 1, name, n - 1 - i, i + 1, 1.0 / (i + 1), 1.0 / n, i / n)
            for i, name in enumerate(names)
        ),
        data=DataSummary(n, 1000, n, "2 classes: a, b", {"number": n}, 0.02, (("id", "unique"),)),
        curve=Curve(
            "accuracy",
            "random forest, 5 folds",
            [(value, 0.9 - 0.4 / value, 0.02) for value in ks],
            [(value, 0.5, 0.03) for value in ks],
            (n, 0.9, 0.01),
        ),
        redundancy=(RedundancyGroup(names[:2], names[k : k + 1], 0.95),),
        notes=(Note("duplicates", f"{names[0]} is there twice.", (names[0],)),),
        settings=(Setting("random_state", "0", True),),
        versions={"featuremask": "0.1.0"},
        repeat=("featuremask select data.csv",),
    )
    return dataclasses.replace(summary, **changes)
