"""The command `featuremask`: one file for each of its commands."""

from featuremask.cli._main import main

__all__ = ["main"]
