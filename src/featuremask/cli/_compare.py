"""`featuremask compare`."""

from pathlib import Path
from typing import Any

import click

from featuremask._words import METHODS
from featuremask.cli._console import Console
from featuremask.cli._options import as_request, folder_option, quiet_option, request_options

__all__ = ["command"]


@click.command("compare")
@request_options
@click.option(
    "--method",
    "-m",
    "methods",
    multiple=True,
    type=click.Choice(list(METHODS)),
    help="Repeatable.  [default: all]",
)
@folder_option("featuremask-comparison")
@quiet_option
def command(methods: tuple[str, ...], out: Path, quiet: bool, **words: Any) -> None:
    """Select by several methods from PATH... and show what the columns of each are worth.

    All methods see the same rows and are judged on the same rows held out, for several numbers of
    columns. The folder gets comparison.csv and comparison.txt.

    \b
    Examples:
      featuremask compare churn.csv -t churned -k 20
      featuremask compare churn.csv -t churned -k 20 -m fm -m afs -m random
    """
    from featuremask import workflow

    found = workflow.compare(as_request(**words), methods or tuple(METHODS), Console(quiet))
    written = workflow.write_comparison(found, out)
    for line in workflow.comparison_lines(found):
        click.echo(line)
    click.echo(f"written to {out}: {', '.join(path.name for path in written)}")
