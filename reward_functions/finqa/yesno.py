"""Yes or no, as the final answer to a FinQA question.

The first word decides where it is one of the two ("Yes, there is no doubt"); elsewhere one of them
must stand alone, and both are none. True and false are neither.
"""

from __future__ import annotations

import re
from typing import Final

from reward_functions.extraction.markup import plain
from reward_functions.finqa.values import NoValue
from reward_functions.quantities.unicode_forms import typeset

MAX_LENGTH: Final = 400
"""Characters of an answer that are read; the word stands at one end of it."""

# "No information" answers nothing, and neither does "no doubt".
_NO: Final = (
    r"no(?! (?:such|answer|idea|information|info|data|way|clue|doubt|question|conclusion"
    r"|determination|basis|means|figures?|numbers?|values?|results?|details?|response"
    r"|comment)\b| \w+ (?:can|could) be)"
)
_FIRST: Final = re.compile(rf"[\W_]*(yes|{_NO})\b(?!-)", re.IGNORECASE)
_BOTH: Final = re.compile(
    r"\W{0,4}(?:\b(?:and|or|but|maybe|perhaps|also|then|wait)\b\W{0,3}){0,3}(?:yes|no)\b",
    re.IGNORECASE,
)
_EITHER: Final = re.compile(
    r"[^\n]{0,80}?(?:[,;.]|\b(?:but|also|or|and|unless|otherwise|else|is it)\b)\s+"
    r"(?:(?:also|then|maybe|partly|is it)\s+){0,2}(?P<word>yes|no)"
    r"(?=\W*(?:[.,;\n]|$)|\s+(?:in|for|if|when|on|at|under|by)\b)",
    re.IGNORECASE,
)
_WORD: Final = re.compile(rf"\b(yes|{_NO})\b", re.IGNORECASE)
_LEAD: Final = re.compile(
    r"\W*(?:therefore|thus|hence|so|in conclusion|overall|finally|in short)\b[\s,:]*", re.IGNORECASE
)
_STATED: Final = re.compile(
    r"\b(?:is|be|so|:)\W{0,4}(?:clearly\s|simply\s|a\s)?(yes|no)\W*", re.IGNORECASE
)
_ALONE: Final = re.compile(r"[\W_]*(yes|no)[\W_]*", re.IGNORECASE)
_RETRACTED: Final = re.compile(
    r"(?:(?:^|[.!?;:,…–—-])\W*|\b(?:actually|wait|rather|correction|sorry|instead|hmm|but|is"
    r"|should be|make (?:that|it))\b\W{1,4})"
    r"(?:(?:actually|wait|rather|correction|sorry|hmm|also|partly)\W{1,4})*"
    r"(?P<word>yes|no)\b[*_\"')]*(?=\s*(?:[.!?;\n]|$))",
    re.IGNORECASE,
)
_DENIED: Final = re.compile(r"\b(?:not|cannot|neither|unclear|unsure)\b|n't\b|\?", re.IGNORECASE)


def begins_with_word(phrase: str) -> bool:
    """Whether the first word of a phrase answers it."""
    return _FIRST.match(phrase) is not None


def only_word(phrase: str) -> str | None:
    """The word, where a phrase is nothing but "yes" or "no" and its markup."""
    match = _ALONE.fullmatch(phrase)
    return match[1].lower() if match else None


def takes_back(behind: str, word: str) -> bool:
    """Whether the words behind a yes say no, or the other way round: "yes. Actually no."."""
    return any(found["word"].lower() != word for found in _RETRACTED.finditer(behind))


def yes_or_no(phrase: str, *, sentence: bool = False) -> str | NoValue:
    """The answer as "yes" or "no"; a sentence that was not marked must begin or end with it."""
    word = only_word(phrase)
    if word:
        return word
    text = typeset(plain(phrase[:MAX_LENGTH])).replace("*", "")
    lead = _LEAD.match(text)
    text = text[lead.end() :] if lead else text
    first = _FIRST.match(text)
    if first:
        either = _EITHER.match(text, first.end())
        other = either is not None and either["word"].lower() != first[1].lower()
        if other or _BOTH.match(text, first.end()):
            return NoValue("the answer says both yes and no")
        return str(first[1]).lower()
    found: set[str] = {word.lower() for word in _WORD.findall(text)}
    if len(found) > 1:
        return NoValue("the answer says both yes and no")
    stated = [match for match in _STATED.finditer(text) if match.end() == len(text)]
    concluded = any(match[0].lower().startswith("so") for match in stated)
    denied = not concluded and _DENIED.search(text) is not None
    if not found or denied or (sentence and not stated):
        return NoValue("the answer says neither yes nor no")
    return found.pop()
