"""Start, find, empty and end a local AWS emulator.

Whatever interrupts a start ends the process it began; a start that was killed itself has left its
record, and the next `up` or `down` of that name ends what it finds there. An emulator of a block,
`running`, ends with the process of that block, however it ends.

A certificate for the loopback interface, made on the spot.

An emulator that enforces permissions is reached over TLS: the bucket that `cdk bootstrap` makes
denies whoever comes without. The key never leaves its folder, and goes with it.
"""

from __future__ import annotations

import os
import subprocess
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Final

from reward_functions.aws.emulator_record import (
    DEFAULT,
    GLANCE,
    Certificate,
    Folder,
    LocalAwsError,
    Record,
    locked,
    recorded,
)
from reward_functions.local.emulator.environment import bound, emulators_own
from reward_functions.local.emulator.interpreter import emulator_python
from reward_functions.local.emulator.processes import lifeline, process_of, start, undisturbed
from reward_functions.local.emulator.started import LocalAws
from reward_functions.local.emulator.training import adapt, with_training

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator

    from reward_functions.local.emulator.training import TrainingOptions


DAYS: Final = "30"
"""Longer than an emulator runs, and short enough to be worth nothing to anyone."""


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
                *(
                    "openssl",
                    "req",
                    "-x509",
                    "-newkey",
                    "ec",
                    "-pkeyopt",
                    "ec_paramgen_curve:P-256",
                ),
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


READY_SECONDS: Final = 60.0
"""What a start may take; it takes half a second on an idle machine."""

SERVE: Final = """
import sys
from hypercorn.__main__ import main
from ministack.core import router
named = router._is_aws_service_name
router._is_aws_service_name = lambda name: name == "sagemaker" or named(name)
sys.exit(main())
"""
"""The emulator's own server. At the first request to a service that it does not have, ministack
1.5.33 reads the models of all that AWS has, four seconds in which it answers nobody. SageMaker,
for which it is asked who signs a request, is known beforehand."""


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
    with locked():
        present = find(name)
        if present is not None:
            _require_same(present, port, enforce=enforce, models=models)
            if training is not None:
                adapt(present, training)
            return present
        _end(folder)
        python = emulator_python(python)
        return _started(
            folder,
            port,
            python,
            enforce=enforce,
            models=models,
            training=training,
            line=line,
            progress=progress,
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
    training: TrainingOptions | None = None,
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
                training=training,
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
    training: TrainingOptions | None,
    line: int | None,
    progress: Callable[[str], None],
) -> LocalAws:
    with ExitStack() as failed:
        # An interrupt as well: what was begun here must not be left behind.
        failed.callback(_end, folder)
        folder.make()
        with bound(port) as listening:
            aws = _launched(folder, listening, python, enforce=enforce, models=models, line=line)
        progress(f"waiting for the local AWS on port {aws.record.port}")
        _wait(aws)
        if training is not None:
            progress("waiting for the training double")
            aws = with_training(aws, training, line)
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
                *(python, "-c", SERVE, "--workers", "0", *tls),
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
        record = Record(process_of(child.pid), port, certificate, python, project=_here())
        folder.write(record)
    return LocalAws(folder, record)


def _here() -> str:
    try:
        return str(Path.cwd())
    except FileNotFoundError:  # somebody deleted it
        return ""


def _wait(aws: LocalAws) -> None:
    late = monotonic() + READY_SECONDS
    while not aws.ready():
        aws.require()
        if monotonic() > late:
            raise LocalAwsError(f"the local AWS does not answer within {READY_SECONDS:g} seconds")
        sleep(GLANCE)


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
