"""The start/get protocol: a request of its own beside the agent's payload, and its durable states.

    {"prompt": …, "_agentcore_runtime": {"version": 1, "operation": "start", "invocation_id": "a-1",
                                         "background": true}}

| operation | answer |
| --- | --- |
| start, a new id | the agent runs; foreground: its end, background: `in_progress` |
| start, an id that is known | its state, foreground: at its end; no second run |
| get | its state |

A state is `{"version": 1, "invocation_id": …, "status": …}` and, of `completed`, exactly one of
`result` and `error`, a string. What each status means:

    FOLDER/<sha256 of the session id>/<invocation id>/started.json, result.json

| `result.json` | `started.json` | its lock | state |
| --- | --- | --- | --- |
| there | – | – | `completed`, what it holds |
| none | there | held by a process that lives | `in_progress` |
| none | there | free: its process has died | `interrupted` |
| none | none | – | `not_found` |

`started.json` is written aside, locked, and linked to its name: one process of all gets the name,
whole and locked, and the lock ends with the process, however it dies. A result is written aside,
synchronised and renamed, so that it is there whole or not at all. An ended invocation is kept for a
week.

Messages, layout and contents are those of `agentcore_rl_toolkit.runtime` 0.2.0; the lock is ours,
so that several processes may share a folder. Locks and links need a POSIX file system, such as EFS.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile, gettempdir
from typing import TYPE_CHECKING, Any, Final, Literal

from reward_functions.core.jsons import json_kind
from reward_functions.rollouts.request.errors import BadRequest, StateUnavailable
from reward_functions.rollouts.request.file_locks import try_lock
from reward_functions.rollouts.serve.agentcore.results import LARGEST

if TYPE_CHECKING:
    from collections.abc import Iterator

ENVELOPE: Final = "_agentcore_runtime"

VERSION: Final = 1

FIELDS: Final = frozenset({"version", "operation", "invocation_id", "background"})

INVOCATION_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")

Status = Literal["in_progress", "completed", "interrupted", "not_found"]

State = dict[str, Any]
"""What is answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """A request of the protocol.

    Args:
        operation: "start" or "get".
        invocation_id: 1 to 128 letters, digits, underscores and hyphens; the first is no mark.
        background: whether a start is answered before the agent ends.
    """

    operation: str
    invocation_id: str
    background: bool = False


def read_invocation(given: Any) -> Invocation:
    """The envelope of a payload.

    Raises:
        BadRequest: it is no invocation. The message names the field.
    """
    if not isinstance(given, dict):
        raise BadRequest(f"{ENVELOPE} is {json_kind(given)}, not an object")
    if not given.keys() <= FIELDS:
        raise BadRequest(f"{ENVELOPE} has a field that is none of {', '.join(sorted(FIELDS))}")
    version, operation = given.get("version"), given.get("operation")
    if type(version) is not int or version != VERSION:
        raise BadRequest(f"{ENVELOPE}.version is not {VERSION}")
    if not isinstance(operation, str) or operation not in {"start", "get"}:
        raise BadRequest(f"{ENVELOPE}.operation is neither 'start' nor 'get'")
    invocation_id = given.get("invocation_id")
    if not isinstance(invocation_id, str) or INVOCATION_ID.fullmatch(invocation_id) is None:
        raise BadRequest(
            f"{ENVELOPE}.invocation_id does not have 1 to 128 letters, digits, underscores and "
            "hyphens, or begins with a mark"
        )
    background = given.get("background", False)
    if not isinstance(background, bool):
        raise BadRequest(f"{ENVELOPE}.background is {json_kind(background)}, not a boolean")
    if operation == "get" and "background" in given:
        raise BadRequest(f"{ENVELOPE}.background is for start alone")
    return Invocation(operation=operation, invocation_id=invocation_id, background=background)


def state(invocation_id: str, status: Status, **more: Any) -> State:
    """A state, and of `completed` its `result` or `error`."""
    return {"version": VERSION, "invocation_id": invocation_id, "status": status, **more}


FOLDER: Final = ".agentcore_runtime"

STARTED, RESULT = "started.json", "result.json"

KEPT_SECONDS: Final = 7 * 24 * 3600.0
"""How long a record is kept after its last change: as delivered reports in an outbox."""

SWEEP_SECONDS: Final = 3600.0
"""How often old records are looked for."""

MADE_AGAIN: Final = 10
"""How often a folder is made that a sweep took away; each process sweeps once in its hour."""

UNREADABLE: Final = "the record of the result cannot be read"


class InvocationStore:
    """The records of a folder.

    Args:
        folder: None for one below the machine's temporary folder.

    Raises:
        StateUnavailable: the folder cannot be written to.
    """

    def __init__(self, folder: str | Path | None = None) -> None:
        self.folder = Path(gettempdir(), FOLDER) if folder is None else Path(folder)
        self._swept = -SWEEP_SECONDS
        with _reported(self.folder):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with NamedTemporaryFile(dir=self.folder):
                pass

    def read(self, session_id: str, invocation_id: str) -> State:
        """The state of an invocation.

        Raises:
            StateUnavailable: the folder cannot be read.
        """
        place = self._place(session_id, invocation_id)
        with _reported(self.folder):
            ended = _result(place, invocation_id)
            if ended is not None:
                return ended
            alive = _alive(place / STARTED)
            if alive is None:
                return state(invocation_id, "not_found")
            # It may have ended between the two looks: then its result is there now.
            ended = None if alive else _result(place, invocation_id)
            return ended or state(invocation_id, "in_progress" if alive else "interrupted")

    def claim(self, session_id: str, invocation_id: str) -> ExitStack | None:
        """Start an invocation; None where it was started before, by whichever process.

        The start is this process's until what is returned is closed, or the process ends.

        Raises:
            StateUnavailable: it cannot be made durable. Nothing has started.
        """
        place = self._place(session_id, invocation_id)
        with _reported(self.folder), ExitStack() as undo:
            self._sweep()
            _make(place)
            aside = undo.enter_context(_written(place, state(invocation_id, "in_progress")))
            descriptor = os.open(aside, os.O_RDONLY)
            undo.callback(os.close, descriptor)
            try_lock(descriptor)
            try:
                os.link(aside, place / STARTED)
            except FileExistsError:
                return None
            _synchronise(place)
            aside.unlink()
            return undo.pop_all()

    def finish(self, session_id: str, ended: State) -> None:
        """Make the end of an invocation durable.

        Raises:
            ValueError, TypeError, RecursionError: it is not strict JSON, or too large.
            StateUnavailable: it cannot be made durable.
        """
        place = self._place(session_id, ended["invocation_id"])
        with _reported(self.folder), _written(place, ended) as aside:
            aside.replace(place / RESULT)
            _synchronise(place)

    def _place(self, session_id: str, invocation_id: str) -> Path:
        digest = sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()
        return self.folder / digest / invocation_id

    def _sweep(self) -> None:
        """Forget what is old and does not run."""
        now = time.time()
        if now - self._swept < SWEEP_SECONDS:
            return
        self._swept = now
        for place in _found(self.folder, "*/*"):
            with suppress(OSError):
                if now - place.stat().st_mtime > KEPT_SECONDS and not _alive(place / STARTED):
                    shutil.rmtree(place)
        for session in _found(self.folder, "*"):
            with suppress(OSError):  # it is not empty
                session.rmdir()


def _found(folder: Path, pattern: str) -> Iterator[Path]:
    """What is there, as far as another process's sweep leaves it."""
    with suppress(FileNotFoundError):
        yield from folder.glob(pattern)


def _make(place: Path) -> None:
    """Make a folder, although another process's sweep may take its empty parent away meanwhile."""
    for _ in range(MADE_AGAIN):
        with suppress(FileNotFoundError):
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            return
    place.mkdir(mode=0o700, parents=True, exist_ok=True)


@contextmanager
def _reported(folder: Path) -> Iterator[None]:
    """What the file system refuses, in a type of this room."""
    try:
        yield
    except OSError as error:
        raise StateUnavailable(
            f"{folder} cannot hold the state of invocations: {error.strerror or 'it failed'}"
        ) from None


@contextmanager
def _written(place: Path, record: State) -> Iterator[Path]:
    """A record in a file of its own, durable; it is gone after the block unless it was renamed."""
    data = json.dumps(record, allow_nan=False).encode()
    if len(data) > LARGEST:
        raise ValueError(f"a result has more than {LARGEST:,} bytes")
    with NamedTemporaryFile(dir=place, delete=False) as file:
        aside = Path(file.name)
        try:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            yield aside
        finally:
            aside.unlink(missing_ok=True)


def _synchronise(place: Path) -> None:
    """Make the names of a folder durable."""
    descriptor = os.open(place, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _result(place: Path, invocation_id: str) -> State | None:
    """What has ended; None where nothing has."""
    try:
        found: Any = json.loads((place / RESULT).read_bytes())
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, dict) and found.get("invocation_id") == invocation_id:
        return found
    return state(invocation_id, "completed", error=UNREADABLE)


def _alive(started: Path) -> bool | None:
    """Whether the process of a start lives; None where nothing has started."""
    try:
        with started.open("rb") as file:
            return not try_lock(file.fileno(), shared=True)
    except FileNotFoundError:
        return None
