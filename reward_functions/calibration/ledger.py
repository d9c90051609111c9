"""The ledger: the ratings of a run, one line of JSON each, so that a resumed run repeats no call.

    {"ledger": 1, "setup": "9f2c…"}
    {"case": "pandalm-12", "swapped": false, "repeat": 0, "value": 1.0}
    {"case": "pandalm-13", "swapped": false, "repeat": 0, "value": null, "invalid": "cut"}

The ledger holds no text of a prompt, a response or a judge. A run can be resumed with the same
judge, models, instructions and cases only. An incomplete last line, left by an interrupted run, is
removed.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Final, Self

from reward_functions.calibration.ratings import Rating, Trial
from reward_functions.core.errors import ConfigurationError
from reward_functions.data.atomic import named

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

VERSION: Final = 1


class AnswerLedger:
    """A file of ratings, open for appending.

    Args:
        path: the file.
        setup: a hash of everything a rating depends on.
        resume: continue an existing file; without it the file must not exist.

    Raises:
        ConfigurationError: the file exists and `resume` is false, or it is not this run's ledger.
        OSError: it cannot be read or written.
    """

    def __init__(self, path: Path, setup: str, *, resume: bool) -> None:
        self.path = path
        self.given: Mapping[Trial, Rating] = {}
        kept = b""
        if path.exists():
            if not resume:
                raise ConfigurationError(
                    f"{path} holds answers of an earlier run: --resume continues it; delete it to "
                    "ask again"
                )
            kept = _whole_lines(path.read_bytes())
            self.given = _ratings(path, kept.decode("utf-8", "replace"), setup)
        self._stream = path.open("r+b" if path.exists() else "xb")
        self._stream.truncate(len(kept))
        self._stream.seek(len(kept))
        if not kept:
            self._write([{"ledger": VERSION, "setup": setup}])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._stream.close()

    def keep(self, ratings: Iterable[Rating]) -> None:
        """Append ratings; they are on the disk when the method returns."""
        self._write([_line(rating) for rating in ratings])

    def _write(self, lines: Iterable[Mapping[str, Any]]) -> None:
        with named(self.path):
            self._stream.write("".join(f"{json.dumps(line)}\n" for line in lines).encode())
            self._stream.flush()
            os.fsync(self._stream.fileno())


def _line(rating: Rating) -> dict[str, Any]:
    line: dict[str, Any] = {**rating.trial._asdict(), "value": rating.value}
    if rating.value is None:
        return line | {"invalid": rating.invalid}
    further = {
        "confidence": rating.confidence,
        "inconsistent": rating.inconsistent,
        "unasked": rating.unasked or None,
    }
    return line | {name: value for name, value in further.items() if value is not None}


def _whole_lines(content: bytes) -> bytes:
    """The content without an incomplete last line."""
    return content[: content.rfind(b"\n") + 1]


def _ratings(path: Path, content: str, setup: str) -> dict[Trial, Rating]:
    first, *lines = content.splitlines() or [""]
    if not first:
        return {}
    header = _object(first)
    if header is None or header.get("ledger") != VERSION:
        raise ConfigurationError(f"{path}, line 1: not the ledger of a calibration")
    if header.get("setup") != setup:
        raise ConfigurationError(
            f"{path} belongs to another run: the judge, its models or the cases have changed"
        )
    given = {}
    for number, line in enumerate(lines, 2):
        rating = _rating(_object(line) or {})
        if rating is None:
            raise ConfigurationError(f"{path}, line {number}: not a rating of a calibration")
        given[rating.trial] = rating
    return given


def _object(line: str) -> dict[str, Any] | None:
    try:
        decoded = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return decoded if isinstance(decoded, dict) else None


def _rating(line: Mapping[str, Any]) -> Rating | None:
    try:
        value = line["value"]
        trial = Trial(str(line["case"]), bool(line["swapped"]), int(line["repeat"]))
        legal = value is None or (type(value) in (int, float) and 0 <= value <= 1)
    except (KeyError, TypeError, ValueError):
        return None
    if not legal:
        return None
    return Rating(
        trial=trial,
        value=value,
        invalid=str(line.get("invalid", "")),
        confidence=line.get("confidence"),
        inconsistent=line.get("inconsistent"),
        unasked=bool(line.get("unasked")),
    )
