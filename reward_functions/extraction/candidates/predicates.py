r"""The one value that a sentence says something is, where it says one.

A value is narrow: a number with what it counts, or a formula. The words around it are free, as long
as they neither deny nor doubt it. A sentence that gives two things two values gives one where the
prompt asks for one of the things.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.core import patterns as re
from reward_functions.extraction.candidates.clauses import hidden, main_clauses
from reward_functions.extraction.cues import clauses as words
from reward_functions.extraction.cues import endings
from reward_functions.extraction.cues.compiling import says
from reward_functions.extraction.cues.lexicon import UNCERTAIN
from reward_functions.extraction.prompt_facts import asked, names, repeats, states

if TYPE_CHECKING:
    from reward_functions.extraction.candidates.clauses import Clause

LONGEST: Final = 600
"""Characters of a sentence. A longer one does not state one value."""

_MARKUP: Final = "*_` \t"
_AMOUNT: Final = re.compile(r"[\d\0$\\π√∞]")
"""A sign of an amount, of which a clause without a value has none."""

_LISTED: Final = re.compile(r"[,;:]\s")
_PLAIN: Final = re.compile(r"[^\s,;:<>≤≥≠=?!$](?:[^,;:<>≤≥≠=?!$]|,(?=\d{3}(?!\d)))*")
"""A formula without delimiters, as far as its marks tell."""


def sentence_value(
    sentence: str,
    prompt: str = "",
    *,
    anything: bool = False,
    answer: bool = False,
    step: bool = False,
) -> str:
    """The value that a sentence gives to what it is about; "" for none, and for several.

    Args:
        sentence: without its full stop.
        prompt: the question: what its conditions repeat, and which of two things it asks for.
        anything: whether it may be about anything, as the object of "the answer is that …" may.
        answer: whether it may speak of the answer.
        step: whether it is a numbered step, which states what it concludes or what is asked for.
    """
    if len(sentence) > LONGEST:
        return ""
    opened = endings.CONNECTIVES.match(sentence)
    concludes = bool(opened and opened["words"])
    body = words.PRECISION.sub("", sentence[opened.end() :] if opened else sentence)
    if words.PROPOSES.match(body) or words.CASED.search(body):
        return ""
    if says(words.EITHER.sub("", body), words.DOUBTED):
        return ""
    clauses, conditions = main_clauses(body)
    if not all(states(prompt, condition) for condition in conditions):
        return ""
    clause, value = _only(clauses, prompt, words.OPEN if anything or answer else words.ANSWER)
    if clause is None or (clause.verb == "has" and not anything):
        return ""
    if step and not concludes and not names(prompt, clause.subject):
        return ""
    if "=" in hidden(value):
        return value
    if not words.WORD.search(hidden(clause.written)):
        name = clause.written.strip("$ ")
        if name:
            return f"{name} = {undelimited(value)}"
    determined = any(map(words.DETERMINED.match, clause.subject.split(",")))
    return value if anything or concludes or determined else ""


def _only(
    clauses: list[Clause], prompt: str, unlikely: frozenset[str]
) -> tuple[Clause | None, str]:
    """The clause that gives the value, and that; None where one denies, or where several differ."""
    found: dict[str, Clause] = {}
    for clause in clauses:
        value = _value(clause, prompt, unlikely)
        if value is None or (value and clause.joined == "or"):
            return None, ""
        if value:
            found[value] = clause
    if len(found) > 1:
        place = asked(prompt, [clause.subject for clause in found.values()])
        found = {} if place is None else dict([list(found.items())[place]])
    return next(((clause, value) for value, clause in found.items()), (None, ""))


def _value(clause: Clause, prompt: str, unlikely: frozenset[str]) -> str | None:
    """The value of a clause: "" where it is about something else, None where it is not certain."""
    subject = words.POSSIBLE.sub(r"\1", clause.subject)
    around = hidden(f"{clause.written} ; {clause.behind}")
    denied = not repeats(prompt, around, words.DENIED, denying=True)
    if denied or not repeats(prompt, subject, unlikely):
        return None
    if clause.verb != "has" and words.INDEFINITE.match(subject):
        return None
    following = clause.behind.lstrip()[len(clause.value) :]
    if subject == "it" and words.CLEFT.match(following):
        return None
    value = amount(clause.value)
    if not value and words.SUFFICES.fullmatch(clause.value):
        value = amount(clause.written)
    if not value:
        vague = _AMOUNT.search(clause.value + clause.rest) or says(clause.value, UNCERTAIN)
        return None if vague or says(clause.value, words.OPEN) else ""
    if clause.verb == "has" and not _says_what(clause.value, value):
        return None
    if _AMOUNT.search(clause.rest) or endings.COMPUTED.search(clause.rest):
        return None
    return value


def _says_what(written: str, value: str) -> bool:
    """Whether it is said what a value counts, or what several values are."""
    return bool(words.WORD.search(hidden(value)) or words.APPOSED.match(written))


def undelimited(value: str) -> str:
    r"""A value without the dollars around its formula, and the unit after it upright."""
    if not value.startswith("$"):
        return value
    formula, _, unit = value[1:].partition("$")
    return rf"{formula}\text{{{unit}}}" if unit.strip() else formula


def amount(text: str) -> str:
    """The number with what it counts, or the formula, that a text is; "" where it is anything else.

    Of a chain it is the last side, after a name where the first one is one. Several numbers with an
    "and" before the last one are a list.
    """
    text = words.PRECISION.sub("", text.replace("**", "")).strip(_MARKUP)
    text = text[words.ADVERBS.match(text).end() :]  # type: ignore[union-attr]
    text = words.REMARK.sub("", text)
    shown = hidden(text)
    sign = shown.rfind("=")
    if sign > 0 and _LISTED.search(shown):
        return ""
    if sign > 0:
        value, name = amount(text[sign + 1 :]), text[: shown.find("=")].strip()
        if not value or not words.WORD.search(shown[: len(name)]):
            return value and f"{undelimited(name)} = {undelimited(value)}"
        return value if words.DETERMINED.match(name) else ""
    aside = endings.ASIDE.search(text)
    if (
        aside
        and not endings.COMPUTED.search(aside["words"])
        and not says(aside["words"], words.OPEN)
    ):
        text = text[: aside.start()]
    several = words.SEVERAL.fullmatch(words.APPOSED.sub("", text, count=1))
    if several:
        return f"{several['first']}, {several['last']}"
    counted = endings.COUNTED.fullmatch(text)
    if counted and not endings.COMPUTED.search(text, counted.end("value")):
        return counted["value"] + counted["unit"]
    counted = words.COUNTED_OF.match(text)
    if counted:
        computed = words.COMPUTED_WAYS if counted["ways"] else words.COMPUTED_OF
        more = computed.search(text, counted.end()) or endings.COMPUTED.search(counted["unit"])
        return "" if more else counted["value"] + counted["unit"]
    formula = (
        _PLAIN.fullmatch(text) and _AMOUNT.search(text) and not words.WORD.search(hidden(text))
    )
    return text if formula else ""
