"""Three scripts in the place of judge models: each decides a rubric on passages by a simple rule.

They read the question that a model would read, fences and all, and answer every field that it asks
for. `rater_of` answers in this process; `rating_server` does behind HTTP, for a function that runs
elsewhere. What they decide shows the way from a rubric to a reward, and no quality of a judge.
"""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from reward_functions.local.scripted_judge import CHECKSUM, DATA, serving_verdicts
from reward_functions.testing import FakeAsk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reward_functions.core.asking import Question

Data = dict[str, str]

NUMBER: Final = re.compile(r"\d+")
WORD: Final = re.compile(r"[^\W\d_]{4,}")
SENTENCE: Final = re.compile(r"[^.!?]+[.!?]")

GLUE: Final = frozenset({"stated", "also", "passages", "they"})
"""Words that state nothing."""

LONGEST: Final = 3
"""Sentences of an answer that keeps to the question; a longer one recites."""

ANSWERS: Final = {
    "when did": re.compile(r"\b1[5-9]\d\d\b|\b20\d\d\b"),
    "who ": re.compile(r"\bby [A-Z]\w+ [A-Z]\w+"),
    "how long": re.compile(r"\d+ metres"),
}
"""What answers a part of a question."""


def by_words(data: Data) -> bool:
    """Every number, and every longer word, stands in the passages or in the question."""
    known = _words(data["material"]) | _words(data["prompt"]) | GLUE
    return by_numbers(data) and _words(data["response"]) <= known


def by_numbers(data: Data) -> bool:
    """Every number stands in the passages."""
    return set(NUMBER.findall(data["response"])) <= set(NUMBER.findall(data["material"]))


def by_half(data: Data) -> bool:
    """Half of the longer words stand in the passages."""
    words = _words(data["response"])
    return 2 * len(words & _words(data["material"])) >= len(words)


RATERS: Final[dict[str, Callable[[Data], bool]]] = {
    "script-words": by_words,
    "script-numbers": by_numbers,
    "script-half": by_half,
}
"""What each script calls supported, by the name that it goes by as a model."""


def verdict(text: str, supported: Callable[[Data], bool]) -> dict[str, str]:
    """The decisions on a question about `supported`, `answers` and `relevant`.

    Args:
        text: of the question.
        supported: the rule for the first.
    """
    data = {name: str(json.loads(quoted)) for name, quoted in DATA.findall(text)}
    response = data["response"]
    asked = [found for part, found in ANSWERS.items() if part in data["prompt"].casefold()]
    found = [match for each in asked if (match := each.search(response))]
    answers = "not" if not found else "fully" if len(found) == len(asked) else "partly"
    held, brief = supported(data), len(SENTENCE.findall(response)) < LONGEST
    return {
        "supported_reason": "The rule of the script holds." if held else "Words are not there.",
        "supported": "yes" if held else "no",
        "answers_quote": found[0][0] if found else "",
        "answers_reason": f"{len(found)} of {len(asked)} parts are answered.",
        "answers": answers,
        "relevant_reason": f"It has {len(SENTENCE.findall(response))} sentences.",
        "relevant": "yes" if brief else "no",
        "addressed_to_judge": "yes" if "judge" in response.casefold() else "no",
        "confidence": "high",
    }


def rater_of(name: str) -> FakeAsk:
    """A script as a model of this process.

    Raises:
        KeyError: there is none of this name.
    """
    rule = RATERS[name]

    def answer(question: Question) -> dict[str, str]:
        return verdict(f"{question.shared}\n{question.text}", rule)

    return FakeAsk(answer=answer)


@contextmanager
def rating_server(name: str) -> Iterator[str]:
    """A script behind chat completions for a block; the URL, up to and with `/v1`."""
    rule = RATERS[name]

    def answer(text: str) -> dict[str, str]:
        checksum = CHECKSUM.findall(text)
        return verdict(text, rule) | {"checksum": checksum[-1] if checksum else ""}

    with serving_verdicts(answer) as url:
        yield f"{url}/v1"


def _words(text: str) -> set[str]:
    return {word.casefold() for word in WORD.findall(text)}
