"""Start, find, empty and end a local AWS emulator.

Whatever interrupts a start ends the process it began; a start that was killed itself has left its
record, and the next `up` or `down` of that name ends what it finds there. An emulator of a block,
`running`, ends with the process of that block, however it ends.
"""

from __future__ import annotations

import os
import socket
import ssl
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Final

from reward_functions.tools.local_aws.certificate import make_certificate
from reward_functions.tools.local_aws.environment import (
    ACCOUNT,
    LOOPBACK,
    REGION,
    SECRET,
    emulators_own,
    endpoint,
    merged,
    users_own,
)
from reward_functions.tools.local_aws.folders import Folder, Record, locked, names
from reward_functions.tools.local_aws.interpreter import emulator_python
from reward_functions.tools.local_aws.processes import (
    GLANCE,
    LocalAwsError,
    lifeline,
    process_of,
    start,
    undisturbed,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from boto3.session import Session

DEFAULT: Final = "default"
"""The name of an emulator nobody named."""

READY_SECONDS: Final = 60.0
"""What a start may take; it takes half a second on an idle machine."""

LOOK_SECONDS: Final = 1.0
"""What an emulator that is ready takes at most to say so."""

RESET_SECONDS: Final = 30.0
"""What emptying it may take: the processes of its functions end one by one."""

BACKLOG: Final = 512
"""Connections that wait to be accepted: the CDK and a trainer open many at once."""

LOG_TAIL: Final = 2_000
"""Bytes of the log that are looked through for what an emulator said as it ended."""


class PortInUse(LocalAwsError):
    """Something else listens on the port."""


class EmulatorEnded(LocalAwsError):
    """The emulator is gone. The message has the last line it wrote."""


@dataclass(frozen=True, slots=True)
class LocalAws:
    """An emulator that was started, by this process or another one."""

    folder: Folder
    record: Record

    @property
    def name(self) -> str:
        """What it was started as."""
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
    def environment(self) -> dict[str, str]:
        """The variables that point every AWS tool at it."""
        return users_own(self.folder.path, self.record.port, self.record.certificate)

    def environment_for(self, environ: Mapping[str, str]) -> dict[str, str]:
        """A whole environment turned towards it: for a program to run in."""
        return merged(environ, self.environment)

    @property
    def alive(self) -> bool:
        """Whether its process runs."""
        return self.record.process.alive

    def require(self) -> None:
        """Nothing, while it runs.

        Raises:
            EmulatorEnded: it has ended.
        """
        if not self.alive:
            raise EmulatorEnded(f"the local AWS {self.name!r} has ended{self.last_words()}")

    def session(self, **credentials: str) -> Session:
        """A boto3 session whose clients reach it, whatever the caller's own environment says.

        Args:
            credentials: as `boto3.Session` takes them; the root of the account where not given.
        """
        import boto3  # noqa: PLC0415 - half a second, and starting an emulator needs none of it

        own = {"aws_access_key_id": ACCOUNT, "aws_secret_access_key": SECRET}
        session = boto3.Session(**(credentials or own), region_name=REGION)
        certificate = self.record.certificate
        verified = {} if certificate is None else {"verify": str(certificate.certificate)}
        # A session takes no address of its own; its clients do.
        session.client = partial(session.client, endpoint_url=self.endpoint, **verified)
        return session

    def client(self, service: str, **options: Any) -> Any:
        """A boto3 client of one of its services, as root; the options are boto3's."""
        return self.session().client(service, **options)

    def reset(self) -> None:
        """Empty it of everything that was made in it.

        Raises:
            LocalAwsError: it has ended, or does not do so.
        """
        self.require()
        status = self._asked("POST", "/_ministack/reset", RESET_SECONDS)
        if status != HTTPStatus.OK:
            raise LocalAwsError(f"the local AWS {self.name!r} does not empty itself: {status}")

    def ready(self) -> bool:
        """Whether it answers."""
        return self._asked("GET", "/_ministack/ready", LOOK_SECONDS) == HTTPStatus.OK

    def _asked(self, method: str, path: str, patience: float) -> int | None:
        """The status of an answer; None where there is none."""
        connection = self._connection(patience)
        try:
            connection.request(method, path)
            response = connection.getresponse()
            response.read()
        except (OSError, HTTPException):
            return None
        finally:
            connection.close()
        return response.status

    def _connection(self, patience: float) -> HTTPConnection:
        certificate, port = self.record.certificate, self.record.port
        if certificate is None:
            return HTTPConnection(LOOPBACK, port, timeout=patience)
        trusted = ssl.create_default_context(cafile=str(certificate.certificate))
        return HTTPSConnection(LOOPBACK, port, timeout=patience, context=trusted)

    def last_words(self) -> str:
        """The last line of its log, behind a colon."""
        try:
            with self.folder.log.open("rb") as log:
                log.seek(max(0, log.seek(0, os.SEEK_END) - LOG_TAIL))
                tail = log.read().decode(errors="replace").strip()
        except OSError:
            return ""
        return f": {tail.splitlines()[-1]}" if tail else ", and its log is empty"


def known() -> list[LocalAws]:
    """All that were started and not ended with `down`, whether they run or not."""
    records = [(folder, folder.record()) for folder in map(Folder, names())]
    return [LocalAws(folder, record) for folder, record in records if record]


def find(name: str = DEFAULT) -> LocalAws | None:
    """The emulator of this name that runs; None where none does."""
    folder = Folder(name)
    record = folder.record()
    return LocalAws(folder, record) if record and record.process.alive else None


def up(
    name: str = DEFAULT,
    *,
    port: int | None = None,
    enforce: bool = False,
    python: str | None = None,
    models: str | None = None,
    line: int | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> LocalAws:
    """Start an emulator that outlives this process, or find the one of this name that runs.

    Args:
        name: its own; a second one needs another.
        port: where it listens on the loopback interface; a free one where not given.
        enforce: check signatures and permissions as AWS does; over TLS.
        python: the interpreter that has ministack, whose version its functions run on.
        models: the URL, without `/v1`, of a server that speaks chat completions: it answers what is
            asked of Bedrock's models, of which the emulator has none.
        line: the `lifeline` it ends with, where it is not to outlive this process.
        progress: hears what is being waited for.

    Raises:
        LocalAwsError: it cannot be started; nothing is left of the attempt.
    """
    folder = Folder(name)
    with locked():
        present = find(name)
        if present is not None:
            _require_same(present, port, enforce=enforce, models=models)
            return present
        _end(folder)
        python = emulator_python(python)
        return _started(
            folder, port, python, enforce=enforce, models=models, line=line, progress=progress
        )


def down(name: str = DEFAULT) -> bool:
    """End the emulator of this name with all its functions, and forget it.

    Returns:
        whether it ran.
    """
    folder = Folder(name)
    with locked():
        ran = find(name) is not None
        _end(folder)
    return ran


@contextmanager
def running(
    name: str | None = None,
    *,
    port: int | None = None,
    enforce: bool = False,
    python: str | None = None,
    models: str | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Iterator[LocalAws]:
    """An emulator of its own for a block, ended however the block or this process ends.

    The arguments are those of `up`. Without a name it has one that no other process gives.
    """
    own = name or f"process-{os.getpid()}-{os.urandom(4).hex()}"
    present = find(own)
    if present is not None:
        raise LocalAwsError(f"the local AWS {own!r} runs already: {_elsewhere(own)}")
    with lifeline() as line:
        try:
            yield up(
                own,
                port=port,
                enforce=enforce,
                python=python,
                models=models,
                line=line,
                progress=progress,
            )
        finally:
            down(own)


def _started(
    folder: Folder,
    port: int | None,
    python: str,
    *,
    enforce: bool,
    models: str | None,
    line: int | None,
    progress: Callable[[str], None],
) -> LocalAws:
    with ExitStack() as failed:
        # An interrupt as well: what was begun here must not be left behind.
        failed.callback(_end, folder)
        folder.make()
        # The socket is bound here and handed over: nobody can take the port in between.
        with _bound(port) as listening:
            aws = _launched(folder, listening, python, enforce=enforce, models=models, line=line)
        progress(f"waiting for the local AWS on port {aws.record.port}")
        _wait(aws)
        failed.pop_all()
    return aws


def _launched(
    folder: Folder,
    listening: socket.socket,
    python: str,
    *,
    enforce: bool,
    models: str | None,
    line: int | None,
) -> LocalAws:
    port = listening.getsockname()[1]
    certificate = make_certificate(folder.path / "tls") if enforce else None
    tls = (
        ("--certfile", str(certificate.certificate), "--keyfile", str(certificate.key))
        if certificate
        else ()
    )
    with folder.log.open("wb") as log, undisturbed():
        child = start(
            # Its own `main` listens on port 443 as well where it can, and writes a file elsewhere.
            [
                *(python, "-m", "hypercorn", "--workers", "0", *tls),
                *("--bind", f"fd://{listening.fileno()}", "--keep-alive", "75"),
                "ministack.app:app",
            ],
            environment=emulators_own(folder.path, port, certificate, models),
            folder=folder.path,
            log=log,
            inherited=[listening.fileno()],
            line=line,
        )
        # Popen complains when it is forgotten while its process runs; from here on the id is all.
        child.returncode = 0
        record = Record(process_of(child.pid), port, certificate, python)
        folder.write(record)
    return LocalAws(folder, record)


def _wait(aws: LocalAws) -> None:
    late = monotonic() + READY_SECONDS
    while not aws.ready():
        aws.require()
        if monotonic() > late:
            raise LocalAwsError(f"the local AWS does not answer within {READY_SECONDS:g} seconds")
        sleep(GLANCE)


def _bound(port: int | None) -> socket.socket:
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((LOOPBACK, port or 0))
        listening.listen(BACKLOG)
    except OverflowError:
        listening.close()
        raise LocalAwsError(f"{port} is no port: 1 to 65535") from None
    except OSError as error:
        listening.close()
        raise PortInUse(
            f"port {port} of the loopback interface cannot be had ({error.strerror}): end what "
            "listens there, choose another with --port, or leave --port out for a free one"
        ) from None
    return listening


def _end(folder: Folder) -> None:
    record = folder.record()
    if record is not None:
        record.process.end()
    folder.clear()


def _require_same(
    present: LocalAws, port: int | None, *, enforce: bool, models: str | None
) -> None:
    """A running emulator is what was asked for."""
    if models is not None:
        raise LocalAwsError(
            f"the local AWS {present.name!r} runs already, and asks nobody else for its models: "
            f"{_elsewhere(present.name)}"
        )
    wrong = port not in (None, present.record.port) or enforce != present.enforcing
    if wrong:
        how, again = ("with", "add --enforce, or ") if present.enforcing else ("without", "")
        raise LocalAwsError(
            f"the local AWS {present.name!r} runs on port {present.record.port} already, {how} "
            f"enforced permissions: {again}{_elsewhere(present.name)}"
        )


def _elsewhere(name: str) -> str:
    return f"reward local down --name {name}, or start another with another --name"
