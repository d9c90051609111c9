"""Who is asked for rewards: a Lambda by its ARN, or a file in a process of its own.

A file is the user's own code. It runs as a Lambda runs it: its neighbours can be imported, what it
prints stays out of its answer, and what it does to its process ends with that.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

RUNNER: Final = Path(__file__).with_name("runner.py")

LONGEST: Final = 900.0
"""Seconds of a call: the longest of a Lambda."""

LARGEST: Final = 6 * 1024 * 1024
"""Bytes of a request and of an answer: the most of a Lambda that is called and waited for."""

IS_ARN: Final = re.compile(r"arn:aws[a-z-]{0,16}:lambda:")
ARN: Final = re.compile(
    r"arn:aws[a-z-]{0,16}:lambda:(?P<region>[a-z0-9-]{1,32}):[0-9]{12}"
    r":function:(?P<name>[A-Za-z0-9_-]{1,64})(?::[A-Za-z0-9_$-]{1,128})?"
)
"""In any partition, with or without an alias or a version."""

MOST_WORDS: Final = 300
"""Characters of what a user's code raises that an error repeats."""


class CallFailed(Exception):
    """Nothing came that could be checked. The message is for people."""


def is_arn(function: str) -> bool:
    """Whether a function is named by its ARN; else it is a file."""
    return bool(IS_ARN.match(function))


def body_of(samples: Any) -> str:
    """The request.

    Raises:
        CallFailed: it is no JSON, or larger than a Lambda takes.
    """
    try:
        body = json.dumps(samples)
    except (TypeError, ValueError, RecursionError) as error:
        raise CallFailed(f"the samples are not JSON: {error}") from None
    if len(body) > LARGEST:
        raise CallFailed(f"the samples have more than {LARGEST:,} bytes: send fewer")
    return body


def ask_lambda(client: Callable[[], Any], arn: str, samples: Any) -> Any:
    """The answer of a Lambda, decoded.

    Args:
        client: makes boto3's, of Lambda.
        arn: of the function.
        samples: sent in one call.

    Raises:
        CallFailed: the request is too large, AWS does not answer it, or the answer is no JSON.
    """
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - of an extra

    body = body_of(samples)
    try:
        response = client().invoke(FunctionName=arn, InvocationType="RequestResponse", Payload=body)
        answer = response["Payload"].read()
    except (BotoCoreError, ClientError, OSError) as error:
        raise CallFailed(f"Lambda invocation failed: {error}") from None
    return _decoded(answer)


def ask_file(path: Path, samples: Any, *, seconds: float = LONGEST) -> Any:
    """The answer of a file's `lambda_handler`, called in a process of its own.

    Its standard error is this process's: a traceback stands there.

    Args:
        path: of a Python file.
        samples: as a Lambda gets them.
        seconds: until the process is killed.

    Raises:
        FileNotFoundError: there is no such file.
        CallFailed: it has no handler, cannot be imported, raises, ends its process, takes too long,
            or answers what is no JSON or too large.
    """
    if not path.is_file():
        raise FileNotFoundError(path)
    body = body_of(samples)
    with TemporaryDirectory(prefix="reward-verify-") as folder:
        answer = Path(folder) / "answer.json"
        # -P: the runner's own folder is no place that the file's imports are looked for.
        command = [sys.executable, "-P", str(RUNNER), str(path.absolute()), str(answer)]
        try:
            done = subprocess.run(  # noqa: S603 - the user's own file
                command,
                input=body.encode(),
                stdout=subprocess.DEVNULL,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise CallFailed(
                f"Handler execution failed: no answer in {seconds:g} seconds"
            ) from None
        if not answer.exists():
            raise CallFailed(f"Handler execution failed: its process ended with {done.returncode}")
        if answer.stat().st_size > LARGEST:
            raise CallFailed(
                f"Handler execution failed: its answer has more than {LARGEST:,} bytes"
            )
        given = _decoded(answer.read_bytes())
    if "failed" in given:
        raise CallFailed(str(given["failed"])[:MOST_WORDS])
    return given["answer"]


def _decoded(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise CallFailed("the answer is not JSON") from None
