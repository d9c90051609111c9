"""Yes or no, as the final answer to a FinQA question.

The first word decides where it is one of the two ("Yes, there is no doubt"). Elsewhere one of them
must stand alone; both together are no answer. True and false are neither.
"""

from __future__ import annotations

from typing import Final

from reward_functions.extraction.cues.compiling import says
from reward_functions.extraction.markup import plain
from reward_functions.finqa import cues
from reward_functions.finqa.syntax import NoValue
from reward_functions.quantities.unicode_forms import typeset

MAX_LENGTH: Final = 400
"""Characters of an answer that are read; the word stands at one end of it."""


def begins_with_word(phrase: str) -> bool:
    """Whether the first word of a phrase answers it."""
    return cues.FIRST_WORD.match(phrase) is not None


def only_word(phrase: str) -> str | None:
    """The word, where a phrase is nothing but "yes" or "no" and its markup."""
    match = cues.WORD_ALONE.fullmatch(phrase)
    return match[1].lower() if match else None


def takes_back(behind: str, word: str) -> bool:
    """Whether the words after a yes say no, or the other way round: "yes. Actually no."."""
    return any(found["word"].lower() != word for found in cues.WORD_RETRACTED.finditer(behind))


def yes_or_no(phrase: str, *, sentence: bool = False) -> str | NoValue:
    """The answer as "yes" or "no"; a sentence that was not marked must begin or end with it."""
    word = only_word(phrase)
    if word:
        return word
    text = typeset(plain(phrase[:MAX_LENGTH])).replace("*", "")
    lead = cues.WORD_LEAD.match(text)
    text = text[lead.end() :] if lead else text
    first = cues.FIRST_WORD.match(text)
    if first:
        patterns = (cues.EITHER_WORD, cues.BOTH_WORDS)
        others = filter(None, (each.match(text, first.end()) for each in patterns))
        if any(each["word"].lower() != first[1].lower() for each in others):
            return NoValue("finqa-both-words", "the answer says both yes and no")
        if cues.OR_NUMBER.match(text, first.end()):
            return NoValue("finqa-two-values", "the answer is a word or else a number")
        return str(first[1]).lower()
    found: set[str] = {word.lower() for word in cues.WORD.findall(text)}
    if len(found) > 1:
        return NoValue("finqa-both-words", "the answer says both yes and no")
    stated = [match for match in cues.WORD_STATED.finditer(text) if match.end() == len(text)]
    concluded = any(match[0].lower().startswith("so") for match in stated)
    denied = not concluded and says(text, cues.WORD_DENIED)
    if not found or denied or (sentence and not stated):
        return NoValue("finqa-neither-word", "the answer says neither yes nor no")
    return found.pop()
