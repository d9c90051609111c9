"""The value of a last sentence in another language than English.

"Por lo tanto, hay 42 sillas." has a word that concludes, a verb, one amount and what is counted. A
sentence with any word that denies, doubts or changes the amount gives none, and so does one with
two amounts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from reward_functions.extraction.candidates.predicates import amount
from reward_functions.extraction.cues import conclusions as words
from reward_functions.extraction.cues import endings
from reward_functions.extraction.cues.compiling import says
from reward_functions.quantities.number_words import cardinal
from reward_functions.quantities.units import canonical

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST: Final = 300
"""Characters of such a sentence."""

MOST_WORDS: Final = 4
"""Words of what is counted."""

_OWNER: Final = (2, 3)
"""Words that say who has something: у Пети, у моего брата."""

_EAST_ASIAN: Final = "\u3040"
"""The first letter of Japanese; Chinese and Korean follow."""

_MARGIN: Final = " \t*_>-–—•"


def value_elsewhere(sentence: str, prompt: str = "") -> str:
    """The value that a sentence gives to what it is about, with what it counts; "" for none.

    Args:
        sentence: without its full stop.
        prompt: the question, whose words such a sentence may repeat.
    """
    sentence = sentence.strip(_MARGIN)
    if len(sentence) > LONGEST:
        return ""
    if not sentence.isascii() and max(sentence) >= _EAST_ASIAN:
        return _of_joined(sentence, prompt)
    return _of_spaced(sentence)


def value_in_chinese(sentence: str, prompt: str) -> str:
    """The value that the last clause of a Chinese sentence gives; "" for none."""
    if not words.CHINESE.search(sentence):
        return ""
    begins = [0, *(pause.end() for pause in words.PAUSE.finditer(sentence))]
    stated = next(filter(None, (endings.CHINESE.match(sentence, at) for at in begins[::-1])), None)
    if stated is None:
        begun = _begun_by(prompt, sentence)
        doubted = not begun or words.doubted("zh").search(sentence)
        return "" if doubted else _amount(sentence[len(begun) :])
    if says(stated[0], endings.ANSWER) or (stated.start() and words.doubted("zh").search(sentence)):
        return ""
    subject = stated["subject"].strip()
    value = _amount(sentence[stated.end() :])
    if stated["has"] == "" and not fills_question(f"{subject}有", prompt):
        return ""
    if stated["verb"] == "=" and words.OPERATION.search(subject):
        return value and f"{words.CHINESE.sub('', subject)} = {value}"
    return value


def _begun_by(prompt: str, sentence: str) -> str:
    """The words of a prompt before the number that it asks for, where a sentence begins so."""
    asked = prompt[-LONGEST:]
    for question in words.QUESTIONS:
        *pieces, _ = asked.split(question)
        for piece in pieces:
            begun = words.PAUSE.split(piece)[-1].strip()
            if len(begun) >= words.SHORTEST_LEAD and sentence.startswith(begun):
                return begun
    return ""


def _amount(text: str) -> str:
    """The amount that a text is, in digits or in characters; "" for anything else."""
    value = amount(text)
    return value or (text if cardinal(text.strip())[0] is not None else "")


def fills_question(lead: str, prompt: str) -> bool:
    """Whether the words before a number are those of the prompt before the number it asks for."""
    lead, asked = "".join(lead.split()), "".join(prompt.split())
    return len(lead) >= words.SHORTEST_LEAD and any(
        lead + question in asked for question in words.QUESTIONS
    )


def _of_joined(sentence: str, prompt: str) -> str:
    """The value where words touch and the verb stands last."""
    code = next(
        (code for code in ("ja", "ko") if re.search(words.JOINED[code].script, sentence)), ""
    )
    found = words.joined(code).fullmatch(sentence) if code else None
    if not found or words.doubted(code).search(sentence):
        return ""
    lead = found["lead"]
    if not found["concludes"] and not fills_question(lead, prompt):
        return ""
    return found["value"] + found["unit"]


def _of_spaced(sentence: str) -> str:
    """The value where words are set apart."""
    amounts = list(words.AMOUNT.finditer(sentence))
    if len(amounts) != 1:
        return ""
    only = amounts[0]
    before = _words(sentence[: only.start()])
    behind = sentence[only.end() :]
    suffix = words.SUFFIX.match(behind)
    after = _words(behind[suffix.end() :] if suffix else behind)
    if not words.ENGLISH.isdisjoint([*before, *after]):
        return ""
    known = words.languages_by_word()
    codes = {code for word in (*before, *after) for code in known.get(word, ())}
    for code in sorted(codes | ({"tr"} if suffix else set())):
        row = words.phrases(code)
        if any(_has([*before, *after], doubt) for doubt in row.doubts):
            continue
        nouns = _nouns(row, before, after, closed=suffix is not None)
        if nouns is not None:
            return _measured(only[0], nouns)
    return ""


def _measured(value: str, nouns: Sequence[str]) -> str:
    """An amount with what it counts: of 5 kg of apples the kilogram."""
    if len(nouns) > 1 and nouns[1] in words.OF and canonical(nouns[0]):
        nouns = nouns[:1]
    return rf"{value}\text{{ {' '.join(nouns)}}}" if nouns else value


def _words(text: str) -> list[str]:
    """The words of a text in small letters, elided articles apart, and its marks that ask."""
    text = text.lower().replace("’", "'").replace("'", "' ")
    return words.WORD.findall(text)


def _has(found: Sequence[str], phrase: Sequence[str]) -> bool:
    """Whether words hold a phrase."""
    size = len(phrase)
    return any(
        tuple(found[at : at + size]) == phrase
        for at in range(len(found) - size + 1)
        if found[at] == phrase[0]
    )


def _nouns(
    row: words.Phrases, before: list[str], after: list[str], *, closed: bool
) -> list[str] | None:
    """What the amount of a sentence counts; None where the sentence does not state the amount."""
    subject, concluded = before, False
    total = english = False
    while phrase := _first(row.concludes, subject):
        subject, concluded = subject[len(phrase) :], True
        total, english = phrase in row.fills, phrase in words.ENGLISH_TOO
    verb: tuple[str, ...] = _first(row.states, subject) if concluded else ()
    turned = len(subject) > len(verb) > 0 and subject[len(verb)] in row.opens  # also ist die Fläche
    verb = verb if turned else ()
    while subject and not verb:
        verb = _last(row.counts, subject) or _last(row.states, subject)
        fill = verb or _last(row.fills, subject)
        if not fill:
            break
        subject = subject[: -len(fill)]
    ends: tuple[str, ...] = ()
    while after and not ends:
        ends = _last(row.closes, after)
        fill = ends or _last(row.fills, after)
        if not fill:
            break
        after = after[: -len(fill)]
    if len(after) > MOST_WORDS or not all(map(_is_noun, after)):
        return None
    if row.closes and (ends or closed):
        stated = bool(concluded or subject)
    elif not subject:
        alone = total if row.closes else not english
        stated = verb in row.counts or (concluded and alone)
    else:
        known = concluded or not row.opens or subject[0] in row.opens
        owner = concluded and bool(_first(row.owns, subject)) and len(subject) in _OWNER
        stated = (bool(verb) and known) or owner
    return after if stated else None


def _first(phrases: Sequence[tuple[str, ...]], found: Sequence[str]) -> tuple[str, ...]:
    """The phrase that words begin with; nothing where none does."""
    return next((each for each in phrases if tuple(found[: len(each)]) == each), ())


def _last(phrases: Sequence[tuple[str, ...]], found: Sequence[str]) -> tuple[str, ...]:
    """The phrase that words end with; nothing where none does."""
    return next((each for each in phrases if tuple(found[-len(each) :]) == each), ())


def _is_noun(word: str) -> bool:
    return word[0].isalpha() and not any(map(str.isdigit, word))
