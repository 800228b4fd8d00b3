"""`featuremask report`."""

from pathlib import Path

import click

__all__ = ["command"]


@click.command("report")
@click.argument("suite", default="paper")
@click.option("--smoke", is_flag=True, help="The records are those of a smoke run.")
@click.option("--no-figures", is_flag=True, help="Write page and tables only.")
@click.option(
    "--results",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the records.  [default: in the suite]",
)
def command(suite: str, smoke: bool, no_figures: bool, results: Path | None) -> None:
    """Build tables and figures from the records of a suite's runs, in seconds.

    Runs that have no record yet show as "not run".

    \b
    Examples:
      featuremask report paper
      featuremask report paper --smoke --results /tmp/smoke
    """
    from featuremask.experiments import build_report

    for path in build_report(suite, results, smoke=smoke, figures=not no_figures):
        click.echo(path)
