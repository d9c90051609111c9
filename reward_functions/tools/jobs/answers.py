"""The file of a baseline's answers, one line of JSON each: what is there is not asked again.

    {"answers": 1, "setup": "9f2c…"}
    {"prompt": "0a1b…", "attempt": 0, "text": "…", "ended": "end", "input": 210, "output": 94}

A prompt stands there by its digest; its text does not. A file belongs to one model and one way to
draw from it, is written by one command at a time, and is made for its owner alone. An incomplete
last line, left by an interruption, is removed.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self, get_args

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.types import Usage
from reward_functions.tools.jobs.model_calls import Ended, ModelAnswer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import BinaryIO

VERSION: Final = 1

PRIVATE: Final = 0o600
"""The mode of a new file: answers may repeat prompts."""


class Attempt(NamedTuple):
    """One of the answers to a prompt.

    Args:
        prompt: the digest of its turns.
        number: from 0.
    """

    prompt: str
    number: int


class AnswerFile:
    """Answers that are kept, open for appending.

    Args:
        path: of the file; an existing one is continued.
        setup: a digest of the model and of the way to draw from it.

    Raises:
        ConfigurationError: the file holds something else, or answers of another setup, or another
            command writes to it.
        OSError: it cannot be read or written.
    """

    def __init__(self, path: Path, setup: str) -> None:
        self.path = path
        self.given: dict[Attempt, ModelAnswer] = {}
        self._stream = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, PRIVATE), "r+b")
        try:
            _lock(self._stream, path)
            self._continue(setup)
        except (ConfigurationError, OSError):
            self._stream.close()
            raise

    def _continue(self, setup: str) -> None:
        """Read what is there, and go on behind its last whole line."""
        content = self._stream.read()
        whole = content[: content.rfind(b"\n") + 1]
        if whole:
            self.given = _read(self.path, whole, setup)
        elif content:
            raise _foreign(self.path)
        self._stream.truncate(len(whole))
        self._stream.seek(len(whole))
        if not whole:
            self._write({"answers": VERSION, "setup": setup})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._stream.close()

    def keep(self, attempt: Attempt, answer: ModelAnswer) -> None:
        """Append an answer; it is on the disk when the method returns."""
        self.given[attempt] = answer
        self._write(
            {
                "prompt": attempt.prompt,
                "attempt": attempt.number,
                "text": answer.text,
                "ended": answer.ended,
                "input": answer.usage.input,
                "output": answer.usage.output,
            }
        )

    def _write(self, line: Mapping[str, Any]) -> None:
        self._stream.write(f"{json.dumps(line)}\n".encode())
        self._stream.flush()
        os.fsync(self._stream.fileno())


def _read(path: Path, whole: bytes, setup: str) -> dict[Attempt, ModelAnswer]:
    first, *lines = whole.splitlines()
    try:
        head = json.loads(first)
    except (ValueError, RecursionError):
        head = None
    if not isinstance(head, dict) or head.get("answers") != VERSION:
        raise _foreign(path)
    if head.get("setup") != setup:
        raise ConfigurationError(
            f"{path} holds answers of another model, temperature or limit of tokens: give another "
            "file with --out"
        )
    given: dict[Attempt, ModelAnswer] = {}
    for number, text in enumerate(lines, 2):
        try:
            attempt, answer = _answer(json.loads(text))
        except (ValueError, KeyError, TypeError, RecursionError):
            raise ConfigurationError(f"{path}, line {number}: not an answer") from None
        given[attempt] = answer
    return given


def _answer(line: Any) -> tuple[Attempt, ModelAnswer]:
    """One line; not by pydantic, whose strings hold no half of a surrogate pair.

    Raises:
        KeyError, TypeError, ValueError: it is not an answer.
    """
    prompt, number, text, ended = (line[name] for name in ("prompt", "attempt", "text", "ended"))
    if not (isinstance(prompt, str) and isinstance(text, str) and ended in get_args(Ended)):
        raise TypeError
    read, written = line["input"], line["output"]
    if not all(type(each) is int and each >= 0 for each in (number, read, written)):
        raise TypeError
    return Attempt(prompt, number), ModelAnswer(text, ended, Usage(read, written))


def _lock(stream: BinaryIO, path: Path) -> None:
    """Keep other commands out for as long as the file is open."""
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock  # noqa: PLC0415 - Windows has none
    except ImportError:
        return
    try:
        flock(stream, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        raise ConfigurationError(
            f"{path}: another command writes its answers there: wait for it, or give another file "
            "with --out"
        ) from None


def _foreign(path: Path) -> ConfigurationError:
    return ConfigurationError(f"{path} is no file of answers: give another with --out")
