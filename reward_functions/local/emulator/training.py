"""The training double beside an emulator: a child of its own, which ends when the emulator does."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from dataclasses import dataclass, replace
from time import monotonic, sleep
from typing import TYPE_CHECKING, Final

from reward_functions.aws.emulator_record import GLANCE, LocalAwsError, TrainingRecord
from reward_functions.local.emulator.environment import bound
from reward_functions.local.emulator.processes import (
    process_of,
    start,
    undisturbed,
)
from reward_functions.local.emulator.started import LocalAws

if TYPE_CHECKING:
    import socket
    from collections.abc import Sequence
    from pathlib import Path

MODULE: Final = "reward_functions.local.training_double"

INHERITED: Final = ("PATH", "HOME", "XDG_STATE_HOME", "PYTHONPATH", "LANG")
"""Variables it needs to be itself and to find the emulator; nothing of the caller's AWS."""

READY_SECONDS: Final = 60.0
"""What a start may take; it takes half a second on an idle machine."""


@dataclass(frozen=True, slots=True)
class TrainingOptions:
    """What a training double is started with.

    Args:
        data: files of prompts that it answers beside those in the buckets.
        step_seconds: how long each step of a job takes; None for no time, or as it was.
    """

    data: Sequence[Path] = ()
    step_seconds: float | None = None


def with_training(aws: LocalAws, options: TrainingOptions, line: int | None) -> LocalAws:
    """Start the training double beside an emulator.

    Args:
        aws: the emulator, which has none yet.
        options: of the double.
        line: the `lifeline` it ends with, where it is not to outlive this process.

    Raises:
        LocalAwsError: it cannot be started; nothing is left of the attempt.
    """
    with ExitStack() as failed:
        # The socket is closed here once the child has it: nobody waits at one that is dead.
        with bound(None) as listening:
            aws, training = _launched(aws, options, listening, line)
        failed.callback(training.process.end)
        _wait(aws, training)
        failed.pop_all()
    return aws


def _launched(
    aws: LocalAws, options: TrainingOptions, listening: socket.socket, line: int | None
) -> tuple[LocalAws, TrainingRecord]:
    with aws.folder.training_log.open("wb") as log, undisturbed():
        child = start(
            [
                *(sys.executable, "-m", MODULE, aws.name, str(listening.fileno())),
                *("--step-seconds", str(options.step_seconds or 0.0)),
                *(word for file in options.data for word in ("--data", str(file.absolute()))),
            ],
            environment={
                **{name: os.environ[name] for name in INHERITED if name in os.environ},
                **aws.environment,
            },
            folder=aws.folder.path,
            log=log,
            inherited=[listening.fileno()],
            line=line,
        )
        # Popen complains when it is forgotten while its process runs; from here on the id is all.
        child.returncode = 0
        training = TrainingRecord(process_of(child.pid), listening.getsockname()[1])
        aws = LocalAws(aws.folder, replace(aws.record, training=training))
        aws.folder.write(aws.record)
    return aws, training


def require_training(aws: LocalAws) -> None:
    """Nothing, where the training double beside an emulator runs.

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
        LocalAwsError: there is none, it has ended, or it refuses.
        OSError: a file cannot be read.
    """
    require_training(aws)
    if options.step_seconds is not None:
        aws.ask_training("POST", "speed", seconds_per_step=options.step_seconds)
    for file in options.data:
        aws.ask_training("POST", "data", name=file.name, content=file.read_text("utf-8"))


def _wait(aws: LocalAws, training: TrainingRecord) -> None:
    late = monotonic() + READY_SECONDS
    while True:
        if not training.process.alive:
            raise LocalAwsError(
                "the training double could not be started"
                f"{aws.folder.tail(aws.folder.training_log)}"
            )
        if monotonic() > late:
            raise LocalAwsError(
                f"the training double does not answer within {READY_SECONDS:g} seconds"
            )
        try:
            aws.ask_training("GET", "ready")
        except LocalAwsError:
            sleep(GLANCE)
        else:
            return
