"""The results of a folder and of the folders below it, kept between two looks.

A look lists the folder again. A file that is as it was is not read again, and of a file of rows
that grew the new lines alone. Hidden files and folders are passed over, and links to folders.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path, PurePosixPath
from threading import RLock
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.core.errors import ConfigurationError
from reward_functions.view.entries import Entry, Facts, slug_of
from reward_functions.view.kinds import recognised
from reward_functions.view.reading import UNREADABLE, Gone, unreadable
from reward_functions.view.rows import RowsResult, RunScores, Scores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reward_functions.view.entries import Kind
    from reward_functions.view.kinds import Result
    from reward_functions.view.samples import ScoredSamples

MOST: Final = 20_000
"""Files that are looked at."""

DEEPEST: Final = 100
"""Levels of folders that are looked at."""

GROWING: Final = 15.0
"""Seconds after the last change in which a file of rows counts as being written."""

RUN: Final = frozenset({"run.json", "manifest.jsonl"})
"""Files of a run over shards, as `scoring.folder` names them."""

PROBLEMS: Final = 5
"""Files that cannot be read and are named below the list."""

APPENDED: Final = ("scores", "run", "rollouts", "trajectories")
"""Kinds that are written row by row."""


class NoFolder(ConfigurationError):
    """There is no such folder, or it may not be listed. The message says which."""


class Unknown(ConfigurationError):
    """No result of the folder has this address by now."""


class ResultList(NamedTuple):
    """The results of a folder.

    Args:
        entries: by their names.
        notes: what was not looked at, a sentence each.
        reading: whether a file is not read to its end yet.
    """

    entries: Sequence[Entry]
    notes: Sequence[str]
    reading: bool


@dataclass
class _Known:
    """A file as it was seen.

    Args:
        stamp: what changes with it.
        changed: when it did, in seconds since 1970.
        kind: None of a file that is no result.
        result: likewise.
        problem: why it cannot be read.
        facts: as the list had them last.
        growing: whether it counted as being written then.
    """

    stamp: tuple[int, ...]
    changed: float
    kind: Kind | None = None
    result: Result | None = None
    problem: str = ""
    facts: Facts | None = None
    growing: bool = False


def folder_named(text: Path) -> Path:
    """The folder, resolved.

    Raises:
        NoFolder: it is missing, is a file, or may not be listed.
    """
    try:
        found = text.resolve(strict=True)
        os.scandir(found).close()
    except FileNotFoundError:
        raise NoFolder(f"{text}: there is no such folder") from None
    except NotADirectoryError:
        raise NoFolder(f"{text} is a file: name the folder that it is in") from None
    except PermissionError:
        raise NoFolder(f"{text} may not be listed: you have no permission") from None
    except (OSError, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise NoFolder(f"{text} cannot be listed: {reason}") from None
    return found


def never() -> bool:
    """Read on to the end."""
    return False


def _not_at_once(enough: Callable[[], bool]) -> Callable[[], bool]:
    """The same, which is never so when it is asked first: each look gets on."""
    asked = count()
    return lambda: next(asked) > 0 and enough()


@dataclass
class Library:
    """The results of a folder; safe to use from many threads.

    Args:
        folder: any path of it.
        spared: folders that are passed over, such as that of a bundle.
        samples: what was scored, whose texts stand beside the scores.
        clock: seconds since 1970.
    """

    folder: Path
    spared: Sequence[Path] = ()
    samples: ScoredSamples | None = None
    clock: Callable[[], float] = time.time
    _known: dict[str, _Known] = field(default_factory=dict)
    _lock: RLock = field(default_factory=RLock)

    def __post_init__(self) -> None:
        self.folder = folder_named(self.folder)
        self.spared = [each.resolve() for each in self.spared]

    def listing(self, enough: Callable[[], bool] = never) -> ResultList:
        """All results by now.

        Args:
            enough: asked now and then whether to stop reading; files that are not read yet are in
                the list without figures, and the next call goes on.

        Raises:
            NoFolder: the folder is gone.
        """
        with self._lock:
            files, notes = self._files()
            enough = _not_at_once(enough)
            met = [name for name in files if name in self._known or not enough()]
            found = [entry for name in met if (entry := self._entry(name, enough))]
            others = [known for name in files if (known := self._known.get(name))]
            others = [known for known in others if known.kind is None]
            notes += [f"{known.problem}." for known in others if known.problem][:PROBLEMS]
            if left := sum(not known.problem for known in others):
                words = "1 file is" if left == 1 else f"{left:,} files are"
                notes.append(f"{words} no result of this project, and left out.")
            if later := len(files) - len(met):
                notes.append(f"{later:,} files are looked at in a moment.")
            reading = any(each.facts.progress.startswith("reading") for each in found)
            return ResultList(found, notes, reading or later > 0)

    def opened(self, slug: str, enough: Callable[[], bool] = never) -> tuple[Entry, Result]:
        """A result by its address, read as far as `enough` lets it.

        Raises:
            Unknown: no result has it.
            Gone: it cannot be read.
        """
        with self._lock:
            enough = _not_at_once(enough)
            names = [name for name in self._files()[0] if slug_of(name) == slug]
            entry = self._entry(names[0], enough) if names else None
            if entry is None:
                raise Unknown("no result of this folder has this address by now: see the list")
            known = self._known[entry.name]
            if known.problem or known.result is None:
                raise Gone(known.problem)
            return entry, known.result

    @property
    def lock(self) -> RLock:
        """Held while a result is shown, so that no other thread reads on in it."""
        return self._lock

    def _files(self) -> tuple[list[str], list[str]]:
        """The names of all files, a run's folder in place of its files; and notes."""
        folder_named(self.folder)
        found: list[str] = []
        notes: list[str] = []
        for name in self._walked(notes):
            if len(found) >= MOST:
                notes.append(f"The first {MOST:,} files are looked at, and no further ones.")
                break
            found.append(name)
        return sorted(found), notes

    def _walked(self, notes: list[str]) -> Iterator[str]:
        def failed(error: OSError) -> None:
            shown = os.path.relpath(error.filename or "", self.folder)
            notes.append(f"{shown} may not be listed: {error.strerror}.")

        for place, folders, files in os.walk(self.folder, onerror=failed):
            here = Path(place)
            folders[:] = sorted(each for each in folders if self._is_shown(here / each))
            within = here.relative_to(self.folder)
            if folders and len(within.parts) >= DEEPEST:
                folders.clear()
                notes.append(f"Folders more than {DEEPEST} levels below are not looked at.")
            if RUN.issubset(files):
                folders.clear()
                yield within.as_posix()
                continue
            yield from ((within / each).as_posix() for each in sorted(files) if each[0] != ".")

    def _is_shown(self, folder: Path) -> bool:
        return not folder.name.startswith(".") and folder not in self.spared

    def _entry(self, name: str, enough: Callable[[], bool]) -> Entry | None:
        """A file in the list; None of one that is no result, or is gone."""
        known = self._seen(name)
        if known is None or known.kind is None:
            return None
        facts = self._facts(known, enough)
        if known.kind == "scores" and not facts.reward:
            facts = self._with_reward(name, facts)
        return Entry(name=name, kind=known.kind, time=known.changed, facts=facts)

    def _with_reward(self, name: str, facts: Facts) -> Facts:
        """The reward of scores is that of the page of `--report` beside them, NAME.html."""
        known = self._seen(str(PurePosixPath(name).with_suffix(".html")))
        if known is None or known.kind != "page":
            return facts
        beside = self._facts(known, never)
        return replace(facts, reward=beside.reward, version=beside.version)

    def _seen(self, name: str) -> _Known | None:
        """A file as it is known by now; None where it is gone."""
        path = self.folder / name
        try:
            stamp, changed = _stamp(path)
        except OSError:
            self._known.pop(name, None)
            return None
        known = self._known.get(name)
        if known is None or known.stamp != stamp:
            fresh = self._met(name, path, _Known(stamp, changed))
            if known is not None and known.result is not None:
                known.result.become(fresh.result)
                if type(known.result) is type(fresh.result):
                    fresh.result = known.result
            self._known[name] = known = fresh
        return known

    def _met(self, name: str, path: Path, known: _Known) -> _Known:
        if path.is_dir():
            known.kind, known.result = "run", RunScores(self.folder, name, self.samples)
            return known
        try:
            known.kind, known.result = recognised(self.folder, name) or (None, None)
        except Gone as error:
            known.problem = str(error)
        except UNREADABLE:
            pass
        if isinstance(known.result, Scores):
            known.result.samples = self.samples
        return known

    def _facts(self, known: _Known, enough: Callable[[], bool]) -> Facts:
        """The facts of a result; it is read on where it was not to its end."""
        result, growing = known.result, self._is_growing(known)
        assert result is not None
        if known.facts and result.complete and known.growing == growing:
            return known.facts
        if enough() and not result.complete:
            return Facts(progress="reading: it is not begun yet")
        known.problem, known.growing = "", growing
        if isinstance(result, RowsResult):
            result.growing = growing
        try:
            result.advance(enough)
            known.facts = result.facts(growing=growing)
        except Gone as error:
            known.problem = str(error)
        except UNREADABLE as error:
            known.problem = f"{result.name}, {known.kind}: {unreadable(error)}"
        if known.problem:
            known.facts = Facts(problem=known.problem, finding=known.problem)
        assert known.facts is not None
        return known.facts

    def _is_growing(self, known: _Known) -> bool:
        if known.kind not in APPENDED:
            return False
        late = self.clock() - known.changed >= GROWING
        return not late or (isinstance(known.result, RowsResult) and known.result.is_held())


def _stamp(path: Path) -> tuple[tuple[int, ...], float]:
    """A number that changes with a file, or with the files of a run; and its last change.

    Raises:
        OSError: it is gone.
    """
    found = [path.stat()]
    for each in path.iterdir() if path.is_dir() else ():
        with suppress(FileNotFoundError):  # a part is renamed meanwhile
            found.append(each.lstat())
    changed = max(each.st_mtime for each in found)
    numbers = [(each.st_ino, each.st_size, each.st_mtime_ns, each.st_ctime_ns) for each in found]
    return tuple(number for each in numbers for number in each), changed
