"""The readings of a run, a line of JSON each, so that what was paid for is paid for once.

    {"ledger": 1, "setup": "9f2c…"}
    {"case": "pandalm-12", "swapped": false, "repeat": 0, "value": 1.0}
    {"case": "pandalm-13", "swapped": false, "repeat": 0, "value": null, "unusable": "cut"}

No text of a prompt, a response or a judge goes there. A run that goes on with a ledger must be the
same run: same judge, same models, same instructions, same cases. A line that was cut off when the
run before was ended is no reading, and is taken away.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Final, Self

from reward_functions.core.errors import ConfigurationError
from reward_functions.tools.calibration.readings import Reading, Turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

VERSION: Final = 1


class Ledger:
    """A file of readings, open to be continued.

    Args:
        path: the file.
        setup: a hash of everything a reading depends on.
        resume: go on with the file where it is there; else it must not be.

    Raises:
        ConfigurationError: the file is there and is not to be continued, or cannot be.
        OSError: it cannot be read or written.
    """

    def __init__(self, path: Path, setup: str, *, resume: bool) -> None:
        self.path = path
        self.given: Mapping[Turn, Reading] = {}
        kept = b""
        if path.exists():
            if not resume:
                raise ConfigurationError(
                    f"{path} holds answers of an earlier run: --resume goes on with them; delete "
                    "it to ask again"
                )
            kept = _whole_lines(path.read_bytes())
            self.given = _readings(path, kept.decode("utf-8", "replace"), setup)
        self._stream = path.open("r+b" if path.exists() else "xb")
        self._stream.truncate(len(kept))
        self._stream.seek(len(kept))
        if not kept:
            self._write([{"ledger": VERSION, "setup": setup}])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._stream.close()

    def keep(self, readings: Iterable[Reading]) -> None:
        """Write readings down; they are on the disk when this returns."""
        self._write([_line(reading) for reading in readings])

    def _write(self, lines: Iterable[Mapping[str, Any]]) -> None:
        self._stream.write("".join(f"{json.dumps(line)}\n" for line in lines).encode())
        self._stream.flush()
        os.fsync(self._stream.fileno())


def _line(reading: Reading) -> dict[str, Any]:
    told: dict[str, Any] = {**reading.turn._asdict(), "value": reading.value}
    if reading.value is None:
        return told | {"unusable": reading.unusable}
    further = {"confidence": reading.confidence, "inconsistent": reading.inconsistent}
    return told | {name: value for name, value in further.items() if value is not None}


def _whole_lines(content: bytes) -> bytes:
    """The content without a last line that has no end."""
    return content[: content.rfind(b"\n") + 1]


def _readings(path: Path, content: str, setup: str) -> dict[Turn, Reading]:
    first, *lines = content.splitlines() or [""]
    if not first:
        return {}
    header = _object(first)
    if header is None or header.get("ledger") != VERSION:
        raise ConfigurationError(f"{path}, line 1: no ledger of a calibration")
    if header.get("setup") != setup:
        raise ConfigurationError(
            f"{path} belongs to another run: the judge, its models or the cases have changed"
        )
    given = {}
    for number, line in enumerate(lines, 2):
        reading = _reading(_object(line) or {})
        if reading is None:
            raise ConfigurationError(f"{path}, line {number}: no reading of a calibration")
        given[reading.turn] = reading
    return given


def _object(line: str) -> dict[str, Any] | None:
    try:
        told = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return told if isinstance(told, dict) else None


def _reading(told: Mapping[str, Any]) -> Reading | None:
    try:
        value = told["value"]
        turn = Turn(str(told["case"]), bool(told["swapped"]), int(told["repeat"]))
        usable = value is None or (type(value) in (int, float) and 0 <= value <= 1)
    except (KeyError, TypeError, ValueError):
        return None
    if not usable:
        return None
    return Reading(
        turn=turn,
        value=value,
        unusable=str(told.get("unusable", "")),
        confidence=told.get("confidence"),
        inconsistent=told.get("inconsistent"),
    )
