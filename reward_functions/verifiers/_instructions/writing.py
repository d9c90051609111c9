"""A response that follows instructions, written from them alone: what a perfect policy might say.

Common words of the language that is asked for, in a form that each instruction changes in turn.
Instructions that contradict each other have no such response.
"""

from __future__ import annotations

import json
from itertools import cycle
from typing import TYPE_CHECKING, Final

from reward_functions.verifiers._instructions.languages import words_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reward_functions.verifiers._instructions.checks import Asked

FEW: Final = 6
SHOWING: Final = 20
"""Words of a response of which no number is asked; where a language is, which they show."""

MOST: Final = ("less than", "at most")
"""The relations that a response without what is counted satisfies."""

PARTS: Final = ("length_constraints:number_sentences", "length_constraints:number_paragraphs")
"""Instructions whose count a response without any change has once."""

FORMS: Final[Mapping[str, str]] = {
    "keywords:letter_frequency": "{letter}",
    "length_constraints:number_words": " {}",
    "length_constraints:number_sentences": ". {} {}",
    "keywords:existence": "{text} {keywords}",
    "keywords:frequency": " {keyword}",
    "change_case:capital_word_frequency": " OK",
    "detectable_format:number_highlighted_sections": " *{}*",
    "detectable_content:number_placeholders": " [{}]",
    "detectable_format:constrained_response": "My answer is yes.\n{text}",
    "detectable_format:title": "<<{}>>\n{text}",
    "detectable_format:number_bullet_lists": "\n- {}",
    "detectable_format:multiple_sections": "\n{section_spliter} {at}\n{}",
    "length_constraints:number_paragraphs": "\n***\n{}",
    "combination:two_responses": "{text}\n******\n{}",
    "detectable_content:postscript": "{text}\n{postscript_marker} {}",
    "startend:end_checker": "{text}\n{end_phrase}",
    "combination:repeat_prompt": "{prompt_to_repeat}\n{text}",
}
"""What is put around a response, or behind it as often as is asked, `{}` being a word; in order."""


def written_for(asked: Sequence[Asked]) -> str:
    """A response that follows instructions, where they can all be followed."""
    words = cycle(_allowed(asked))
    shows = any(each.id.startswith(("language", "change_case:english")) for each in asked)
    limits = [each for each in asked if each.id.endswith("number_words") and each.relation in MOST]
    few = max(1, min([SHOWING if shows else FEW, *(each.number // 2 for each in limits)]))
    text = " ".join(next(words) for _ in range(few))
    for name, form in FORMS.items():
        for each in asked:
            text = _changed(text, form, each, words) if each.id == name else text
    by_id = {each.id: each.arguments for each in asked}
    if given := by_id.get("length_constraints:nth_paragraph_first_word"):
        parts = [text, *(next(words) for _ in range(given["num_paragraphs"] - 1))]
        parts[given["nth_paragraph"] - 1] = (
            f"{given['first_word']} {parts[given['nth_paragraph'] - 1]}"
        )
        text = "\n\n".join(parts)
    text = text.upper() if "change_case:english_capital" in by_id else text
    text = text.lower() if "change_case:english_lowercase" in by_id else text
    text = f'"{text}"' if "startend:quotation" in by_id else text
    asks_json = "detectable_format:json_format" in by_id
    return json.dumps([text], ensure_ascii=False) if asks_json else text


def _changed(text: str, form: str, asked: Asked, words: Iterator[str]) -> str:
    """A response in a form, or with it behind as often as is asked."""
    given = {**asked.arguments, "keywords": " ".join(asked.arguments.get("keywords", ()))}
    if "{text}" in form:
        return form.format(next(words), text=text, **given)
    number = 0 if asked.relation in MOST else asked.number - (asked.id in PARTS)
    more = (form.format(*[next(words)] * 2, at=at, **given) for at in range(1, number + 1))
    return text + "".join(more)


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
