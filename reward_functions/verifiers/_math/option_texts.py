r"""Choices of the prompt: a letter and the text of its option are one answer, in both directions.

`39` is choice C where the prompt says "(A) 50 (B) 42 (C) 39", and C is 39. Only the prompt has the
text of a choice; where it does not, the text behind a letter is believed, and a second box beside
that of the letter is a second answer. An answer that equals the texts of two options names none.
A text behind a letter contradicts it as another option's, or with another value; other texts say
nothing.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from reward_functions import symbolic
from reward_functions.core import patterns as re
from reward_functions.extraction.answer import Answer, NoAnswer
from reward_functions.extraction.choices import (
    KEPT,
    differs,
    lettered,
    options_in,
    speaks_against,
)
from reward_functions.extraction.cues import choices as words
from reward_functions.extraction.option_sets import asks_for_order, boxes_with_or, option_set
from reward_functions.quantities.unicode_forms import folded
from reward_functions.verifiers._math.restatement import restates

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reward_functions.symbolic import EqualityVerdict

_BEHIND: Final = re.compile(
    r"(?P<text>[^(].*),\s(?P<letter>(?:\\(?:text|textbf|mathrm|mbox)\s?\{\s?)?\([A-Z]\)\s?\}?)",
    re.DOTALL,
)
_BESIDE: Final = re.compile(
    r"(?P<letter>[A-Z])(?:\s|\\[,;:! ])?(?:\\text\s?\{)?\s?\((?P<text>[^()]+)\)\}?"
)
_MAY_LETTER: Final = re.compile(
    r"[\s$*]{0,4}(?:\\(?:text|math|mbox|bf|rm)[a-z]{0,2}\s?\{\s?)?[(\[]?[A-Za-z]"
)
"""How a choice by letter begins; numbers and most formulas do not."""

_MAY_BE_SET: Final = re.compile(r"[^A-Z]{0,20}(?:[A-Z][^A-Z]{0,20}){2,10}").fullmatch
"""How several letters look; few other references do."""

LABEL: Final = "A: "
"""The mark of a last line, which is choice A where the prompt offers one."""


def agreed(found: Answer, reference: str, prompt: str) -> Answer | NoAnswer:
    """An answer as the reference names its choice: by letter, or by the text of the option.

    Args:
        found: the answer. One that is no choice of the prompt is returned as it is.
        reference: the reference.
        prompt: the question. Where it offers no option of that letter, or one whose text is not
            decided to be the same or another, the answer is returned as it is as well.
    """
    named = _MAY_LETTER.match(reference) and lettered(reference)
    given = _given(found.text)
    options = options_in(prompt) if prompt and (named or given) else {}
    if not options:
        labelled = found.kind == "last_sentence" and found.text.startswith(LABEL)
        return found._replace(text=found.text[len(LABEL) :]) if labelled else found
    letter = ""
    if given and given[0] in options:
        letter, text = given
        if _against(text, letter, options) or _other(found.behind, letter, options):
            reason = "the letter and the text of the answer are two choices"
            return NoAnswer(reason, "letter-and-text")
    if named and named[0] in options:
        by_text = "" if letter else _by_text(found.text, options)
        if by_text == _SEVERAL:
            return NoAnswer("the answer is the text of two choices", "option-two")
        if by_text and restates(found.text, options[by_text], prompt):
            return NoAnswer("the answer restates the question", "restated")
        letter = letter or by_text
        return _as(rf"\text{{({letter})}}", found, letter, options) if letter else found
    if letter and _by_text(reference, options) == letter:
        return _as(reference, found, letter, options)
    return found


def _as(text: str, found: Answer, letter: str, options: Mapping[str, str]) -> Answer | NoAnswer:
    """An answer spelled as the reference spells its choice; none where a later one is another."""
    later = found.conflicting_answer
    if not later or folded(later) == folded(found.text) or _alike(options[letter], later):
        return found._replace(text=text, conflicting_answer="")
    given = _given(later)
    other = given[0] if given else _by_text(later, options)
    if other == letter:
        return found._replace(text=text, conflicting_answer="")
    if other in options or _alike(options[letter], later) is False:
        return NoAnswer("a later statement of the answer contradicts it", "contradicted")
    return found._replace(text=text)


def _against(text: str, letter: str, options: Mapping[str, str]) -> bool:
    """Whether the text behind a letter is another option's, or has another value than its own."""
    alike = not text or _alike(options[letter], text)
    if alike is not None:
        return not alike
    return bool(_by_text(text, options)) or speaks_against(text, letter, options)


def _other(text: str, letter: str, options: Mapping[str, str]) -> bool:
    """The same of what the line of a letter goes on to say, which may be another sentence."""
    alike = not text or _alike(options[letter], text)
    return not alike and (bool(_by_text(text, options)) or differs(text, letter, options))


def by_letters(found: Answer, text: str, reference: str, prompt: str) -> EqualityVerdict | None:
    """The verdict on an answer to a question with several right options: `ACD`; None for others.

    Args:
        found: the answer.
        text: the response that it is from.
        reference: the reference, which is a set where the prompt offers all its letters.
        prompt: the question. Where it asks for an order, its letters are no set.
    """
    if not prompt or not _MAY_BE_SET(reference):
        return None
    wanted = _wanted(reference, prompt)
    if not wanted:
        return None
    options = options_in(prompt)
    given, later = (_letters(each, options) for each in (found.text, found.conflicting_answer))
    rule, outcome = "option-set", symbolic.Outcome.DIFFERENT
    if words.OR.search(found.text) or (len(given) > 1 and boxes_with_or(text)):
        outcome, reason = symbolic.Outcome.UNDECIDED, "the options are alternatives"
    elif not given:
        return None
    elif later and later != given:
        rule, reason = "contradicted", "a later statement of the answer contradicts it"
    elif given == wanted:
        outcome, reason = symbolic.Outcome.EQUAL, "the options of the reference"
    else:
        reason = "other options than the reference's"
    return symbolic.EqualityVerdict(outcome, rule, reason, _named(wanted), _named(given))


@lru_cache(KEPT)
def _wanted(reference: str, prompt: str) -> frozenset[str]:
    """The letters of a reference that is a set of the prompt's options; none of any other."""
    options = options_in(prompt)
    found = option_set(reference, options)
    if not found or _by_text(reference, options) or asks_for_order(prompt):
        return frozenset()
    return found


def _letters(answer: str, options: Mapping[str, str]) -> frozenset[str]:
    """The letters of an answer that gives several or one, and nothing else."""
    given = _given(answer)
    return option_set(answer, options) or frozenset(given[:1] if given else ())


def _named(letters: frozenset[str]) -> str:
    return ", ".join(sorted(letters)) or "none"


def _given(text: str) -> tuple[str, str] | None:
    """The letter and the text that an answer gives, in either order."""
    if not _MAY_LETTER.match(text) and "(" not in text:
        return None
    given = lettered(text)
    beside = None if given else _BESIDE.fullmatch(text)
    if beside:
        return beside["letter"], beside["text"]
    behind = None if given else _BEHIND.fullmatch(text)
    if behind:
        mark = lettered(behind["letter"])
        return (mark[0], behind["text"]) if mark else None
    return given


_SEVERAL: Final = "several"


def _by_text(text: str, options: Mapping[str, str]) -> str:
    """The letter of the one option with this text; "" for none, `_SEVERAL` for more."""
    same = [letter for letter, option in options.items() if _alike(option, text)]
    return same[0] if len(same) == 1 else _SEVERAL if same else ""


def _alike(option: str, text: str) -> bool | None:
    """Whether a text is that of an option; None where nothing decides it."""
    option = option.rstrip(" ?.")
    if folded(option) == folded(text):
        return True
    try:
        verdict = symbolic.equal(option, text, solver=False)
    except symbolic.Unreadable:
        return None
    return verdict.equal if verdict.decided else None
