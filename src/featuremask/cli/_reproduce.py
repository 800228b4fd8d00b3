"""`featuremask reproduce`."""

from pathlib import Path

import click

__all__ = ["command"]

_FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command("reproduce")
@click.argument("suite", default="paper")
@click.option("--plan", "only_plan", is_flag=True, help="Print what would run, and for how long.")
@click.option("--smoke", is_flag=True, help="All experiments on small data; under five minutes.")
@click.option("--only", multiple=True, help="An experiment or a number of a section; repeatable.")
@click.option("--method", multiple=True, help="Only this method; repeatable.")
@click.option("--dataset", multiple=True, help="Only this dataset; repeatable.")
@click.option("--seed", multiple=True, type=int, help="Only this seed; repeatable.")
@click.option("--jobs", default=1, show_default=True, type=click.IntRange(1), help="Processes.")
@click.option(
    "--backend",
    type=click.Choice(["loky", "dask", "ray"]),
    default="loky",
    show_default=True,
    help="Whose processes: of this machine, or of a cluster.",
)
@click.option("--cluster", metavar="ADDRESS", help="Of Dask or Ray; without it one starts here.")
@click.option(
    "--shard", default="1/1", show_default=True, help="Part i of n, for several machines."
)
@click.option("--retry-failed", is_flag=True, help="Make runs that failed again.")
@click.option("--results", type=_FOLDER, help="Folder of the records.  [default: in the suite]")
def command(
    suite: str,
    only_plan: bool,
    smoke: bool,
    only: tuple[str, ...],
    method: tuple[str, ...],
    dataset: tuple[str, ...],
    seed: tuple[int, ...],
    jobs: int,
    backend: str,
    cluster: str | None,
    shard: str,
    retry_failed: bool,
    results: Path | None,
) -> None:
    """Run the experiments of a suite that have no record yet.

    It may be interrupted at any time; called again it goes on.

    \b
    Examples:
      featuremask reproduce paper --plan
      featuremask reproduce paper --only table2 --seed 0 --jobs 2
      featuremask reproduce paper --smoke --results /tmp/smoke
      featuremask reproduce paper --shard 2/8
      featuremask reproduce paper --backend dask --cluster tcp://head:8786
    """
    from featuremask.experiments import Choice, RunOptions, Shard, reproduce

    options = RunOptions(
        jobs,
        Shard.parsed(shard),
        Choice(method, dataset, seed),
        retry_failed,
        backend=backend,
        cluster=cluster,
    )
    lines = reproduce(suite, options, only=only, smoke=smoke, results=results, only_plan=only_plan)
    for line in lines:
        click.echo(line)
