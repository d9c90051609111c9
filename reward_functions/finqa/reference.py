"""The answer of a FinQA record: its answer string, executed answer and program as one.

    classify(answer, executed, program=…, table=…, question=…) -> Reference    the parts of a record
    classify_record(record) -> Reference                                       a whole record
    prepare(record) -> dict                                                    that, as JSON
    prepared(fields) -> Reference                                              that JSON, read back

The three can disagree, and about a record in seven of a hard sample does. `Agreement` names how;
`Reference.noise` is that class where it makes the record noisy, and None where it does not. A noisy
reference accepts either value (the other one is in `aliases`). You decide whether to drop it when
you prepare a data set.

A percentage is held in points (12.497 for "12.5%" and 0.12497); a number as it is stored.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.errors import BadReference
from reward_functions.finqa.agreement import (
    SCALES,
    WORDS,
    Agreement,
    Known,
    Reference,
    alone,
    compared,
)
from reward_functions.finqa.program import PLACES, ProgramError, execute, parse, rounded

if TYPE_CHECKING:
    from reward_functions.finqa.program import Rows

__all__ = [
    "Agreement",
    "Known",
    "Reference",
    "answer_alone",
    "as_json",
    "classify",
    "classify_record",
    "prepare",
    "prepared",
]

MAX_ANSWER: Final = 400
"""Characters of an answer string that are read. The longest of the data set has 120."""

MAX_DIGITS: Final = 300
"""Characters of a value in the prepared shape: as many digits as a double has before its point."""

MAX_PRINTED: Final = 20
"""Decimal places that are written for a value without an end. Nobody answers with more."""


def classify(
    answer: str,
    executed: str | float,
    *,
    program: str | None = None,
    table: Rows | None = None,
    question: str = "",
) -> Reference:
    """The reference that the parts of a record make.

    Args:
        answer: the answer string (`qa.answer`); may be empty.
        executed: the executed answer (`qa.exe_ans`): a number, or "yes" or "no".
        program: the program (`qa.program`), executed again where it can be. Where it computes to
            the executed answer, its exact result is the value.
        table: the rows its table operations read; without them such a program is not executed.
        question: names the scale ("in millions"), and whether a decrease is asked for.

    Returns:
        A reference whose `agreement` is never None. It never raises for a program: see `failure`.

    Raises:
        BadReference: `executed` is neither a finite number nor "yes" nor "no".
    """
    value, failure = _reexecuted(_executed(executed), program, table)
    found = compared(answer.strip()[:MAX_ANSWER], value, question)
    agreement = found.agreement
    if failure and agreement and not agreement.noisy:
        agreement = Agreement.PROGRAM
    return found._replace(
        agreement=agreement,
        noise=agreement.value if agreement and agreement.noisy else None,
        program=program or None,
        failure=failure,
    )


def prepare(record: Mapping[str, Any]) -> dict[str, Any]:
    """The prepared reference of a record in the data set's own shape.

    Args:
        record: a FinQA record: `qa` with `question`, `answer`, `exe_ans` and `program`; `table`.

    Returns:
        An object for JSON: `value` (a decimal string of at most `MAX_PRINTED` places, "yes" or
        "no"), `unit`, `scale`, `direction`, `decimals`, `aliases`, `program`, `noise`. `currency`
        and `counted` follow where the answer string names a currency, or a scale that the question
        does not.

    Raises:
        BadReference: a field is missing or of another type; the message names it.
    """
    return as_json(classify_record(record))


def answer_alone(answer: str, *, question: str = "") -> Reference:
    """The reference that an answer string makes where nothing else is known.

    Raises:
        BadReference: it is empty, or states no one value.
    """
    if not answer.strip():
        raise BadReference("answer is empty, and there is no exe_ans")
    found = alone(answer.strip()[:MAX_ANSWER], question)
    if found is None:
        raise BadReference("answer states no one value, and there is no exe_ans")
    return found


def as_json(reference: Reference) -> dict[str, Any]:
    """The prepared shape of a reference, which `prepared` reads back."""
    shape = {
        "value": _printed(reference.answer.value),
        "unit": reference.unit,
        "scale": reference.scale,
        "direction": reference.direction,
        "decimals": reference.decimals,
        "aliases": [_printed(alias.value, alias.places) for alias in reference.aliases],
        "program": reference.program,
        "noise": reference.noise,
    }
    rare = {"currency": reference.currency, "counted": reference.counted}
    return shape | {name: value for name, value in rare.items() if value}


def classify_record(record: Mapping[str, Any]) -> Reference:
    """The reference of a record in the data set's own shape; `classify` over its fields.

    Raises:
        BadReference: a field is missing or of another type; the message names it.
    """
    qa = _field(record, "qa", Mapping)
    table = record.get("table")
    if table is not None and not _is_table(table):
        raise BadReference("table is no list of rows")
    program = qa.get("program")
    if program is not None and not isinstance(program, str):
        raise BadReference(f"qa.program is of type {type(program).__name__}, not str")
    if "exe_ans" not in qa:
        raise BadReference("qa.exe_ans is missing")
    return classify(
        _field(qa, "answer", str, "qa."),
        qa["exe_ans"],
        program=program,
        table=table,
        question=_field(qa, "question", str, "qa."),
    )


def prepared(fields: Mapping[str, Any]) -> Reference:
    """The reference in its prepared shape, read back.

    Raises:
        BadReference: a field is missing or of another type; the message names it.
    """
    unit = fields.get("unit")
    if unit not in ("percent", "number", "yesno"):
        raise BadReference("unit is none of percent, number, yesno")
    noise, scale = fields.get("noise"), fields.get("scale") or 1
    direction, decimals = fields.get("direction"), fields.get("decimals")
    program, currency = fields.get("program"), fields.get("currency")
    aliases = fields.get("aliases") or ()
    for name, size in (("scale", scale), ("counted", fields.get("counted") or 1)):
        if size not in SCALES or isinstance(size, bool):
            raise BadReference(f"{name} is none of {', '.join(map(str, SCALES))}")
    if direction not in (None, "decrease"):
        raise BadReference('direction is neither "decrease" nor null')
    if decimals is not None and (type(decimals) is not int or not 0 <= decimals <= MAX_DIGITS):
        raise BadReference("decimals is no small whole number")
    if not isinstance(aliases, list | tuple):
        raise BadReference("aliases is no list")
    for name in ("noise", "program", "currency"):
        if not isinstance(fields.get(name), str | None):
            raise BadReference(f"{name} is of type {type(fields[name]).__name__}, not str")
    least = PLACES - 2 if unit == "percent" else PLACES
    return Reference(
        unit,
        _known(fields.get("value"), unit, "value", least),
        scale=scale,
        direction=direction,
        decimals=decimals,
        aliases=tuple(_known(alias, unit, "aliases", 0 if noise else None) for alias in aliases),
        program=program or None,
        currency=currency,
        noise=noise or None,
        counted=fields.get("counted") or None,
    )


def _known(value: Any, unit: str, name: str, least: int | None) -> Known:
    """A value of the prepared shape, known to the places it has, and to `least` at the least."""
    if value in WORDS and (unit == "yesno" or name == "aliases"):
        return Known(value)
    if unit == "yesno":
        raise BadReference(f"{name} is neither yes nor no")
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise BadReference(f"{name} is of type {type(value).__name__}, not a decimal string")
    match = _DECIMAL.fullmatch(str(value)) if len(str(value)) <= MAX_DIGITS else None
    if match is None:
        raise BadReference(f"{name} is no decimal string")
    decimals = match["decimals"] or ""
    value = Fraction(int(match["whole"] + decimals), 10 ** len(decimals))
    return Known(value, None if least is None else max(least, len(decimals)))


def _printed(value: Fraction | str, places: int | None = None) -> str:
    """A value as a decimal string, exact where it ends within `MAX_PRINTED` places."""
    if isinstance(value, str):
        return value
    digits = MAX_PRINTED if places is None else min(places, MAX_PRINTED)
    whole = f"{abs(round(value * 10**digits)):0{digits + 1}d}"
    text = f"{whole[: len(whole) - digits]}.{whole[len(whole) - digits :]}"
    sign = "-" if value < 0 else ""
    return sign + (text.rstrip("0") if places is None else text).rstrip(".")


def _executed(executed: Any) -> Fraction | str:
    """The executed answer, exactly as it is stored."""
    text = str(executed).strip().lower() if isinstance(executed, str | int | float) else ""
    if text in WORDS:
        return text
    if isinstance(executed, bool) or (isinstance(executed, float) and not isfinite(executed)):
        raise BadReference("exe_ans is no finite number")
    if not _NUMBER.fullmatch(text):
        raise BadReference("exe_ans is neither a number nor yes nor no")
    return Fraction(text)


def _reexecuted(
    executed: Fraction | str, program: str | None, table: Rows | None
) -> tuple[Known, str]:
    """The executed answer, exact where the program computes to it; and why it does not."""
    stored = Known(executed, None if isinstance(executed, str) else PLACES)
    if not program or (table is None and "table_" in program.lower()):
        return stored, ""
    try:
        result = execute(parse(program), table or ())
    except ProgramError as error:
        return stored, str(error)
    if isinstance(executed, str) or isinstance(result, str):
        return stored, "" if executed == result else "the program computes to another answer"
    try:
        same = Fraction(str(rounded(result))) == Fraction(str(round(float(executed), PLACES)))
    except OverflowError:  # beyond doubles, which is what a program computes with
        same = False
    if same:
        return Known(result), ""
    return stored, "the program computes to another answer"


def _field(fields: Mapping[str, Any], name: str, kind: type, within: str = "") -> Any:
    if name not in fields:
        raise BadReference(f"{within}{name} is missing")
    if not isinstance(fields[name], kind):
        found = type(fields[name]).__name__
        raise BadReference(f"{within}{name} is of type {found}, not {kind.__name__}")
    return fields[name]


def _is_table(table: Any) -> bool:
    return isinstance(table, list) and all(isinstance(row, list) for row in table)


_DECIMAL: Final = re.compile(r"(?P<whole>[-+]?(?=\.?[0-9])[0-9]*)(?:\.(?P<decimals>[0-9]*))?")
_NUMBER: Final = re.compile(r"[-+]?(?=\.?[0-9])[0-9]{0,310}(?:\.[0-9]{0,40})?(?:e[-+]?[0-9]{1,3})?")
