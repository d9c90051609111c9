"""Sessions that were started and not stopped, on the disk: each of them is paid for.

A process appends to one file of its own, `started` before a session is invoked and `stopped` once
it is stopped, and holds a lock on it. A file that nobody locks was left by a process that died:
`reward rollouts sessions stop` stops what it names. A file that names nothing open is emptied.

    {"started": SESSION, "arn": ARN, "at": SECONDS SINCE THE EPOCH}
    {"stopped": SESSION}

| `REWARD_ROLLOUTS_SESSIONS` | where |
| --- | --- |
| unset | `XDG_STATE_HOME/reward-functions/rollouts/sessions` |
| a folder | there |
| `none` | nowhere |
"""

from __future__ import annotations

import json
import logging
import os
import time
import uuid
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from weakref import WeakSet

from reward_functions.rollouts.request.file_locks import try_lock

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

log = logging.getLogger("reward_functions.rollouts")

VARIABLE: Final = "REWARD_ROLLOUTS_SESSIONS"

LARGEST: Final = 64_000_000
"""Bytes of a file that are read: 200,000 sessions of one process."""


class OpenSession(NamedTuple):
    """A session that was started and not stopped.

    Args:
        session: its id.
        arn: of the runtime.
        started: seconds since the epoch.
        live: whether the process that started it still runs.
        path: of the file that names it.
    """

    session: str
    arn: str
    started: float
    live: bool
    path: Path


class Ledger:
    """The file of this process; made at the first session.

    A folder that cannot be written is logged once, and sessions go on without it.

    Args:
        folder: of all processes' files; None keeps nothing.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._lock = Lock()
        self._open: dict[str, str] = {}
        self._file: int | None = None
        self._path: Path | None = None
        _LEDGERS.add(self)

    def started(self, arn: str, session: str) -> None:
        """Durable before the session is invoked."""
        with self._lock:
            self._open[session] = arn
            self._append({"started": session, "arn": arn, "at": round(time.time(), 3)})

    def stopped(self, session: str) -> None:
        """Forget a session that is stopped."""
        with self._lock:
            if self._open.pop(session, None) is None:
                return
            if self._open:
                self._append({"stopped": session}, durable=False)
            else:
                self._emptied()

    def _append(self, line: Mapping[str, Any], *, durable: bool = True) -> None:
        if self.folder is None:
            return
        try:
            if self._file is None:
                self._file = self._made(self.folder)
            os.write(self._file, f"{json.dumps(line)}\n".encode())
            if durable:
                os.fsync(self._file)
        except OSError as error:
            log.warning("sessions are not kept on the disk: %s", type(error).__name__)
            self.folder = None

    def _made(self, folder: Path) -> int:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._path = folder / f"{uuid.uuid4().hex}.jsonl"
        file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
        try_lock(file)
        return file

    def _emptied(self) -> None:
        """Nothing is open: the file goes, and the next session makes another."""
        if self._file is not None:
            if self._path is not None:
                with suppress(OSError):
                    self._path.unlink()
            os.close(self._file)
            self._file = None

    def _forked(self) -> None:
        """The sessions are the parent's: its lock must end with the parent."""
        self._lock = Lock()
        self._open = {}
        if self._file is not None:
            os.close(self._file)
            self._file = None


_LEDGERS: WeakSet[Ledger] = WeakSet()


def _after_fork() -> None:
    for ledger in list(_LEDGERS):
        ledger._forked()  # noqa: SLF001 - of this module


os.register_at_fork(after_in_child=_after_fork)


def ledger_folder(environ: Mapping[str, str] = os.environ) -> Path | None:
    """The folder of all files; None where nothing is kept."""
    if named := environ.get(VARIABLE, ""):
        return None if named == "none" else Path(named)
    state = Path(environ.get("XDG_STATE_HOME", ""))
    if not state.is_absolute():
        state = Path("~/.local/state").expanduser()
    return state / "reward-functions" / "rollouts" / "sessions"


def open_sessions(folder: Path) -> Iterator[OpenSession]:
    """The sessions that are open, file by file.

    Raises:
        OSError: a file cannot be read.
    """
    for path in sorted(folder.glob("*.jsonl")) if folder.is_dir() else ():
        with suppress(FileNotFoundError), path.open("rb") as stream:
            live = not try_lock(stream.fileno())
            body = stream.read(LARGEST)
            yield from (found._replace(live=live) for found in _open_in(body, path))


def forget(found: OpenSession) -> None:
    """A session of a dead process is stopped; its file goes with the last one.

    Raises:
        OSError: the file cannot be written.
    """
    with found.path.open("ab") as stream:
        stream.write(f"\n{json.dumps({'stopped': found.session})}\n".encode())
    if not _open_in(found.path.read_bytes()[:LARGEST], found.path) and not found.live:
        found.path.unlink()


def _open_in(body: bytes, path: Path) -> list[OpenSession]:
    """What is open by the lines of a file; half a line of a dead process is passed over."""
    held: dict[str, OpenSession] = {}
    for raw in body.splitlines():
        try:
            line = json.loads(raw)
        except (ValueError, RecursionError):
            continue
        match line:
            case {"started": str(session), "arn": str(arn), "at": float() | int() as at}:
                held[session] = OpenSession(session, arn, float(at), live=False, path=path)
            case {"stopped": str(session)}:
                held.pop(session, None)
    return list(held.values())
