r"""How a response ends: the last sentence that states a value, and whether a formula ends it.

A response without a box and without a statement of *the answer* may still end in one: "Therefore,
the number of divisors is 9.", "A: 9", `**9**` alone. Its last formula counts only in its last
sentence, and only where that sentence is complete. Words after a formula without a full stop were
cut off, and nobody knows what they were about to say. A unit is no such word.
"""

from __future__ import annotations

from typing import Final

from reward_functions.core import patterns as re
from reward_functions.extraction.candidates.candidate import Candidate
from reward_functions.extraction.candidates.predicates import amount, sentence_value
from reward_functions.extraction.cues import clauses
from reward_functions.extraction.cues import endings as words
from reward_functions.extraction.cues.compiling import says
from reward_functions.extraction.markup import plain
from reward_functions.quantities.units import canonical

LONGEST: Final = 400
"""Characters of a last sentence. A longer one does not state one value."""

SHORT: Final = 200
"""Characters of a response that is one sentence, and may lack its full stop."""

NEAR: Final = 200
"""Characters before a last sentence in which a response may say that it has no answer."""

TAIL: Final = 5_000
"""Characters at the end of a response in which its last number may stand before."""

_NUMBER: Final = re.compile(r"\d[\d.,/]*+")
_MARKUP: Final = " \t\r\n*_`~>\"'”’"
_BOLD: Final = re.compile(r"\*\*(?!\w)|(?<!\w)\*\*")
_FULL_STOPS: Final = ".!。！।"


def last_sentence(text: str, prompt: str = "") -> Candidate | None:
    """The last sentence or line of a response, where it states one value; None where it does not.

    It has to be complete: a sentence ends with its full stop, unless it is the whole response.

    Args:
        text: the response.
        prompt: the question, which says what its sentences repeat.
    """
    text = text.rstrip()
    line = text.rfind("\n") + 1
    if len(text) - line > LONGEST:
        return None
    marked = words.MARKED.fullmatch(text, line)
    alone = marked or words.EMPHATIC.fullmatch(text, line)
    if alone and (marked or line):
        value = alone["value"].strip("*_ ").removesuffix(".")
        return Candidate("last_sentence", f"A: {value}" if marked else value, line, len(text))
    start = _complete(text, line)
    if start is None:
        return None
    case = words.CASE.search(text, line, start)
    if case and not words.STEP.match(case[0]):
        return None
    sentence = _BOLD.sub("", text[start:]).rstrip(_MARKUP + _FULL_STOPS)
    value = _in_chinese(sentence, prompt)
    value = value or sentence_value(sentence, prompt, step=case is not None)
    if not value and case is None:
        value = _in_other_words(sentence, prompt)
    if not value or (not line and not start and not clauses.WORD.search(sentence)):
        return None  # "x = 5": the whole response
    return Candidate("last_sentence", value, start, len(text))


def _in_chinese(sentence: str, prompt: str) -> str:
    """The value of a sentence in Chinese; "" for any other."""
    if sentence.isascii():
        return ""
    from reward_functions.extraction.candidates import other_languages  # noqa: PLC0415 - few do

    return other_languages.value_in_chinese(sentence, prompt)


def _in_other_words(sentence: str, prompt: str) -> str:
    """The value of a sentence that repeats the question, or is in another language."""
    if words.VALUED.search(sentence) is None:
        return ""
    from reward_functions.extraction.candidates import echoes, other_languages  # noqa: PLC0415

    opened = words.CONNECTIVES.match(sentence)
    body = sentence[opened.end() if opened else 0 :]
    echoed = echoes.echoed_value(body, prompt) if prompt else ""
    return echoed or other_languages.value_elsewhere(sentence, prompt)


def complement(text: str) -> Candidate | None:
    """The words by which the last sentence says what something is; None for any other."""
    text = text.rstrip()
    line = text.rfind("\n") + 1
    if len(text) - line > LONGEST:
        return None
    start = _complete(text, line)
    if start is None or words.CASE.search(text, line, start):
        return None
    stated = words.COMPLEMENT.fullmatch(_BOLD.sub("", text[start:]))
    if stated is None or says(stated["subject"] or "", words.ANSWER):
        return None
    value = stated["value"].rstrip(_MARKUP + _FULL_STOPS)
    return Candidate("last_sentence", value, start, len(text))


def _complete(text: str, line: int) -> int | None:
    """Where the last sentence begins; None where it breaks off, or gives the question up."""
    bare = text.rstrip(_MARKUP)
    if bare[-1:] not in _FULL_STOPS and (line or len(text) > SHORT) and not _repeated(bare):
        return None
    start = max(
        (stop.end() for stop in words.STOP.finditer(text, line, len(bare) - 1)), default=line
    )
    return None if _given_up(text, start) else start


def _repeated(text: str) -> bool:
    """Whether a text ends in a number that stands in it before, and so is not cut off."""
    *before, last = [each.rstrip(".,/") for each in _NUMBER.findall(text[-TAIL:])] or [""]
    return len(last) > 1 and last in before and text.endswith(last)


def stated_value(sentence: str) -> str:
    """The value of a short sentence that states one, with what it counts; "" for any other."""
    sentence = plain(sentence)
    if sentence.startswith("="):
        sentence = sentence[1:].lstrip()
    label = words.LABEL.match(sentence)
    if label and not says(label["words"], words.OPEN):
        sentence = sentence[label.end() :]
    sentence = sentence.rstrip(_MARKUP + _FULL_STOPS)
    return sentence_value(sentence, answer=True) or amount(sentence)


def ends_with(text: str, span: Candidate) -> bool:
    """Whether a formula stands in the last sentence of a response, and the sentence is complete."""
    rest = text[span.end :].rstrip() if len(text) - span.end <= LONGEST else text[span.end :]
    if len(rest) > LONGEST:
        return not rest.strip()
    stop = words.STOP.search(rest)
    behind = (rest[: stop.start()] if stop else rest).strip(_MARKUP + "$\\)]}%")
    if (stop and rest[stop.end() :].strip(_MARKUP + "$\\)]}.")) or _given_up(text, span.start):
        return False
    stopped = stop is not None and stop[0] in _FULL_STOPS
    if not behind or canonical(behind):
        return stopped or stop is None or stop[0] == "\n"
    return (stopped or bool(words.WHOLE.fullmatch(behind))) and words.TURNED.search(behind) is None


def _given_up(text: str, start: int) -> bool:
    return words.GIVEN_UP.search(text, max(0, start - NEAR)) is not None
