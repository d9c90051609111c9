"""Start, find, empty and end a local AWS emulator, and the training double beside it.

An interrupted start ends the process it began. A start that was killed itself has left its record,
and the next `up` or `down` of that name ends what it finds there. An emulator of a block,
`running`, ends with the process of that block, however it ends.

An emulator that enforces permissions is reached over TLS: the bucket that `cdk bootstrap` makes
denies every request without. Its certificate is made on the spot; the key never leaves its folder,
and goes with it.

The emulator's functions inherit all of its environment, so it gets none of the caller's. Its users
get a configuration without profiles, with keys that mean nothing anywhere else: nothing they do can
reach a real account by mistake. A socket that listens is bound here and handed over: nobody can
take the port in between.

An id of a process is reused once it is gone; the id and the moment it started are not. A process
that is started here leads a group of its own, so that its children end with it, even adopted ones.
With a lifeline the whole group ends when this process does, even by SIGKILL: `watchdog.py`.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import ssl
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from shlex import quote
from threading import current_thread, main_thread
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.emulator_record import (
    DEFAULT,
    GLANCE,
    LOOPBACK,
    Certificate,
    Emulator,
    Folder,
    LocalAwsError,
    Process,
    Record,
    TrainingRecord,
    endpoint,
    recorded,
    start_time,
)
from reward_functions.local.emulator.installing import emulator_python

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import IO

    from boto3.session import Session
    from filelock import FileLock

ACCOUNT: Final = "000000000000"
"""The emulator reads an access key of twelve digits as the root of that account."""

SECRET: Final = "test"  # noqa: S105 - the emulator's own, for its root
"""The one the emulator checks signatures of its root with."""

REGION: Final = "us-east-1"

TRAINING: Final = (
    "BEDROCK",
    "BEDROCK_RUNTIME",
    "BEDROCK_MANTLE",
    "SAGEMAKER",
    "SAGEMAKER_MLFLOW",
    "SAGEMAKERJOBRUNTIME",
)
"""Services that the training double stands in for, as the variables of their endpoints end."""

NEVER: Final = (
    "AWS_PROFILE",
    "AWS_DEFAULT_PROFILE",
    "AWS_SESSION_TOKEN",
    "AWS_SECURITY_TOKEN",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_ROLE_ARN",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS",
)
"""What would lead a tool to another account, or past the emulator."""


def emulators_own(
    folder: Path, port: int, certificate: Certificate | None, models: str | None = None
) -> dict[str, str]:
    """Everything the emulator finds in its environment.

    Args:
        folder: its home and the place of its temporary files.
        port: where it listens.
        certificate: for TLS; with it goes the enforcement of permissions.
        models: the URL of a server that speaks chat completions and answers Bedrock's Converse.
    """
    own = {
        "PATH": os.defpath,
        "LANG": "C.UTF-8",
        "HOME": str(folder / "home"),
        "TMPDIR": str(folder / "tmp"),
        "BIND_HOST": LOOPBACK,
        "GATEWAY_PORT": str(port),
        "LAMBDA_EXECUTOR": "local",
        "DOCKER_HOST": "unix:///nonexistent.sock",
        "IOT_MTLS_ENABLED": "0",
        "SFTP_ENABLED": "0",
    }
    if models is not None:
        own["MINISTACK_BEDROCK_PROXY_URL"] = models
    if certificate is not None:
        own |= {
            "AUTH": "true",
            "USE_SSL": "1",
            "MINISTACK_SSL_CERT": str(certificate.certificate),
            "MINISTACK_SSL_KEY": str(certificate.key),
        }
    return own


def users_own(
    folder: Path, port: int, certificate: Certificate | None, training: int | None = None
) -> dict[str, str]:
    """The variables that lead the AWS SDKs, the AWS CLI and the CDK to the emulator.

    Args:
        folder: the emulator's.
        port: where it listens.
        certificate: for TLS.
        training: where the training double beside it listens; None without one.
    """
    address = endpoint(port, tls=certificate is not None)
    needed = {
        "AWS_ENDPOINT_URL": address,
        "AWS_ENDPOINT_URL_S3": address,
        "AWS_ACCESS_KEY_ID": ACCOUNT,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_CONFIG_FILE": str(folder / "config"),
        "AWS_SHARED_CREDENTIALS_FILE": str(folder / "credentials"),
        "AWS_EC2_METADATA_DISABLED": "true",
        # The CDK remembers which account a key belongs to, and asks no more.
        "CDK_HOME": str(folder / "cdk"),
        # After each deployment it praises npm's latest, a 3.0.0 that reads no assembly of today.
        "CDK_DISABLE_VERSION_CHECK": "1",
    }
    if certificate is not None:
        trusted = str(certificate.certificate)
        needed |= {"AWS_CA_BUNDLE": trusted, "NODE_EXTRA_CA_CERTS": trusted}
    if training is not None:
        needed |= to_training(training)
    return needed


def to_training(port: int) -> dict[str, str]:
    """The variables that lead the AWS SDKs and OpenAI's to the training double."""
    address = endpoint(port, tls=False)
    services = {f"AWS_ENDPOINT_URL_{service}": address for service in TRAINING}
    return services | {"OPENAI_BASE_URL": f"{address}/v1"}


def merged(environ: Mapping[str, str], needed: Mapping[str, str]) -> dict[str, str]:
    """A caller's environment turned towards the emulator, for a process that also needs a PATH."""
    kept = {name: value for name, value in environ.items() if not _leads_elsewhere(name)}
    return kept | dict(needed)


def shell_lines(environ: Mapping[str, str], needed: Mapping[str, str]) -> Iterator[str]:
    """The same for a POSIX shell to evaluate."""
    for name in sorted(environ):
        if _leads_elsewhere(name) and name not in needed:
            yield f"unset {name}"
    for name, value in needed.items():
        yield f"export {name}={quote(value)}"


def _leads_elsewhere(name: str) -> bool:
    return name in NEVER or name.startswith("AWS_ENDPOINT_URL")


BACKLOG: Final = 512
"""Connections that wait to be accepted: the CDK and a trainer open many at once."""


class PortInUse(LocalAwsError):
    """Something else listens on the port."""


def bound(port: int | None) -> socket.socket:
    """A socket that listens.

    Args:
        port: where; a free one where it is None.

    Raises:
        PortInUse: something else listens there.
        LocalAwsError: it is no port.
    """
    try:
        return socket.create_server((LOOPBACK, port or 0), backlog=BACKLOG)
    except OverflowError:
        raise LocalAwsError(f"{port} is no port: 1 to 65535") from None
    except OSError as error:
        raise PortInUse(
            f"port {port} of the loopback interface cannot be had ({os.strerror(error.errno or 0)}"
            "): end what listens there, choose another with --port, or leave --port out for a free "
            "one"
        ) from None


WATCHDOG: Final = Path(__file__).with_name("watchdog.py")

ENDING: Final = (signal.SIGTERM, signal.SIGHUP)
"""What a supervisor sends, and a terminal that is closed."""


@contextmanager
def lifeline() -> Iterator[int]:
    """The read end of a pipe that closes when this block ends, or this process in any way.

    A process that is forked meanwhile, without running another program, keeps it open.
    """
    read, write = os.pipe()
    try:
        yield read
    finally:
        os.close(write)
        os.close(read)


def start(
    command: Sequence[str],
    *,
    environment: Mapping[str, str],
    folder: Path,
    log: IO[bytes],
    inherited: Sequence[int] = (),
    line: int | None = None,
) -> subprocess.Popen[bytes]:
    """Start a process in a group of its own, without a terminal.

    Args:
        command: what to run.
        environment: all its variables; it gets none of the caller's.
        folder: where it runs.
        log: its standard output and error.
        inherited: file descriptors it keeps.
        line: the `lifeline` it ends with; it outlives this process where not given.
    """
    watchdog, lines = (_watchdog(line), [line]) if line is not None else ([], [])
    return subprocess.Popen(  # noqa: S603 - the callers' own programs
        [*watchdog, *command],
        env=dict(environment),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        pass_fds=(*inherited, *lines),
        start_new_session=True,
    )


def _watchdog(line: int) -> list[str]:
    """What runs a command so that it ends with this lifeline."""
    return [sys.executable, "-I", "-S", str(WATCHDOG), str(line)]


def process_of(id: int) -> Process:  # noqa: A002 - the system's word
    """The process of this id, which this process has just started."""
    return Process(id, start_time(id) or "ended at once")


@contextmanager
def ended_like_interrupted() -> Iterator[None]:
    """Let the signals that end a command run its clean-up, as Ctrl-C does; main thread only."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Put off every interrupt of this block until it is over.

    Between the start of a process and the note of its id nobody could end it. Signals are put off
    and not blocked: a process started meanwhile would inherit that. Only a main thread has them.
    """
    if current_thread() is not main_thread():
        yield
        return
    arrived: list[int] = []

    def note(number: int, _: object) -> None:
        arrived.append(number)

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, *ENDING)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if arrived:
            signal.raise_signal(arrived[0])


TRAINED: Final = frozenset({"bedrock", "bedrock-runtime", "sagemaker", "sagemakerjobruntime"})
"""Services, as boto3 names them, that the training double stands in for."""

LOOK_SECONDS: Final = 1.0
"""What an emulator that is ready takes at most to say so."""

RESET_SECONDS: Final = 30.0
"""What emptying it may take: the processes of its functions end one by one."""

READY_SECONDS: Final = 60.0
"""What a start may take; it takes half a second on an idle machine."""

DAYS: Final = "30"
"""Longer than an emulator runs, and short enough to be worth nothing to anyone."""

MODULE: Final = "reward_functions.local.training_double"

INHERITED: Final = ("PATH", "HOME", "XDG_STATE_HOME", "PYTHONPATH", "LANG")
"""Variables the training double needs to be itself and to find the emulator; nothing of the
caller's AWS."""

SERVE: Final = Path(__file__).with_name("serve.py")


class EmulatorEnded(LocalAwsError):
    """The emulator is gone. The message has the last line it wrote."""


@dataclass(frozen=True, slots=True)
class LocalAws(Emulator):
    """An emulator that was started, by this process or another one."""

    @property
    def training_endpoint(self) -> str:
        """The address of the training double beside it; "" without one."""
        training = self.record.training
        return endpoint(training.port, tls=False) if training else ""

    @property
    def environment(self) -> dict[str, str]:
        """The variables that point every AWS tool at it."""
        training = self.record.training
        return users_own(
            self.folder.path,
            self.record.port,
            self.record.certificate,
            training.port if training else None,
        )

    def environment_for(self, environ: Mapping[str, str]) -> dict[str, str]:
        """A whole environment turned towards it: for a program to run in."""
        return merged(environ, self.environment)

    def require(self) -> None:
        """Raise `EmulatorEnded` unless it runs."""
        if not self.alive:
            raise EmulatorEnded(f"the local AWS {self.name!r} has ended{self.last_words()}")

    def session(self, **credentials: str) -> Session:
        """A boto3 session whose clients reach it, in any environment of the caller.

        Args:
            credentials: as `boto3.Session` takes them; the root of the account where not given.
        """
        import boto3  # noqa: PLC0415 - half a second, and starting an emulator needs none of it

        own = {"aws_access_key_id": ACCOUNT, "aws_secret_access_key": SECRET}
        session = boto3.Session(**(credentials or own), region_name=REGION)
        certificate = self.record.certificate
        verified = {} if certificate is None else {"verify": str(certificate.certificate)}
        # A session takes no address of its own; its clients do.
        session.client = partial(self._client, session.client, verified)
        return session

    def _client(
        self, make: Callable[..., Any], verified: dict[str, str], service: str, **options: Any
    ) -> Any:
        address = {"endpoint_url": self.endpoint} | verified
        if self.training_endpoint and service in TRAINED:
            address = {"endpoint_url": self.training_endpoint}
        return make(service, **address | options)

    def client(self, service: str, **options: Any) -> Any:
        """A boto3 client of one of its services, as root; the options are boto3's."""
        return self.session().client(service, **options)

    def reset(self) -> None:
        """Empty it of everything that was made in it.

        Raises:
            LocalAwsError: it has ended, or does not do so.
        """
        self.require()
        if self.training_endpoint:
            self.ask_training("POST", "reset")
        status = self._asked("POST", "/_ministack/reset", RESET_SECONDS)
        if status != HTTPStatus.OK:
            raise LocalAwsError(f"the local AWS {self.name!r} does not empty itself: {status}")

    def ready(self) -> bool:
        """Whether it answers."""
        return self._asked("GET", "/_ministack/ready", LOOK_SECONDS) == HTTPStatus.OK

    def _asked(self, method: str, path: str, patience: float) -> int | None:
        """The status of an answer; None where there is none."""
        connection = self.connection(patience)
        try:
            connection.request(method, path)
            response = connection.getresponse()
            response.read()
        except (OSError, HTTPException):
            return None
        finally:
            connection.close()
        return response.status

    def connection(self, patience: float) -> HTTPConnection:
        """A connection to it, not opened yet.

        Args:
            patience: seconds to wait for each piece of an answer.
        """
        certificate, port = self.record.certificate, self.record.port
        if certificate is None:
            return HTTPConnection(LOOPBACK, port, timeout=patience)
        trusted = ssl.create_default_context(cafile=str(certificate.certificate))
        return HTTPSConnection(LOOPBACK, port, timeout=patience, context=trusted)

    def training_ready(self) -> bool:
        """Whether the training double beside it answers."""
        try:
            self.ask_training("GET", "ready")
        except LocalAwsError:
            return False
        return True

    def ask_training(self, method: str, what: str, **given: Any) -> dict[str, Any]:
        """The answer of the training double beside it to one of its controls.

        Args:
            method: of HTTP.
            what: such as "throttle"; `training_double.control` has them all.
            given: the request's fields.

        Raises:
            LocalAwsError: there is no double, it has ended, or it refuses.
        """
        training = self.record.training
        if training is None:
            raise LocalAwsError(f"the local AWS {self.name!r} runs without --training")
        connection = HTTPConnection(LOOPBACK, training.port, timeout=RESET_SECONDS)
        path, body = f"/_training/{what}", json.dumps(given).encode() if given else b""
        signed = self.enforcing and method != "GET"
        headers = self._signature(method, path, body) if signed else {}
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            answer: dict[str, Any] = json.loads(response.read())
        except (OSError, HTTPException, ValueError):
            if not training.process.alive:
                raise LocalAwsError(
                    f"the training double of {self.name!r} has ended, with all that it held: "
                    f"reward local down --name {self.name}, then up --training"
                ) from None
            raise LocalAwsError(
                f"the training double of {self.name!r} does not answer: see "
                f"{self.folder.training_log}"
            ) from None
        finally:
            connection.close()
        if response.status != HTTPStatus.OK:
            raise LocalAwsError(f"the training double refuses: {answer.get('message')}")
        return answer

    def _signature(self, method: str, path: str, body: bytes) -> dict[str, str]:
        """The headers that make a request to the training double one of root."""
        from botocore.auth import SigV4Auth  # noqa: PLC0415 - a tenth of a second
        from botocore.awsrequest import AWSRequest  # noqa: PLC0415
        from botocore.credentials import Credentials  # noqa: PLC0415

        request = AWSRequest(method, f"{self.training_endpoint}{path}", data=body)
        SigV4Auth(Credentials(ACCOUNT, SECRET), "bedrock", REGION).add_auth(request)
        return dict(request.headers.items())

    def last_words(self) -> str:
        """The last line of its log, after a colon."""
        return self.folder.tail(self.folder.log)


@dataclass(frozen=True, slots=True)
class TrainingOptions:
    """The options of a training double.

    Args:
        data: files of prompts that it answers beside those in the buckets.
        step_seconds: how long each step of a job takes; None for no time, or as it was.
    """

    data: Sequence[Path] = ()
    step_seconds: float | None = None


def known() -> list[LocalAws]:
    """All that were started and not ended with `down`, whether they run or not."""
    return [LocalAws(each.folder, each.record) for each in recorded()]


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
    training: TrainingOptions | None = None,
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
        training: starts the training double beside it, in the place of Bedrock's jobs; one that
            runs already takes over what is asked for.
        line: the `lifeline` it ends with, where it is not to outlive this process.
        progress: hears what is being waited for.

    Raises:
        LocalAwsError: it cannot be started; nothing is left of the attempt.
    """
    folder = Folder(name)
    with _locked():
        present = find(name)
        if present is not None:
            _require_same(present, port, enforce=enforce, models=models)
            if training is not None:
                adapt(present, training)
            return present
        _end(folder)
        python = emulator_python(python)
        with ExitStack() as failed:
            # An interrupt as well: what was begun here must not be left.
            failed.callback(_end, folder)
            folder.make()
            certificate = make_certificate(folder.path / "tls") if enforce else None
            aws = _launched(folder, port, python, certificate=certificate, models=models, line=line)
            progress(f"waiting for the local AWS on port {aws.record.port}")
            _wait(aws.ready, aws.require, "the local AWS")
            if training is not None:
                progress("waiting for the training double")
                aws = with_training(aws, training, line)
            failed.pop_all()
        return aws


@contextmanager
def running(name: str | None = None, **options: Any) -> Iterator[LocalAws]:
    """An emulator of its own for a block, ended however the block or this process ends.

    Args:
        name: one that no other process gives, where not given.
        options: those of `up`, but for its `line`.

    Raises:
        LocalAwsError: it runs already, or cannot be started.
    """
    own = name or f"process-{os.getpid()}-{os.urandom(4).hex()}"
    if find(own) is not None:
        raise LocalAwsError(f"the local AWS {own!r} runs already: {_elsewhere(own)}")
    with lifeline() as line:
        try:
            yield up(own, line=line, **options)
        finally:
            down(own)


def down(name: str = DEFAULT) -> bool:
    """End the emulator of this name with all its functions, and forget it.

    Returns:
        whether it ran.
    """
    folder = Folder(name)
    with _locked():
        ran = find(name) is not None
        _end(folder)
    return ran


def with_training(aws: LocalAws, options: TrainingOptions, line: int | None) -> LocalAws:
    """Start the training double beside an emulator.

    Args:
        aws: the emulator, which has none yet.
        options: of the double.
        line: the `lifeline` it ends with, where it is not to outlive this process.

    Raises:
        LocalAwsError: it cannot be started; its process is in the emulator's record.
    """
    log = aws.folder.training_log
    environment = {name: os.environ[name] for name in INHERITED if name in os.environ}
    # The socket is closed here once the child has it: nobody waits at one that is dead.
    with bound(None) as listening:
        port = listening.getsockname()[1]
        command = [
            *(sys.executable, "-m", MODULE, aws.name, str(listening.fileno())),
            *("--step-seconds", str(options.step_seconds or 0.0)),
            *(word for file in options.data for word in ("--data", str(file.absolute()))),
        ]
        aws = _noted(
            aws.folder,
            command,
            environment=environment | aws.environment,
            log=log,
            listening=listening,
            line=line,
            record_of=lambda process: replace(aws.record, training=TrainingRecord(process, port)),
        )
    training = aws.record.training

    def require() -> None:
        if training is None or not training.process.alive:
            raise LocalAwsError(f"the training double could not be started{aws.folder.tail(log)}")

    _wait(aws.training_ready, require, "the training double")
    return aws


def _require_training(aws: LocalAws) -> None:
    """Refuse an emulator without a training double that runs.

    Raises:
        LocalAwsError: there is none, or it has ended.
    """
    training = aws.record.training
    again = (
        f"reward local down --name {aws.name}, then up --training, or start another with another "
        "--name"
    )
    if training is None:
        raise LocalAwsError(f"the local AWS {aws.name!r} runs already, without training: {again}")
    if not training.process.alive:
        raise LocalAwsError(
            f"the training double of the local AWS {aws.name!r} has ended"
            f"{aws.folder.tail(aws.folder.training_log)}: {again}"
        )


def adapt(aws: LocalAws, options: TrainingOptions) -> None:
    """Let a training double that runs already do as it is asked now.

    Raises:
        LocalAwsError: the double is missing, it has ended, or it refuses.
        OSError: a file cannot be read.
    """
    _require_training(aws)
    if options.step_seconds is not None:
        aws.ask_training("POST", "speed", seconds_per_step=options.step_seconds)
    for file in options.data:
        aws.ask_training("POST", "data", name=file.name, content=file.read_text("utf-8"))


def make_certificate(folder: Path) -> Certificate:
    """A certificate for 127.0.0.1 and localhost that signs itself, in a folder only we read.

    Raises:
        LocalAwsError: there is no openssl, or it fails.
    """
    folder.mkdir(mode=0o700, exist_ok=True)
    made = Certificate(folder / "certificate.pem", folder / "key.pem")
    try:
        subprocess.run(  # noqa: S603
            [
                *("openssl", "req", "-x509", "-newkey", "ec"),
                *("-pkeyopt", "ec_paramgen_curve:P-256"),
                *("-nodes", "-days", DAYS, "-subj", "/CN=local AWS"),
                *("-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"),
                *("-addext", "basicConstraints=critical,CA:FALSE"),
                *("-keyout", str(made.key), "-out", str(made.certificate)),
            ],
            check=True,
            capture_output=True,
            text=True,
        )
    except FileNotFoundError:
        raise LocalAwsError(
            "openssl, which makes the certificate for TLS, is not on the PATH: install it"
        ) from None
    except subprocess.CalledProcessError as error:
        reason = error.stderr.strip().rpartition("\n")[2]
        raise LocalAwsError(f"openssl could not make a certificate: {reason}") from None
    return made


def _launched(
    folder: Folder,
    port: int | None,
    python: str,
    *,
    certificate: Certificate | None,
    models: str | None,
    line: int | None,
) -> LocalAws:
    tls: tuple[str, ...] = ()
    if certificate is not None:
        tls = ("--certfile", str(certificate.certificate), "--keyfile", str(certificate.key))
    with bound(port) as listening:
        port = listening.getsockname()[1]
        # Its own `main` listens on port 443 as well where it can, and writes a file elsewhere.
        command = [
            *(python, "-P", str(SERVE), "--workers", "0", *tls),
            *("--bind", f"fd://{listening.fileno()}", "--keep-alive", "75"),
            "ministack.app:app",
        ]
        return _noted(
            folder,
            command,
            environment=emulators_own(folder.path, port, certificate, models),
            log=folder.log,
            listening=listening,
            line=line,
            record_of=lambda process: Record(process, port, certificate, python, project=_here()),
        )


def _noted(
    folder: Folder,
    command: Sequence[str],
    *,
    environment: Mapping[str, str],
    log: Path,
    listening: socket.socket,
    line: int | None,
    record_of: Callable[[Process], Record],
) -> LocalAws:
    """Start what serves at a socket, and write down its process before anything can interrupt."""
    with log.open("wb") as output, undisturbed():
        child = start(
            command,
            environment=environment,
            folder=folder.path,
            log=output,
            inherited=[listening.fileno()],
            line=line,
        )
        # Popen complains when it is forgotten while its process runs; from here on the id is all.
        child.returncode = 0
        record = record_of(process_of(child.pid))
        folder.write(record)
    return LocalAws(folder, record)


def _here() -> str:
    try:
        return str(Path.cwd())
    except FileNotFoundError:  # somebody deleted it
        return ""


def _wait(ready: Callable[[], bool], require: Callable[[], None], what: str) -> None:
    late = monotonic() + READY_SECONDS
    while not ready():
        require()
        if monotonic() > late:
            raise LocalAwsError(f"{what} does not answer within {READY_SECONDS:g} seconds")
        sleep(GLANCE)


def _locked() -> FileLock:
    """One at a time starts or ends emulators; the others wait."""
    from filelock import FileLock  # noqa: PLC0415 - an extra, of those who start emulators

    place = Folder(DEFAULT).path.parent
    place.mkdir(parents=True, exist_ok=True)
    return FileLock(place / "lock")


def _end(folder: Folder) -> None:
    record = folder.record()
    if record is not None:
        if record.training is not None:
            record.training.process.end()
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
