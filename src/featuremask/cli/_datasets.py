"""`featuremask datasets`."""

import json

import click

__all__ = ["command"]


@click.group("datasets")
def command() -> None:
    """List, fetch and find data sets.

    \b
    Examples:
      featuremask datasets list
      featuremask datasets fetch mnist isolet
      featuremask datasets where mnist
      featuremask datasets add my-data.toml
    """


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_sets(as_json: bool) -> None:
    """List all data sets that can be loaded by name."""
    from featuremask.datasets import describe_all

    found = describe_all()
    if as_json:
        click.echo(json.dumps(found, indent=2, default=str))
        return
    click.echo(f"{'name':15} {'rows':>13} {'columns':>8} {'classes':>8}  here  description")
    for entry in found:
        rows = f"{entry['n_train']}+{entry['n_test']}" if entry["n_train"] else "?"
        here = "yes" if entry["is_here"] else "no"
        click.echo(
            f"{entry['name']:15} {rows:>13} {entry['n_features'] or '?':>8} "
            f"{entry['n_classes'] or '-':>8}  {here:4}  {entry['description']}"
        )


@command.command("fetch")
@click.argument("names", nargs=-1, required=True)
@click.option("--force", is_flag=True, help="Download again what is here already.")
def fetch_sets(names: tuple[str, ...], force: bool) -> None:
    """Download data sets by NAME, check them, and say where they are."""
    from featuremask.datasets import fetch

    for name in names:
        for path in fetch(name, force=force):
            click.echo(f"{name}: {path}")


@command.command("where")
@click.argument("name")
def where_is(name: str) -> None:
    """Say where the files of a data set are, or that they are missing."""
    from featuremask.datasets import where

    for file, path in where(name).items():
        click.echo(f"{file}: {path or 'missing; featuremask datasets fetch ' + name}")


@command.command("add")
@click.argument("toml", type=click.Path(exists=True, dir_okay=False))
def add_set(toml: str) -> None:
    """Register the data set that a TOML file describes, for this user."""
    from featuremask.datasets import register

    click.echo(f"registered {register(toml, remember=True)!r}")
