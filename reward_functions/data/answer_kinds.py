"""What answer a reference states, and of which kind it is: a percentage, a choice, a formula.

Read in every shape that the data sets and trainers have. An evaluation compares prompts by it, and
the simulated policy learns for each kind by itself.
"""

from __future__ import annotations

import re
from typing import Any, Final, Literal

from reward_functions.core.references import reference_fields, reference_text
from reward_functions.extraction.answer import Answer
from reward_functions.extraction.markup import plain
from reward_functions.extraction.selection import boxed_answer

Shown = Literal["ANSWER:", "####", "box"]
"""A form in which a reference shows its answer."""

LONG: Final = 80
"""Characters from which a reference is free text, of which no slip of a figure can be made."""

NUMBER: Final = re.compile(
    r"(?P<lead>[-+−]?\s?(?:\\?\$|[€£])?\s?[-+−]?)"
    r"(?P<value>(?:\d{1,3}(?:,\d{3})+|\d{1,40})(?:\.\d{1,40})?|\.\d{1,40})"
    r"(?P<tail>\s?\\?%|[A-Za-z .]{0,40})"
)
_YES_OR_NO: Final = re.compile(r"yes|no|true|false", re.IGNORECASE)
CHOICE: Final = re.compile(r"(\(?)([A-J])(\)?)")
_WORDS: Final = re.compile(r"(?=.*[A-Za-z]{3})[A-Za-z][A-Za-z' .,-]*", re.DOTALL)
BOXED: Final = re.compile(r"\\f?boxed|\\fbox")


def stated_answer(reference: Any) -> tuple[str, Shown | None]:
    """The answer of a reference, and the form in which the reference shows it, if any.

    Args:
        reference: in any shape that `core.references` reads, a FinQA record, or a prepared one.

    Raises:
        BadReference: no answer can be read from it.
    """
    fields = reference_fields(reference) or {}
    if isinstance(fields.get("qa"), dict):
        fields = fields["qa"]
    if "unit" in fields and "value" in fields:
        return f"{fields['value']}{'%' * (fields['unit'] == 'percent')}", "ANSWER:"
    if fields.get("exe_ans") is not None:
        written = str(fields.get("answer") or "").strip()
        known = NUMBER.fullmatch(written) or _YES_OR_NO.fullmatch(written)
        return written if known else reference_text(fields["exe_ans"]), "ANSWER:"
    text = reference_text(reference).strip()
    if "####" in text:
        return text.rpartition("####")[2].strip(), "####"
    boxed = boxed_answer(text) if BOXED.search(text) else None
    if isinstance(boxed, Answer):
        return boxed.text, "box"
    return text.removeprefix("$").removesuffix("$") if text.count("$") == 2 else text, None  # noqa: PLR2004 - a pair


def kind_of(answer: str) -> str:
    """The kind of an answer: "whole number", "percentage", "formula" and so on."""
    number = NUMBER.fullmatch(answer)
    if number:
        if "%" in number["tail"]:
            return "percentage"
        return "decimal" if "." in number["value"] else "whole number"
    if _YES_OR_NO.fullmatch(answer):
        return "yes or no"
    if CHOICE.fullmatch(answer):
        return "choice"
    return "words" if len(answer) > LONG or _WORDS.fullmatch(plain(answer)) else "formula"
