"""`featuremask select`."""

import json
from pathlib import Path
from typing import Any

import click

from featuremask.cli._console import Console
from featuremask.cli._options import (
    as_request,
    folder_option,
    method_option,
    quiet_option,
    request_options,
)

__all__ = ["command"]


@click.command("select")
@request_options
@method_option
@folder_option("featuremask-out")
@click.option("--plan", "only_plan", is_flag=True, help="Predict time and memory, and stop.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@quiet_option
def command(out: Path, only_plan: bool, as_json: bool, quiet: bool, **words: Any) -> None:
    """Select columns of the tables in PATH... and judge them on rows held out.

    PATH is a CSV, Parquet, Feather, NPZ, MATLAB or h5ad file, a folder or a pattern. Text, dates
    and gaps are taken as they are; identifiers and constant columns are left out and named. A
    fifth of the rows is held out to judge the choice.

    The folder gets selected.csv (rank, column, score, share, stability), ranking.csv (all
    columns), the reduced table, selector.fm (for `apply` and featuremask.load), run.json
    (everything to repeat it), and report.html.

    Several processes train together, each on its part of the rows:
    torchrun --nproc-per-node 2 -m featuremask select PATH...

    \b
    Examples:
      featuremask select churn.csv --target churned -k 30 -o out/
      featuremask select 'logs/*.parquet' -t price -k 0.1 --time sold_at
      featuremask select visits.csv -t ill -k 20 --split-by patient --keep age --drop 'raw_*'
      featuremask select places.csv -t rent -k 5 --group place=lat,lon --plan
      featuremask select genes.npz -k 50 --json -q
      featuremask select --config select.toml churn.csv
    """
    from featuremask import workflow
    from featuremask.training import launched_rank

    request, console = as_request(**words), Console(quiet)
    if only_plan:
        if launched_rank() == 0:
            _print_plan(workflow.plan(request, console), as_json)
        return
    result, written = workflow.select_to_folder(request, out, console)
    if launched_rank() > 0:
        return
    if as_json:
        click.echo(json.dumps(workflow.result_as_dict(result), indent=1))
        return
    for line in result.lines():
        click.echo(line)
    click.echo(f"written to {out}: {', '.join(path.name for path in written)}")


def _print_plan(plan: Any, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(plan.to_dict(), indent=1))
        return
    for line in plan.lines():
        click.echo(line)
