"""A judge's ratings of cases: a value, or an invalid verdict; and the ledger that keeps them.

An invalid verdict is the judge's fault and is counted. A failed call or an unreadable case is
not: such a trial has no rating, and the card counts it separately.

The ledger has one line of JSON for each rating, so that a resumed run repeats no call.

    {"ledger": 1, "setup": "9f2c…"}
    {"case": "pandalm-12", "swapped": false, "repeat": 0, "value": 1.0}
    {"case": "pandalm-13", "swapped": false, "repeat": 0, "value": null, "invalid": "cut"}

It holds no text of a prompt, a response or a judge. A run can be resumed with the same judge,
models, instructions and cases only. An incomplete last line is removed: an interruption left it.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple, Self

from pydantic import BaseModel, Field, ValidationError

from reward_functions.core.errors import ConfigurationError
from reward_functions.data.atomic import named
from reward_functions.reports.measured import Measured

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from reward_functions.calibration.cases import LabelledCases


class Trial(NamedTuple):
    """One presentation of a case to a judge.

    Args:
        case: the id of the case.
        swapped: whether the responses of the pair are in the other order.
        repeat: the number of earlier trials in this order.
    """

    case: str
    swapped: bool = False
    repeat: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rating:
    """The judge's answer in one trial.

    Args:
        trial: which.
        value: 0 to 1, of the response that is first in the file; None for an invalid verdict.
        invalid: the kind of an invalid verdict: "malformed", "cut", "refused", "other"; else "".
        confidence: as the judge reports it, 0 to 1; None where it reports none.
        inconsistent: whether a judge that asks in both orders by itself contradicted itself; None
            for other judges.
        unasked: whether the judge decided the trial without its model.
    """

    trial: Trial
    value: float | None
    invalid: str = ""
    confidence: float | None = None
    inconsistent: bool | None = None
    unasked: bool = False


@dataclass(frozen=True, slots=True)
class Ratings:
    """All ratings of a run.

    Args:
        given: by the trial.
        missing: the reason, for each trial without a rating.
    """

    given: Mapping[Trial, Rating]
    missing: Mapping[Trial, str]

    @property
    def measured(self) -> Measured:
        """How many trials have a valid verdict."""
        valid = sum(rating.value is not None for rating in self.given.values())
        unasked = sum(rating.unasked for rating in self.given.values())
        missing = len(self.given) - valid + len(self.missing)
        return Measured("trials", valid - unasked, missing, unasked)

    def first(self, case: str) -> Rating | None:
        """The rating of the first trial of a case, in the order of the file; None without one."""
        return self.given.get(Trial(case))


def recorded(cases: LabelledCases, field: str) -> Ratings:
    """The ratings in a field of the cases, written as labels are.

    Anything else there, null included, is an invalid verdict.
    """
    given: dict[Trial, Rating] = {}
    missing: dict[Trial, str] = {}
    for case in cases.items:
        trial = Trial(case.id)
        if field not in case.row:
            missing[trial] = f"{case.where}: nothing is recorded under {field!r}"
            continue
        value = cases.labels.read(case.row[field])
        invalid = "" if value is not None else "other"
        given[trial] = Rating(trial=trial, value=value, invalid=invalid)
    return Ratings(given, missing)


def agreeing(answers: Sequence[tuple[float, float]]) -> Tally:
    """The share of pairs with equal answers."""
    return Tally(sum(one == other for one, other in answers), len(answers))


class Tally(NamedTuple):
    """A count, and the total it is part of."""

    part: int
    whole: int

    @property
    def value(self) -> float | None:
        """0 to 1; None where the total is 0."""
        return self.part / self.whole if self.whole else None


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


class _Line(BaseModel):
    """A rating as a line of the ledger."""

    case: str
    swapped: bool
    repeat: int
    value: Annotated[float | None, Field(ge=0, le=1, strict=True, allow_inf_nan=False)]
    invalid: str = ""
    confidence: float | None = None
    inconsistent: bool | None = None
    unasked: bool = False

    @property
    def rating(self) -> Rating:
        """What it says."""
        further = self.model_dump(include={"value", "invalid", "confidence", "inconsistent"})
        trial = Trial(self.case, self.swapped, self.repeat)
        return Rating(trial=trial, unasked=self.unasked, **further)


def _line(rating: Rating) -> dict[str, Any]:
    line = _Line(
        **rating.trial._asdict(),
        **{
            each.name: getattr(rating, each.name) for each in fields(rating) if each.name != "trial"
        },
    )
    return line.model_dump(exclude_defaults=True)


def _whole_lines(content: bytes) -> bytes:
    """The content without an incomplete last line."""
    return content[: content.rfind(b"\n") + 1]


def _ratings(path: Path, content: str, setup: str) -> dict[Trial, Rating]:
    first, *lines = content.splitlines() or [""]
    if not first:
        return {}
    try:
        header = json.loads(first)
        known = header.pop("ledger") == VERSION
    except (ValueError, AttributeError, KeyError):
        known = False
    if not known:
        raise ConfigurationError(f"{path}, line 1: not the ledger of a calibration")
    if header.get("setup") != setup:
        raise ConfigurationError(
            f"{path} belongs to another run: the judge, its models or the cases have changed"
        )
    given = {}
    for number, line in enumerate(lines, 2):
        try:
            rating = _Line.model_validate_json(line).rating
        except ValidationError:
            raise ConfigurationError(
                f"{path}, line {number}: not a rating of a calibration"
            ) from None
        given[rating.trial] = rating
    return given
