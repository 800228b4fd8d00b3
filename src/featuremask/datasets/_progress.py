"""A progress bar with the few methods that pooch calls."""

import sys
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

__all__ = ["ProgressBar"]


class ProgressBar:
    """Bytes of one download, drawn on the error stream if that is a terminal.

    Parameters
    ----------
    title : str
        What to write beside the bar.
    """

    def __init__(self, title: str) -> None:
        self.title = title
        self.total = 0
        self._progress: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> "ProgressBar":
        """Start to draw."""
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

            columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
            self._progress = Progress(*columns, console=Console(stderr=True))
            self._task = self._progress.add_task(self.title, total=None)
            self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Leave the terminal as it was."""
        self.close()

    def update(self, n_bytes: int) -> None:
        """Move on.

        Parameters
        ----------
        n_bytes : int
            How many bytes came in since the last call.
        """
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, advance=n_bytes, total=self.total or None)

    def reset(self) -> None:
        """Go back to the start."""
        if self._progress is not None and self._task is not None:
            self._progress.reset(self._task)

    def close(self) -> None:
        """Stop drawing."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None
