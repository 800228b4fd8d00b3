"""What is asked for, in plain values."""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Self

from featuremask._words import METHODS, joined
from featuremask.exceptions import FileFormatError, InputError

__all__ = ["Request"]


@dataclass(frozen=True, kw_only=True)
class Request:
    """What to select from which files.

    Parameters
    ----------
    paths : tuple of str
        Files, folders or patterns.
    target : str or None, default=None
        Column (or array of an archive) to predict; None selects without a target.
    k : int, float, "auto" or None, default=None
        How many columns: a count, a share in (0, 1), "auto", or None for half.
    method : str, default="fm"
        A key of `METHODS`.
    objective : {"auto", "classification", "regression", "reconstruction"}, default="auto"
        "auto" reads the target.
    groups : mapping of str to tuple of str, default={}
        Columns chosen or dropped as one, by the name of the group.
    keep, drop : tuple of str, default=()
        Columns that are always chosen, or left out; patterns with ``*`` are allowed.
    split_by : str or None, default=None
        Rows of one value of this column are held out together; it is no feature.
    time : str or None, default=None
        The latest rows by this column are held out; it is no feature.
    seed : int, default=0
        Of all randomness.
    device : str, default="auto"
        Where to train.
    max_seconds : float or None, default=None
        Time after which training ends.
    resamples : int, default=0
        How often to select again from halves of the rows, for the stability of each column; even.
    test : tuple of str, default=()
        Files with later rows, to see which columns moved.
    checkpoint : str or None, default=None
        Folder that keeps the state of training; the same request goes on from there.

    Examples
    --------
    >>> request = Request(paths=("a.csv",), target="y", k=3)
    >>> request.command()
    'featuremask select a.csv --target y -k 3 --seed 0'
    >>> Request.from_dict(request.to_dict()) == request
    True
    """

    paths: tuple[str, ...]
    target: str | None = None
    k: int | float | str | None = None
    method: str = "fm"
    objective: str = "auto"
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    split_by: str | None = None
    time: str | None = None
    seed: int = 0
    device: str = "auto"
    max_seconds: float | None = None
    resamples: int = 0
    test: tuple[str, ...] = ()
    checkpoint: str | None = None

    def __post_init__(self) -> None:
        if not self.paths:
            raise InputError("a file to select from is needed; got none. Name a file or folder.")
        if self.method not in METHODS:
            raise InputError(f"method must be one of {', '.join(METHODS)}; got {self.method!r}.")
        if self.split_by is not None and self.time is not None:
            raise InputError(
                "rows are held out by groups (split-by) or by time, not by both; got "
                f"{self.split_by!r} and {self.time!r}. Leave one of them out."
            )
        if self.resamples < 0 or self.resamples % 2:
            raise InputError(
                f"resamples must be an even number, for halves come in pairs; got "
                f"{self.resamples!r}."
            )
        names = self.aside()
        if len(set(names)) < len(names):
            raise InputError(
                f"the target and the columns that rows are split by must differ; got {names}."
            )

    def aside(self) -> tuple[str, ...]:
        """Return the columns that are no features."""
        return tuple(name for name in (self.target, self.split_by, self.time) if name is not None)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, fit for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Read what `to_dict` returned, also after a way through JSON."""
        known = {item.name for item in fields(cls)}
        if not known.issuperset(values) or "paths" not in values:
            raise FileFormatError(
                f"the settings of a run have the keys {sorted(known)}; got {sorted(values)}. It "
                "may be of a later version of featuremask."
            )
        plain: dict[str, Any] = {
            name: tuple(v) if isinstance(v, list) else v for name, v in values.items()
        }
        groups = {name: tuple(columns) for name, columns in plain.pop("groups", {}).items()}
        return cls(**plain, groups=groups)

    def command(self) -> str:
        """Return the command that asks for the same."""
        return shlex.join(["featuremask", "select", *self.paths, *self._options()])

    def _options(self) -> Iterator[str]:
        single = {"--target": self.target, "-k": self.k, "--method": self.method}
        single |= {"--objective": self.objective, "--split-by": self.split_by, "--time": self.time}
        single |= {"--device": self.device, "--max-seconds": self.max_seconds}
        single |= {"--resamples": self.resamples or None, "--checkpoint": self.checkpoint}
        usual = {"--method": "fm", "--objective": "auto", "--device": "auto"}
        for option, value in single.items():
            if value is not None and value != usual.get(option):
                yield from (option, str(value))
        yield from ("--seed", str(self.seed))
        for name, columns in self.groups.items():
            yield from ("--group", f"{name}={joined(columns)}")
        several = {"--keep": self.keep, "--drop": self.drop, "--test": self.test}
        for option, values in several.items():
            for value in values:
                yield from (option, value)
