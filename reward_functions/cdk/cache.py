"""A folder of what was built before, for every process of a user: content-addressed, never changed.

What is under a key was put there by one rename, whole, so that two processes may build the same at
once and a build that was interrupted leaves nothing under it. A key holds a digest of everything
that goes in, the builder's own source included.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from time import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

KEPT_SECONDS: Final = 30 * 86_400
"""After its last use, something is kept no longer."""

MOST: Final = 12
"""Of what nobody used for `IDLE_SECONDS`, so many are kept: a stage needs five, some 50 MB each."""

IDLE_SECONDS: Final = 3600
"""Longer than any build, in which another process may be reading."""

UNFINISHED: Final = ".new-"


@dataclass(frozen=True, slots=True)
class Cache:
    """What was built before.

    Args:
        folder: where.
    """

    folder: Path

    @classmethod
    def of_user(cls, otherwise: Path) -> Cache:
        """The one that all projects of a user share.

        Args:
            otherwise: the folder where the user's own cannot be written.
        """
        home = os.environ.get("XDG_CACHE_HOME") or str(Path("~/.cache").expanduser())
        folder = Path(home) / "reward-functions"
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError:
            folder = otherwise
        return cls(folder if os.access(folder, os.W_OK) else otherwise)

    def folder_of(self, key: str, make: Callable[[Path], None]) -> Path:
        """The folder under a key, made where it is not there yet.

        Args:
            key: a digest of what is in it.
            make: fills an empty folder.
        """
        found = self.folder / key
        if not found.is_dir():
            self.folder.mkdir(parents=True, exist_ok=True)
            made = Path(mkdtemp(dir=self.folder, prefix=UNFINISHED))
            try:
                make(made)
                made.rename(found)
            except OSError:
                if not found.is_dir():  # else somebody was faster
                    raise
            finally:
                shutil.rmtree(made, ignore_errors=True)
            self._forget()
        os.utime(found)
        return found

    def _forget(self) -> None:
        """Remove what nobody used for long, and what was never finished."""
        idle = {path: age for path in self.folder.iterdir() if (age := _age(path)) > IDLE_SECONDS}
        latest = sorted(idle, key=idle.__getitem__)
        for place, path in enumerate(latest):
            unfinished = path.name.startswith(UNFINISHED)
            if place >= MOST or unfinished or idle[path] > KEPT_SECONDS:
                shutil.rmtree(path, ignore_errors=True)


def _age(path: Path) -> float:
    """Seconds since something was used; none, where somebody else just removed it."""
    try:
        return time() - path.stat().st_mtime
    except OSError:
        return 0.0
