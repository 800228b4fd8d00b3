"""Files as they were when they were opened, and where what is known of them is kept."""

import os
from dataclasses import dataclass
from pathlib import Path

from featuremask.exceptions import InputError

__all__ = ["Stamp", "cache_folder"]


@dataclass(frozen=True)
class Stamp:
    """A file, its size and its time of change."""

    path: Path
    size: int
    time: int

    @classmethod
    def of(cls, path: Path) -> "Stamp":
        """Return the stamp of a file as it is now."""
        if not path.is_file():
            raise FileNotFoundError(f"There is no file {str(path)!r}.")
        found = path.stat()
        return cls(path, found.st_size, found.st_mtime_ns)

    def check(self) -> None:
        """Raise if the file has changed since."""
        if Stamp.of(self.path) != self:
            raise InputError(
                f"{str(self.path)!r} has changed since it was opened; rows of two versions would "
                "be mixed. Leave the files alone while they are read, and start again."
            )

    def __str__(self) -> str:
        return f"{self.path.name} {self.size} {self.time}"


def cache_folder() -> Path:
    """Return the user's folder for what can be computed again; it need not exist yet."""
    named = os.environ.get("FEATUREMASK_CACHE")
    if named:
        return Path(named).expanduser() / "statistics"
    user = os.environ.get("XDG_CACHE_HOME")
    root = Path(user).expanduser() if user else Path.home() / ".cache"
    return root / "featuremask" / "statistics"
