"""A folder of what was built before, for every process of a user: content-addressed, never changed.

One rename puts a whole build under its key, so that a build that was interrupted leaves nothing
under it. A process that finds somebody building waits, and takes what was built meanwhile. A key
holds a digest of everything that goes in, the builder's own source included.
"""

from __future__ import annotations

import os
import shutil
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from threading import local
from time import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KEPT_SECONDS: Final = 30 * 86_400
"""After its last use, something is kept no longer."""

MOST: Final = 12
"""Of what nobody used for `IDLE_SECONDS`, so many are kept: a stage needs five, some 50 MB each."""

IDLE_SECONDS: Final = 3600
"""Longer than any build, in which another process may be reading."""

UNFINISHED: Final = ".new-"

_thread: Final = local()
"""Whether this thread is building: it does not wait for itself."""


@dataclass(frozen=True, slots=True)
class Cache:
    """What was built before.

    Args:
        folder: where.
        otherwise: the folder for what cannot be kept there, or was put there by another user.
    """

    folder: Path
    otherwise: Path | None = None

    @classmethod
    def of_user(cls, otherwise: Path) -> Cache:
        """The one that all projects of a user share.

        Args:
            otherwise: the folder where the user has no home, or its own cannot be written.
        """
        try:
            home = os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()
            folder = Path(home) / "reward-functions"
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.utime(folder)
        except (OSError, RuntimeError):  # RuntimeError: nobody knows the home
            return cls(otherwise)
        return cls(folder, otherwise) if os.access(folder, os.W_OK) else cls(otherwise)

    def folder_of(
        self,
        key: str,
        make: Callable[[Path], None],
        whole: Callable[[Path], bool] = Path.is_dir,
    ) -> Path:
        """The folder under a key, made where it is not there yet.

        Args:
            key: a digest of what is in it.
            make: fills an empty folder.
            whole: whether a folder still is what was made; else it is made again.
        """
        try:
            return self._folder_of(key, make, whole)
        except PermissionError:
            if self.otherwise is None:
                raise
            return Cache(self.otherwise).folder_of(key, make, whole)

    def _folder_of(
        self, key: str, make: Callable[[Path], None], whole: Callable[[Path], bool]
    ) -> Path:
        found = self.folder / key
        if found.is_dir() and not whole(found):
            self._discard(found)
        if not found.is_dir():
            self.folder.mkdir(parents=True, exist_ok=True)
            with _alone(self.folder):
                if not found.is_dir():
                    self._make(found, make)
        os.utime(found)
        return found

    def _make(self, found: Path, make: Callable[[Path], None]) -> None:
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

    def _discard(self, found: Path) -> None:
        """Take away what is broken, in one step, as somebody else may be doing the same."""
        broken = Path(mkdtemp(dir=self.folder, prefix=UNFINISHED))
        with suppress(FileNotFoundError):
            found.rename(broken / found.name)
        shutil.rmtree(broken, ignore_errors=True)

    def _forget(self) -> None:
        """Remove what nobody used for long, and what was never finished."""
        idle = {path: age for path in self.folder.iterdir() if (age := _age(path)) > IDLE_SECONDS}
        latest = sorted(idle, key=idle.__getitem__)
        for place, path in enumerate(latest):
            unfinished = path.name.startswith(UNFINISHED)
            if place >= MOST or unfinished or idle[path] > KEPT_SECONDS:
                shutil.rmtree(path, ignore_errors=True)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """No other thread or process builds in a folder; where nothing can be locked, it may."""
    if getattr(_thread, "builds", False):
        yield
        return
    with ExitStack() as stack:
        with suppress(ImportError, OSError):
            from fcntl import LOCK_EX, flock  # noqa: PLC0415 - Windows has none

            descriptor = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, descriptor)
            flock(descriptor, LOCK_EX)
        _thread.builds = True
        stack.callback(setattr, _thread, "builds", False)
        yield


def _age(path: Path) -> float:
    """Seconds since something was used; none, where somebody else just removed it."""
    try:
        return time() - path.stat().st_mtime
    except OSError:
        return 0.0
