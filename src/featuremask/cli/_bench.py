"""`featuremask bench`."""

import json
from pathlib import Path

import click

__all__ = ["command"]


@click.group("bench")
def command() -> None:
    """Measure how fast featuremask is on this machine.

    \b
    Examples:
      featuremask bench speed --quick
    """


@command.command("speed")
@click.option("--quick", is_flag=True, help="Small sizes, about a minute.")
@click.option("--threads", type=click.IntRange(min=1), help="[default: PyTorch's setting]")
@click.option(
    "--clock",
    type=click.Choice(["wall", "cpu"]),
    default="wall",
    show_default=True,
    help="cpu, with --threads 1, where the machine is busy otherwise.",
)
@click.option(
    "--only",
    type=click.Choice(["epochs", "steps", "rows", "columns", "entries", "members", "memory"]),
    multiple=True,
    help="A part to measure; may be given several times. [default: all]",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--page",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write a Markdown page, with JSON and a plot beside it.",
)
def speed(
    quick: bool,
    threads: int | None,
    clock: str,
    only: tuple[str, ...],
    as_json: bool,
    page: Path | None,
) -> None:
    """Print times as ratios, growth curves and peak memory, all measured in one run.

    \b
    Examples:
      featuremask bench speed --quick
      featuremask bench speed --only members --only memory
      featuremask bench speed --threads 1 --clock cpu --page RESULTS.md
    """
    from featuremask.benchmarking import Timer, run_benchmarks, table, write_results

    results = run_benchmarks(
        Timer("cpu" if clock == "cpu" else "wall", threads),
        quick=quick,
        only=only,
        say=lambda message: click.echo(f"measuring {message}", err=True),
    )
    click.echo(json.dumps(results.as_dict(), indent=2) if as_json else table(results))
    if page is not None:
        for path in write_results(results, page):
            click.echo(path, err=True)
