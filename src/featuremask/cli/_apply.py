"""`featuremask apply`."""

from pathlib import Path

import click

__all__ = ["command"]

_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command("apply")
@click.argument("selector", type=_FILE)
@click.argument("source", metavar="IN")
@click.argument("out", type=_FILE)
@click.option("--with", "also", multiple=True, metavar="COLUMN", help="Copy it too; repeatable.")
def command(selector: Path, source: str, out: Path, also: tuple[str, ...]) -> None:
    """Copy the columns that SELECTOR chose from the table IN to OUT.

    SELECTOR is the selector.fm of `featuremask select`. IN is a file, folder or pattern; OUT is of
    the same kind. CSV, Parquet and Feather files may be larger than memory.

    \b
    Examples:
      featuremask apply out/selector.fm new.csv reduced.csv
      featuremask apply out/selector.fm 'days/*.parquet' all.parquet --with id --with churned
    """
    from featuremask.workflow import apply_selector

    n_rows = apply_selector(selector, [source], out, also)
    click.echo(f"{out}: {n_rows:,} rows")
