"""The command and its list of commands; each is loaded when it is called."""

import importlib
from typing import Any

import click

from featuremask import __version__
from featuremask.exceptions import FeatureMaskError

__all__ = ["main"]

_COMMANDS = {
    "apply": ("featuremask.cli._apply", "Copy the columns of a saved selection to another table."),
    "bench": ("featuremask.cli._bench", "Measure how fast featuremask is on this machine."),
    "compare": ("featuremask.cli._compare", "Select by several methods; one table."),
    "datasets": ("featuremask.cli._datasets", "List, fetch and find data sets."),
    "demo": ("featuremask.cli._demo", "Select 10 pixels of scikit-learn's digits; takes seconds."),
    "doctor": ("featuremask.cli._doctor", "Show versions, devices, threads and extras."),
    "explain": ("featuremask.cli._explain", "Say why a column was chosen, or was not."),
    "reproduce": (
        "featuremask.cli._reproduce",
        "Run the paper's experiments; goes on where it stopped.",
    ),
    "report": (
        "featuremask.cli._report",
        "Build tables and figures from the records of experiments.",
    ),
    "select": ("featuremask.cli._select", "Select columns of a table and judge them."),
}


class _LazyGroup(click.Group):
    """A group whose commands are imported when they are called.

    An error that featuremask raises on purpose, or that a file gives, is printed as one message,
    without a traceback. Ctrl-C ends with the code that shells expect.
    """

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (FeatureMaskError, OSError) as error:
            raise click.ClickException(str(error)) from error
        except KeyboardInterrupt as stop:
            click.echo(f"Interrupted. {stop}".rstrip(), err=True)
            ctx.exit(_INTERRUPTED)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        command: click.Command = importlib.import_module(_COMMANDS[name][0]).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, _COMMANDS[name][1]) for name in self.list_commands(ctx)])


_INTERRUPTED = 130

_SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group(cls=_LazyGroup, context_settings=_SETTINGS)
@click.version_option(__version__)
def main() -> None:
    """Feature selection with neural networks.

    \b
    Examples:
      featuremask select churn.csv --target churned -k 30
      featuremask demo                 try it on bundled data
      featuremask demo --help          options and examples of a command

    \b
    Exit codes:
      0    done
      1    the data or a file cannot be used; the message says why
      2    the options are wrong
      130  interrupted; no file is left half-written, and the message says what is kept

    \b
    Completion of commands and options (bash; for zsh or fish put its name in place of bash):
      eval "$(_FEATUREMASK_COMPLETE=bash_source featuremask)"

    Progress goes to the error stream: bars on a terminal (NO_COLOR=1 for none of its colors),
    lines elsewhere.
    """
