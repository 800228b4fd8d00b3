"""`featuremask demo`."""

from pathlib import Path

import click

__all__ = ["command"]


@click.command("demo")
@click.option(
    "-o",
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("demo-out"),
    show_default=True,
    help="Folder for the picture.",
)
def command(out: Path) -> None:
    """Select 10 of the 64 pixels of scikit-learn's digits and judge them.

    \b
    Examples:
      featuremask demo
      featuremask demo --out /tmp/demo
    """
    from featuremask._demo import run_demo

    result = run_demo(out)
    click.echo("Accuracy of a random forest on 450 digits that were held back:")
    click.echo(f"  all 64 pixels          {result.all_features:6.1%}")
    click.echo(f"  the 10 selected        {result.selected:6.1%}")
    click.echo(f"  10 at random (20 x)    {result.random:6.1%}")
    click.echo(f"Selected in {result.seconds:.1f} s, best first: {', '.join(result.names)}")
    click.echo(f"Picture: {result.picture}")
