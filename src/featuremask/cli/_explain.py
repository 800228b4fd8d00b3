"""`featuremask explain`."""

import json
from dataclasses import asdict
from pathlib import Path

import click

from featuremask.cli._console import Console
from featuremask.cli._options import quiet_option

__all__ = ["command"]


@click.command("explain")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("column")
@click.option("--partners", default=5, show_default=True, help="How many columns like it to show.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@quiet_option
def command(folder: Path, column: str, partners: int, as_json: bool, quiet: bool) -> None:
    """Say why COLUMN was chosen, or was not, in the run whose results are in FOLDER.

    Its score and rank, the columns most like it, how far the other chosen columns tell the same,
    and what the choice is worth with it and without it on the rows held out.

    \b
    Examples:
      featuremask explain out/ age
      featuremask explain out/ "monthly income" --partners 10
    """
    from featuremask.workflow import explain

    found = explain(folder, column, n_partners=partners, progress=Console(quiet))
    if as_json:
        click.echo(json.dumps(asdict(found), indent=1))
        return
    for line in found.lines():
        click.echo(line)
