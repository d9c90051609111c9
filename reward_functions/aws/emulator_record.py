"""Each emulator has a file with its facts, by name: a later process finds it and ends it.

STATE/local-aws/NAME/        STATE is XDG_STATE_HOME/reward-functions, or the user's default
    record.json              the process, its port; written before it is waited for
    log                      what it said
    training.log             what the training double beside it said, where there is one
    home, tmp, tls, cdk      its own files; all gone with it

The emulator that a shell points at, and the lines that turn the shell.

An emulator and the training double beside it have a port each; one port is one server here.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.loopback import is_loopback

if TYPE_CHECKING:
    from collections.abc import Iterable


NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")

LOOPBACK: Final = "127.0.0.1"

LOG_TAIL: Final = 2_000
"""Bytes of the log that are looked through for what an emulator said as it ended."""

GLANCE: Final = 0.02
"""Seconds between two looks at a process."""

DEFAULT: Final = "default"
"""The name of an emulator nobody named."""


class LocalAwsError(ConfigurationError):
    """The local AWS emulator could not be started, or has ended. The message says what to do."""


@dataclass(frozen=True, slots=True)
class Process:
    """A process that leads a group.

    Args:
        id: its id, which is its group's too.
        started: when, in ticks of the system since it started; compared and nothing else.
    """

    id: int
    started: str

    @property
    def alive(self) -> bool:
        """Whether this very process runs, and not a later one of its id."""
        return start_time(self.id) == self.started

    def end(self) -> None:
        """End it and all of its group, and return once they are gone.

        Where its id is another process's by now, nothing is done.
        """
        if start_time(self.id) not in (self.started, None):
            return
        # Killed and not asked: an emulator waits for open connections, and has nothing to save.
        with suppress(ProcessLookupError, PermissionError):  # macOS says the second of remains
            os.killpg(self.id, signal.SIGKILL)
        while self.alive:
            sleep(GLANCE)
        with suppress(ChildProcessError):  # somebody else's child, who takes note of its end
            os.waitpid(self.id, 0)


@dataclass(frozen=True, slots=True)
class Certificate:
    """Where a certificate and its key lie, both PEM."""

    certificate: Path
    key: Path


@dataclass(frozen=True, slots=True)
class TrainingRecord:
    """The facts about the training double beside an emulator, for later commands."""

    process: Process
    port: int


@dataclass(frozen=True, slots=True)
class Record:
    """The facts about an emulator, for later commands.

    Args:
        process: its process.
        port: where it listens.
        certificate: where it speaks TLS, and enforces permissions.
        python: the interpreter its functions run on, as it does itself.
        training: the training double beside it; None without one.
        project: the folder where it was started; "" where an older version of this started it.
    """

    process: Process
    port: int
    certificate: Certificate | None
    python: str
    training: TrainingRecord | None = None
    project: str = ""


@dataclass(frozen=True, slots=True)
class Folder:
    """The files of the emulator of one name."""

    name: str

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise LocalAwsError(
                f"{self.name!r} is no name for a local AWS: letters, digits, - and _, 64 at most"
            )

    @property
    def path(self) -> Path:
        """Where they lie."""
        return _state() / self.name

    @property
    def log(self) -> Path:
        """Everything the emulator wrote."""
        return self.path / "log"

    @property
    def training_log(self) -> Path:
        """Everything the training double wrote."""
        return self.path / "training.log"

    def tail(self, file: Path) -> str:
        """The last line of a log, after a colon."""
        try:
            with file.open("rb") as log:
                log.seek(max(0, log.seek(0, os.SEEK_END) - LOG_TAIL))
                tail = log.read().decode(errors="replace").strip()
        except OSError:
            return ""
        return f": {tail.splitlines()[-1]}" if tail else ", and its log is empty"

    def record(self) -> Record | None:
        """The record; None where nothing was written, or nothing that can be read."""
        from pydantic import TypeAdapter  # noqa: PLC0415 - 50 ms

        try:
            return TypeAdapter(Record).validate_json(self._record.read_text())
        except (OSError, ValueError):
            return None

    def write(self, record: Record) -> None:
        """Keep it; complete or not at all."""
        unfinished = self._record.with_suffix(".unfinished")
        unfinished.write_text(json.dumps(asdict(record), default=str))
        unfinished.replace(self._record)

    def make(self) -> None:
        """An empty folder with all an emulator and its users expect to find."""
        self.clear()
        for part in ("home", "tmp", "cdk"):
            (self.path / part).mkdir(parents=True)
        for part in ("config", "credentials"):
            (self.path / part).touch()

    def clear(self) -> None:
        """Forget everything."""
        shutil.rmtree(self.path, ignore_errors=True)

    @property
    def _record(self) -> Path:
        return self.path / "record.json"


@dataclass(frozen=True, slots=True)
class Emulator:
    """An emulator that was started, also one that has ended."""

    folder: Folder
    record: Record

    @property
    def name(self) -> str:
        """The name under which it was started."""
        return self.folder.name

    @property
    def endpoint(self) -> str:
        """The one address of every service."""
        return endpoint(self.record.port, tls=self.enforcing)

    @property
    def enforcing(self) -> bool:
        """Whether it checks signatures and permissions."""
        return self.record.certificate is not None

    @property
    def alive(self) -> bool:
        """Whether its process runs."""
        return self.record.process.alive


def names() -> list[str]:
    """The names there are folders of, in order."""
    if not _state().is_dir():
        return []
    return sorted(
        path.name for path in _state().iterdir() if NAME.fullmatch(path.name) and path.is_dir()
    )


def endpoint(port: int, *, tls: bool) -> str:
    """The one address of every service."""
    return f"{'https' if tls else 'http'}://{LOOPBACK}:{port}"


def recorded() -> list[Emulator]:
    """All that were started and not ended with `down`, whether they run or not."""
    found = [(folder, folder.record()) for folder in map(Folder, names())]
    return [Emulator(folder, record) for folder, record in found if record]


def _state() -> Path:
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "reward-functions" / "local-aws"


def start_time(id: int) -> str | None:  # noqa: A002 - the system's word
    """When the process of this id started, in the system's ticks; None if it runs no more."""
    import psutil  # noqa: PLC0415 - an extra, and only what starts or ends emulators needs it

    try:
        process = psutil.Process(id)
        if process.status() in {psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD}:
            return None
        # A clock that was set moves both, and their difference stays.
        seconds = process.create_time() - psutil.boot_time()
    except psutil.NoSuchProcess:
        return None
    return str(round(seconds * os.sysconf("SC_CLK_TCK")))


def pointed_at(urls: Iterable[str]) -> Emulator | None:
    """The emulator that one of these addresses is of, also one that has ended; None for none.

    Args:
        urls: such as `AWS_ENDPOINT_URL` holds; "" counts as none.
    """
    ports = {_port(url) for url in urls if is_loopback(url)}
    return next((aws for aws in recorded() if ports & _ports(aws)), None)


def options(aws: Emulator | None) -> str:
    """The options of `reward local up` that find this emulator again, with a space before each.

    Args:
        aws: None for one that nobody named.
    """
    if aws is None:
        return ""
    training = " --training" * (aws.record.training is not None)
    return f"{_named(aws)}{' --enforce' * aws.enforcing}{training}"


def towards_line(aws: Emulator | None, *, training: bool = False) -> str:
    """The line that points a shell at an emulator.

    Args:
        aws: None for one that nobody named.
        training: whether it is to have the training double, also where it has none yet.
    """
    added = options(aws)
    if training and "--training" not in added:
        added += " --training"
    return f'eval "$(reward local up{added} --print-env)"'


def away_line(aws: Emulator | None) -> str:
    """The line that ends an emulator, and points a shell away from it."""
    return f'eval "$(reward local down{_named(aws)} --print-env)"'


def _named(aws: Emulator | None) -> str:
    return "" if aws is None or aws.name == DEFAULT else f" --name {aws.name}"


def _ports(aws: Emulator) -> set[int]:
    training = aws.record.training
    return {aws.record.port, *([training.port] if training else [])}


def _port(url: str) -> int | None:
    try:
        return urlsplit(url).port
    except ValueError:
        return None
