"""Responses that earn the minimum without a call of a judge model.

    empty           no letter and no digit once invisible characters and reasoning are set aside
    unfinished      reasoning or a code fence that is never closed
    master key      nothing but a phrase that opens an answer ("Let's think step by step.", "答案")
    a copy          the prompt, once or more often, but for white space and case

Master keys earn praise from judge models of every family (One Token to Fool LLM-as-a-Judge, arXiv
2507.08794). A response that equals the reference always passes: "Solution" may be what was asked
for.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from reward_functions.extraction.reasoning import without_reasoning
from reward_functions.quantities.unicode_forms import folded

if TYPE_CHECKING:
    from reward_functions.core.types import Sample

MAX_OPENERS: Final = 400
"""Characters of a response that can be nothing but openers."""

MAX_FILTERED: Final = 200_000
"""Characters of a response that are compared with openers and with the prompt."""

MIN_COPY: Final = 16
"""Characters of a prompt from which copies are counted. A shorter one may be part of an answer."""

_PROBE: Final = "\nprobe"
_FENCE: Final = re.compile(r"(?m)^ {0,3}(`{3,}|~{3,})([^\n]*)$")


def prefilter(sample: Sample, reference: str = "") -> str:
    """Why the response earns the minimum, in a few words; "" where the judge model decides.

    Args:
        sample: its response and its prompt.
        reference: a correct response, if there is one.
    """
    response = without_reasoning(sample.response)
    answer = folded(response[:MAX_FILTERED])
    if not any(map(str.isalnum, answer)):
        return "the response is empty" if not sample.response.strip() else "nothing is answered"
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


def in_reasoning(response: str) -> bool:
    """Whether appended text would still be reasoning. Harmony's channels end by themselves."""
    if "<|channel|>" in response:
        return False
    return not without_reasoning(response + _PROBE).endswith(_PROBE)


def in_fence(text: str) -> bool:
    """Whether the string ends inside a code block, by CommonMark's rule."""
    opened = ""
    for line in _FENCE.finditer(text):
        fence, rest = line[1], line[2].strip()
        if not opened:
            if not (fence[0] == "`" and "`" in rest):
                opened = fence
        elif fence[0] == opened[0] and len(fence) >= len(opened) and not rest:
            opened = ""
    return bool(opened)


def _only_opens(answer: str) -> bool:
    """Whether the response consists of openers only."""
    if len(answer) > MAX_OPENERS:
        return False
    words = _words(answer)
    opens = {0: False}  # by the position reached: whether more than fillers led to it
    for start in range(len(words)):
        if start in opens:
            for key, filler in _master_keys():
                if words.startswith(key, start):
                    end = start + len(key)
                    opens[end] = opens.get(end, False) or opens[start] or not filler
    return opens.get(len(words), False)


@cache
def _master_keys() -> tuple[tuple[str, bool], ...]:
    """The openers as `_words` spells them, and whether each is a filler that may be an answer."""
    lines = Path(__file__).with_name("master_keys.txt").read_text(encoding="utf-8").splitlines()
    listed = [line for line in lines if line and not line.startswith("#")]
    return tuple((_words(folded(line)), line.startswith("~")) for line in listed)


def _words(text: str) -> str:
    """Letters and digits, each word closed by a space. Scripts without spaces have long words."""
    spaced = "".join(each if each.isalnum() else " " for each in text)
    return "".join(word + " " for word in spaced.split())


def _copies(answer: str, prompt: str) -> bool:
    copied, asked = "".join(answer.split()), "".join(folded(prompt).split())
    if not asked:
        return False
    if copied == asked:
        return True
    return len(asked) >= MIN_COPY and not any(map(str.isalnum, copied.replace(asked, "")))
