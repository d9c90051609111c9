"""The file of a baseline's answers, one line of JSON each: what is there is not asked again.

    {"answers": 1, "setup": "9f2c…"}
    {"prompt": "0a1b…", "attempt": 0, "text": "…", "ended": "end", "input": 210, "output": 94,
     "seconds": 1.9}

A prompt stands there by its digest; its text does not. A file belongs to one model and one way to
draw from it; `appended_lines` keeps it whole.
"""

from __future__ import annotations

import json
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self, get_args

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.types import Usage
from reward_functions.data.appended_lines import AppendedLines
from reward_functions.jobs.model_calls import Ended, ModelAnswer

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

VERSION: Final = 1


class AnswerAttempt(NamedTuple):
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
        self.given: dict[AnswerAttempt, ModelAnswer] = {}
        self._lines = AppendedLines(path)
        try:
            self._continue(path, setup)
        except (ConfigurationError, OSError):
            self._lines.close()
            raise

    def _continue(self, path: Path, setup: str) -> None:
        """Read what is there, or begin."""
        if self._lines.length:
            self.given = _read(path, self._lines.whole(), setup)
        elif self._lines.torn:
            raise _foreign(path)
        else:
            self._lines.append({"answers": VERSION, "setup": setup})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._lines.close()

    def keep(self, attempt: AnswerAttempt, answer: ModelAnswer) -> None:
        """Append an answer; it is on the disk when the method returns."""
        self.given[attempt] = answer
        self._lines.append(
            {
                "prompt": attempt.prompt,
                "attempt": attempt.number,
                "text": answer.text,
                "ended": answer.ended,
                "input": answer.usage.input,
                "output": answer.usage.output,
                "seconds": answer.seconds,
            }
        )


def _read(path: Path, whole: Iterable[bytes], setup: str) -> dict[AnswerAttempt, ModelAnswer]:
    first, *lines = whole
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
    given: dict[AnswerAttempt, ModelAnswer] = {}
    for number, text in enumerate(lines, 2):
        try:
            attempt, answer = _answer(json.loads(text))
        except (ValueError, KeyError, TypeError, RecursionError):
            raise ConfigurationError(f"{path}, line {number}: not an answer") from None
        given[attempt] = answer
    return given


def _answer(line: Any) -> tuple[AnswerAttempt, ModelAnswer]:
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
    seconds = line.get("seconds")
    if not (seconds is None or (type(seconds) is float and isfinite(seconds) and seconds >= 0)):
        raise TypeError
    return AnswerAttempt(prompt, number), ModelAnswer(text, ended, Usage(read, written), seconds)


def _foreign(path: Path) -> ConfigurationError:
    return ConfigurationError(f"{path} is no file of answers: give another with --out")
