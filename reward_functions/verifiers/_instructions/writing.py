"""A response that follows instructions, written from them alone: what a perfect policy might say.

Common words of the language that is asked for, in a form that each instruction changes in turn.
Instructions that contradict each other have no such response.
"""

from __future__ import annotations

import json
from itertools import cycle
from typing import TYPE_CHECKING, Any, Final

from reward_functions.verifiers._instructions.languages import words_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from reward_functions.verifiers._instructions.checks import Asked

    Write = Callable[[str, Mapping[str, Any], int, Iterator[str]], str]

FEW: Final = 6
SHOWING: Final = 20
"""Words of a response of which no number is asked; where a language is, which they show."""

MOST: Final = ("less than", "at most")
"""The relations that a response without what is counted satisfies."""


def written_for(asked: Sequence[Asked]) -> str:
    """A response that follows instructions, where they can all be followed."""
    by_id: dict[str, list[Asked]] = {}
    for each in asked:
        by_id.setdefault(each.id, []).append(each)
    words = cycle(_allowed(asked))
    text = " ".join(next(words) for _ in range(_few(asked)))
    for name, write in STEPS.items():
        for each in by_id.get(name, ()):
            number = 0 if each.relation in MOST else each.number
            text = write(text, each.arguments, number, words)
    return text


def _few(asked: Sequence[Asked]) -> int:
    """How many words a response begins with."""
    shows = any(each.id.startswith(("language", "change_case:english")) for each in asked)
    limits = [each for each in asked if each.id.endswith("number_words") and each.relation in MOST]
    return max(1, min([SHOWING if shows else FEW, *(each.number // 2 for each in limits)]))


def _allowed(asked: Sequence[Asked]) -> list[str]:
    """Words that no instruction forbids or limits, in the language that is asked for."""
    language, limited = "en", ["-"]
    for each in asked:
        language = each.arguments.get("language", language)
        limited += [word.lower() for word in each.arguments.get("forbidden_words", ())]
        if each.relation in MOST:
            limited += [each.arguments.get(name, "-").lower() for name in ("keyword", "letter")]
    words = words_in(language)
    return [word for word in words if not any(each in word for each in limited)] or [words[0]]


def _more(text: str, _: Mapping[str, Any], number: int, words: Iterator[str]) -> str:
    return f"{text} {' '.join(next(words) for _ in range(number))}".strip()


def _sentences(text: str, _: Mapping[str, Any], number: int, words: Iterator[str]) -> str:
    more = "".join(f". {next(words)} {next(words)}" for _ in range(number - 1))
    return f"{text.rstrip('.')}{more}."


def _each(form: str) -> Write:
    """Writes a form as often as is asked, `{}` being a word and `{at}` the place."""

    def write(text: str, given: Mapping[str, Any], number: int, words: Iterator[str]) -> str:
        parts = (form.format(next(words), at=at, **given) for at in range(1, number + 1))
        return text + "".join(parts)

    return write


def _first_words(text: str, given: Mapping[str, Any], _: int, words: Iterator[str]) -> str:
    parts = [text, *(next(words) for _ in range(given["num_paragraphs"] - 1))]
    at = given["nth_paragraph"] - 1
    parts[at] = f"{given['first_word']} {parts[at]}"
    return "\n\n".join(parts)


def _apart(text: str, _: Mapping[str, Any], number: int, words: Iterator[str]) -> str:
    return text + "".join(f"\n***\n{next(words)}" for _ in range(number - 1))


STEPS: Final[Mapping[str, Write]] = {
    "length_constraints:number_words": _more,
    "length_constraints:number_sentences": _sentences,
    "keywords:existence": lambda text, given, *_: f"{text} {' '.join(given['keywords'])}",
    "keywords:frequency": lambda text, given, number, _: text + f" {given['keyword']}" * number,
    "keywords:letter_frequency": lambda text, given, number, _: (
        f"{text} {given['letter'] * number}"
    ),
    "change_case:capital_word_frequency": lambda text, _, number, words: (
        text + f" {next(words).upper()}" * number
    ),
    "detectable_format:number_highlighted_sections": _each(" *{}*"),
    "detectable_content:number_placeholders": _each(" [{}]"),
    "detectable_format:constrained_response": lambda text, *_: f"My answer is yes.\n{text}",
    "detectable_format:title": lambda text, _, __, words: f"<<{next(words)}>>\n{text}",
    "detectable_format:number_bullet_lists": _each("\n- {}"),
    "detectable_format:multiple_sections": _each("\n{section_spliter} {at}\n{}"),
    "length_constraints:number_paragraphs": _apart,
    "length_constraints:nth_paragraph_first_word": _first_words,
    "combination:two_responses": lambda text, _, __, words: f"{text}\n******\n{next(words)}",
    "detectable_content:postscript": lambda text, given, _, words: (
        f"{text}\n{given['postscript_marker']} {next(words)}"
    ),
    "startend:end_checker": lambda text, given, *_: f"{text}\n{given['end_phrase']}",
    "change_case:english_capital": lambda text, *_: text.upper(),
    "change_case:english_lowercase": lambda text, *_: text.lower(),
    "combination:repeat_prompt": lambda text, given, *_: f"{given['prompt_to_repeat']}\n{text}",
    "startend:quotation": lambda text, *_: f'"{text}"',
    "detectable_format:json_format": lambda text, *_: json.dumps([text], ensure_ascii=False),
}
"""How an instruction changes a response, in the order in which they do. A check that only counts
what is forbidden, and the language, have been followed before."""
