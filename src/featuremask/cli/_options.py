"""Options that several commands share, and how they become a request."""

import math
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from featuremask._words import METHODS, joined, parted
from featuremask.exceptions import InputError

if TYPE_CHECKING:
    from featuremask.workflow import Request

__all__ = ["as_request", "folder_option", "method_option", "quiet_option", "request_options"]

F = TypeVar("F", bound=Callable[..., Any])


def _count(ctx: click.Context, param: click.Parameter, value: str | None) -> Any:
    """Read a number of columns, a share of them, or "auto"."""
    if value is None or value == "auto":
        return value
    for kind, most in ((int, math.inf), (float, 1.0)):
        try:
            count = kind(value)
        except ValueError:
            continue
        if 0 < count <= most:
            return count
    raise click.BadParameter(
        f"{value!r} is no number of columns from 1, no share such as 0.1 up to 1.0, not auto."
    )


def _groups(
    ctx: click.Context, param: click.Parameter, values: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """Read groups of columns, each NAME=COLUMN,COLUMN; those of one name are joined."""
    groups: dict[str, tuple[str, ...]] = {}
    for value in values:
        label, _, columns = value.partition("=")
        names = parted(columns)
        if not label or not names:
            raise click.BadParameter(f"{value!r} is not of the form NAME=COLUMN,COLUMN.")
        groups[label] = groups.get(label, ()) + names
    return groups


def _with_config(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    """Take the options of a TOML file for those that are not given."""
    if value is None:
        return
    try:
        found = tomllib.loads(Path(value).read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise click.BadParameter(f"{value} is no TOML file: {error}.") from error
    settings = {_NAMES.get(key, key.replace("-", "_")): entry for key, entry in found.items()}
    known = {str(p.name) for p in ctx.command.params if p.expose_value}
    unknown = sorted(set(settings) - known)
    if unknown:
        raise click.BadParameter(
            f"{value} sets {unknown[0]!r}, which is no option; options are "
            f"{', '.join(sorted(known))}."
        )
    if isinstance(settings.get("groups"), dict):
        settings["groups"] = [f"{name}={joined(v)}" for name, v in settings["groups"].items()]
    ctx.default_map = {**(ctx.default_map or {}), **settings}


_NAMES = {"group": "groups"}
"""Of options that are called otherwise inside."""


_REQUEST: Sequence[Callable[[F], F]] = (
    click.argument("paths", nargs=-1, required=True, metavar="PATH..."),
    click.option("--target", "-t", metavar="COLUMN", help="What to predict; without it, rebuild."),
    click.option(
        "-k",
        "k",
        callback=_count,
        metavar="NUMBER",
        help="How many: 30, 0.1 or auto.  [default: half]",
    ),
    click.option(
        "--objective",
        type=click.Choice(["auto", "classification", "regression", "reconstruction"]),
        default="auto",
        show_default=True,
        help="How to read the target.",
    ),
    click.option(
        "--group",
        "groups",
        multiple=True,
        callback=_groups,
        metavar="NAME=COLUMNS",
        help="Columns chosen or dropped as one, as place=lat,lon; repeatable.",
    ),
    click.option("--keep", multiple=True, metavar="COLUMN", help="Always choose; repeatable."),
    click.option(
        "--drop", multiple=True, metavar="COLUMN", help="Leave out, as raw_*; repeatable."
    ),
    click.option("--split-by", metavar="COLUMN", help="Hold rows of one value out together."),
    click.option("--time", metavar="COLUMN", help="Hold the latest rows out."),
    click.option(
        "--seed",
        type=click.IntRange(0, 2**32 - 1),
        default=0,
        show_default=True,
        help="Of all randomness.",
    ),
    click.option("--device", default="auto", show_default=True, help="cpu, cuda or auto."),
    click.option(
        "--max-seconds",
        type=click.FloatRange(0, min_open=True),
        help="End training after this time.",
    ),
    click.option(
        "--resamples",
        type=click.IntRange(0),
        default=0,
        help="Select so often from halves of the rows, for stability; even.",
    ),
    click.option(
        "--checkpoint",
        metavar="FOLDER",
        help="Keep the state of training there, and go on from it when called again.",
    ),
    click.option("--test", multiple=True, metavar="PATH", help="Later rows: which columns moved?"),
    click.option(
        "--config",
        type=click.Path(exists=True, dir_okay=False),
        is_eager=True,
        expose_value=False,
        callback=_with_config,
        help="TOML file with options by their names; those given here win.",
    ),
)


def request_options(command: F) -> F:
    """Give a command the arguments and options that make up a request."""
    for option in reversed(_REQUEST):
        command = option(command)
    return command


def folder_option(default: str) -> Callable[[F], F]:
    """Return the option for the folder to write to."""
    return click.option(
        "-o",
        "--out",
        type=click.Path(file_okay=False, path_type=Path),
        default=Path(default),
        show_default=True,
        help="Folder to write to; other files in it are left alone.",
    )


quiet_option: Callable[[F], F] = click.option(
    "-q", "--quiet", is_flag=True, help="Show no progress."
)

method_option: Callable[[F], F] = click.option(
    "--method", "-m", type=click.Choice(list(METHODS)), default="fm", show_default=True
)


def as_request(**words: Any) -> "Request":
    """Return a request from the values of `request_options`; what contradicts is a wrong option."""
    from featuremask.workflow import Request

    try:
        return Request(**words)
    except InputError as error:
        raise click.UsageError(str(error)) from error
