"""Responses that earn the minimum without a call of a judge model.

    empty           no letter, digit or sign (∅) once what is invisible and reasoning are set aside
    unfinished      reasoning or a code fence that is never closed
    master key      nothing but a phrase that opens an answer ("Let's think step by step.", "答案")
    a copy          the prompt, once or more often, but for white space and case

Master keys earn praise from judge models of every family (One Token to Fool LLM-as-a-Judge, arXiv
2507.08794). A response that equals the reference always passes: "Solution" may be what was asked
for.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from reward_functions.extraction.markup import plain
from reward_functions.extraction.truncation import in_fence, in_reasoning
from reward_functions.judge_runtime.material import shown_response
from reward_functions.quantities.unicode_forms import folded

if TYPE_CHECKING:
    from collections.abc import Callable

    from reward_functions.core.types import Sample

MAX_OPENERS: Final = 400
"""Characters of a response that can be nothing but openers."""

MAX_FILTERED: Final = 200_000
"""Characters of a response that are compared with openers and with the prompt."""

MIN_COPY: Final = 16
"""Characters of a prompt from which copies are counted. A shorter one may be part of an answer."""

_PROBE: Final = "\nprobe"
_NO_WORD: Final = re.compile(r"[^\w()|]|_")
_ARROWS: Final = "←↑→↓↔"
_TAG: Final = re.compile(r"</?(?:b|br|div|em|h[1-6]|i|p|span|strong|u) ?/?>")
_CHOICE: Final = re.compile(r"\(([^()]*)\)")
_LOOK_ALIKES: Final = str.maketrans("авекмнорстухіјѕԁһӏαεικμορτυχ", "abekmhopctyxijsdhlaeikmoptux")
"""Letters of Cyrillic and of Greek in lower case, and those of Latin that they look like."""


def prefilter(sample: Sample, reference: str = "") -> str:
    """Why the response earns the minimum, in a few words; "" where the judge model decides.

    Args:
        sample: its response and its prompt.
        reference: a correct response, if there is one.
    """
    response = shown_response(sample)
    answer = folded(response[:MAX_FILTERED])
    if not _answers(answer):
        empty = not (sample.response.strip() or sample.tool_calls)
        return "the response is empty" if empty else "nothing is answered"
    if reference and answer == folded(reference):
        return ""
    if in_reasoning(sample.response):
        return "the reasoning is never closed"
    if in_fence(response):
        return "a code fence is never closed"
    if _only_opens(answer):
        return "the response only opens an answer"
    if _copies(answer, sample.prompt):
        return "the response is a copy of the prompt"
    return ""


def _answers(text: str) -> bool:
    """Whether any of its characters can be an answer; a flood has few different ones."""
    return any(map(_says, text[:64])) or any(map(_says, set(text)))


def _says(character: str) -> bool:
    """Whether a character can be an answer: a letter, a digit, a sign such as ∅."""
    if character.isascii() or character.isalnum():
        return character.isalnum()
    return unicodedata.category(character) == "Sm" and character not in _ARROWS


def _only_opens(answer: str) -> bool:
    """Whether the response consists of openers only."""
    if len(answer) > MAX_OPENERS:
        return False
    words = _words(_one_script(_TAG.sub(" ", plain(answer))))
    opens = {0: False}  # by the position reached: whether more than fillers led to it
    for start in range(len(words)):
        if start in opens and _any_key().match(words, start):
            for key, filler in _master_keys():
                if found := key(words, start):
                    opens[found.end()] = opens.get(found.end(), False) or opens[start] or not filler
    return opens.get(len(words), False)


@cache
def _any_key() -> re.Pattern[str]:
    """What matches where any of `_master_keys` does: one search where nearly always none does."""
    return re.compile("|".join(pattern for pattern, _ in _patterns()))


@cache
def _master_keys() -> tuple[tuple[Callable[[str, int], re.Match[str] | None], bool], ...]:
    """What matches each row at a position of `_words`, and whether it is a filler."""
    return tuple((re.compile(pattern).match, filler) for pattern, filler in _patterns())


@cache
def _patterns() -> tuple[tuple[str, bool], ...]:
    """The pattern of each row, and whether it is a filler."""
    lines = Path(__file__).with_name("master_keys.txt").read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line and not line.startswith("#")]
    return tuple((_pattern(row), row.startswith("~")) for row in rows)


def _pattern(row: str) -> str:
    """A row without quantifiers: what it matches is no longer than the row."""
    bare = _NO_WORD.sub(" ", _one_script(folded(row.lstrip("~ "))))
    pieces = _CHOICE.split(re.sub(" +", " ", bare).strip())
    if len(pieces) > 1 and not pieces[-1]:  # vowel signs are no letters: they leave spaces behind
        pieces[-2] = "|".join(map(str.rstrip, pieces[-2].split("|")))
    return "".join(f"(?:{piece})" if at % 2 else piece for at, piece in enumerate(pieces)) + " "


def _one_script(text: str) -> str:
    """Full-width letters as plain ones, and letters that look Latin as Latin ones."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", text).casefold().translate(_LOOK_ALIKES)


def _words(text: str) -> str:
    """Words of letters, digits and signs, each closed by a space; long without spaces between."""
    spaced = "".join(each if _says(each) else " " for each in text)
    return "".join(word + " " for word in spaced.split())


def _copies(answer: str, prompt: str) -> bool:
    copied, asked = "".join(answer.split()), "".join(folded(prompt).split())
    if not asked:
        return False
    if copied == asked:
        return True
    return len(asked) >= MIN_COPY and not _answers(copied.replace(asked, ""))
