r"""The answer of a response that ends with a JSON object: `{"answer": "\\frac{1}{2}"}` is ½.

A model that is asked for JSON escapes what it writes, so that the object is decoded before anything
in it is read. Where that leaves no JSON, or a form feed of `\f`, its backslashes are no escapes.
"""

from __future__ import annotations

from typing import Any, Final

from reward_functions.core import patterns as re
from reward_functions.core.jsons import final_object

KEYS: Final = frozenset({"answer", "final_answer"})
"""Names that an answer has, whatever their case and the space in them."""

_FURTHER: Final = ("answer", "alternative", "candidate", "possib", "other")
"""Parts of the names of a second answer, beside which an object has none that is read here."""

_NAMED: Final = ('nswer"', 'NSWER"')
_FENCE: Final = "```"
_OPENING: Final = re.compile(r"(?<!`)```\w{0,12}\s{0,8}\Z")
_CONTROL: Final = re.compile(r"[\0-\x08\x0b-\x1f]|[\t\n](?=[a-z])")
_BREAK: Final = re.compile(r"[\t\n ]+")
OPENER: Final = 30
"""Characters before an object in which its fence opens."""


def with_json_answer(text: str) -> str:
    """A response with the answer of its final JSON object in tags in the place of the object."""
    if '"' not in text or not text[-OPENER:].rstrip().endswith(("}", _FENCE)):
        return text
    if not any(map(text.__contains__, _NAMED)):
        return text
    bare = text.rstrip()
    fenced = bare.endswith(_FENCE)
    for literal in (False, True):
        found = final_object(bare.removesuffix(_FENCE), literal=literal)
        answer = _answer(found[0]) if found else None
        if found and answer is not None:
            start = _fence(text, found[1]) if fenced else found[1]
            return f"{text[:start]}<answer>{answer}</answer>" if start >= 0 else text
    return text


def _fence(text: str, start: int) -> int:
    """Where the fence opens that an object stands in; -1 where none does."""
    opening = _OPENING.search(text, max(0, start - OPENER), start)
    return opening.start() if opening else -1


def _answer(found: dict[str, Any]) -> str | None:
    """The one answer of an object as text; None where it has none or several."""
    names = {"_".join(name.lower().split()): name for name in found}
    answers = [name for name in names if any(part in name for part in _FURTHER)]
    one = len(answers) == 1 and answers[0] in KEYS
    return _text(found[names[answers[0]]]) if one else None


def _text(value: Any) -> str | None:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return None if _CONTROL.search(value) else _BREAK.sub(" ", value)
    if not isinstance(value, list):
        return None
    members = [_text(each) if not isinstance(each, list) else None for each in value]
    return None if None in members else f"[{', '.join(filter(None, members))}]"


def in_array(text: str, start: int, end: int) -> bool:
    """Whether an object is the first or the last element of an array."""
    before, after = text[max(0, start - 80) : start].rstrip(), text[end : end + 80].lstrip()
    first = before.endswith("[") and not before.endswith("\\[")
    return first or (before.endswith(",") and after.startswith("]"))
