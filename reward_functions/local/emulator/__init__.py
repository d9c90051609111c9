"""A local AWS emulator on the loopback interface: no account, no Docker, no network.

    with running() as aws:                      # stopped however the block ends, or its process
        client = aws.client("lambda") # boto3, with any credentials of the caller
        subprocess.run([...], env={**os.environ, **aws.environment})

    aws = up("mine"); …; down("mine")           # outlives this process: `reward local up|down`

The emulator is ministack, in an interpreter of its own: it pins another botocore than the Lambda
carries, and runs every function on the interpreter it runs on itself.

    emulator.py      up, down; its address, its clients, reset; the training double beside it; the
                     variables the emulator gets and those its users need; processes by id
    installing.py    which interpreter has the emulator, and the environment it has, made
    serve.py         the emulator's own server, in its interpreter, with what it wastes left out
    watchdog.py      runs a command that ends when its starter does
    people.py        users of a stage's policies on it
    cdk.py           the real CDK command line against one

`aws.emulator_record` has the facts about each on disk, and knows which of them a shell points at.

Several run side by side, each under its own name and on its own port. It does not reproduce:
Bedrock's training, memory limits, `iam:PassRole`, embedded metrics, arm64.
"""

from __future__ import annotations

from reward_functions.aws.emulator_record import LocalAwsError
from reward_functions.local.emulator.emulator import (
    LocalAws,
    TrainingOptions,
    down,
    find,
    known,
    running,
    up,
)

__all__ = [
    "LocalAws",
    "LocalAwsError",
    "TrainingOptions",
    "down",
    "find",
    "known",
    "running",
    "up",
]
