"""What stands around an answer: denials, alternatives, second thoughts.

One set of words for every form an answer is found in (box, statement, `####`, span). Each question
is asked of the few words next to the answer and not of the sentence: "since x cannot be negative, x
is 5" denies nothing about 5.
"""

from __future__ import annotations

import re
from typing import Final

MAX_CLOSING: Final = 16
"""Characters of closing marks: `$$`, `\\]`, full stops and line ends."""

NEAREST: Final = 32
"""Characters before an answer that can offer it as an alternative: "or possibly $\\(["."""

REACH: Final = 80
"""Characters on either side that are looked at: the words next to the answer."""


def trouble(text: str, start: int, end: int) -> str:
    """Why an answer at text[start:end] does not count, as a clause; "" where nothing says so.

    Args:
        text: the response.
        start: where the answer begins, with its delimiters.
        end: where it ends.
    """
    before = text[max(0, start - REACH) : start]
    if denied(before):
        return "is denied"
    if _alternative(before):
        return "is one of several"
    if ends(text, end):
        return ""
    if _DENIED_AFTER.match(text, end):
        return "is denied"
    if _ALTERNATIVE_AFTER.match(text, end):
        return "is one of several"
    return "is taken back" if retracted(text, end) else ""


def ends(text: str, end: int) -> bool:
    """Whether a text ends with its answer, but for a few closing marks; most do."""
    return len(text) - end <= MAX_CLOSING and not text[end:].strip(" \n\r$\\)]}.*")


def denied(before: str) -> bool:
    """Whether the words that lead up to an answer deny it: "I do not think that the answer is"."""
    # Most words deny nothing, and plain strings are looked for at a tenth of a pattern's price.
    lowered = before.lower()
    return any(map(lowered.__contains__, _DENIALS)) and bool(_DENIED_BEFORE.search(before))


def _alternative(before: str) -> bool:
    last = before[-NEAREST:]
    return ("or" in last or "ou" in last or "或" in last) and bool(_ALTERNATIVE_BEFORE.search(last))


def retracted(text: str, end: int) -> bool:
    """Whether what follows an answer takes it back: "Or maybe 6.", "That is wrong.", "No, 6."."""
    return _RETRACTED.match(text, end) is not None


def uncertain(before: str, after: str) -> bool:
    """Whether a sentence only supposes or asks: "let x = 5", "maybe 5", "is it 5?"."""
    return _SUPPOSED.search(before) is not None or "?" in after


_DENIALS: Final = (
    *("not", "n't", "n’t", "never", "neither", "nor ", "nobody", "hardly", "r than", "instead"),
    *("g but", "nt from", "false", "wrong", "doubt", "\\n", "≠", "¬", "!="),
)
_DENIED_BEFORE: Final = re.compile(
    r"""
    (?: \b(?:not|never|neither|nor|nobody|cannot|hardly|rather\ than|instead\ of|anything\ but
            |other\ than|different\ from|false\ that|wrong\ that|doubt(?:\ that)?)\b
      | n['’]t\b | \\n(?:eq?|eg)\b | ≠ | ¬ | !=
    )\s*
    (?: (?:the|an?|that|this|answer|is|be|to|equal|equals|exactly|simply|actually|really|final
          |correct|right|option|choice|think|believe|say|claim|true|sure|would|it)\b\s*
      | [=:$\\(\[{*_]\s*
    ){0,12}$
    """,
    re.VERBOSE | re.IGNORECASE,
)
_END: Final = r"[\s$*_)\]}]{0,6}(?:\\[)\]])?\s*"
_DENIED_AFTER: Final = re.compile(
    _END
    + r"""(?:(?:is|are|was|were|would\ be|seems|looks)\s+(?:\w+\s+)?
        (?:not|wrong|incorrect|false|impossible|ruled\ out)\b
      | (?:isn|aren|wasn|can)['’]t\b | cannot\ be\b)""",
    re.VERBOSE | re.IGNORECASE,
)
_ALTERNATIVE_BEFORE: Final = re.compile(
    r"(?:(?<!,\s)\b(?:or|oder|ou)\b|或)\s*(?:(?:maybe|perhaps|possibly|else|even|also)\s+)?[$\\(\[\s]*$",
    re.IGNORECASE,
)
_ALTERNATIVE_AFTER: Final = re.compile(
    _END
    + r"""(?:[,/|]|\b(?:or|and|oder|ou|vs\.?)\b|或|\\l?or\b)\s*
        (?:(?:maybe|perhaps|possibly|else|also)\s+)?
        (?:\\boxed|[$\\(\[]{0,3}[-+−]?\d|\(?[A-J](?![\w'’]))""",
    re.VERBOSE,
)
_RETRACTED: Final = re.compile(
    r"""
    [\s$*_)\]}"'.;!,—–-]{0,12}(?:\\[)\]])?[\s*_.;!,—–-]{0,12}
    (?: or\ (?:maybe|perhaps|possibly|else|is\ it|it\ could)\b
      | no[,.!]\s | no\ wait\b | wait[,.!]*\s*no\b | wait[,.!]*$
      | scratch\ that | just\ kidding | on\ second\ thought | correction\b | i\ was\ wrong
      | (?:that|this|which|it)(?:['’]s|\ is|\ was)\ (?:wrong|incorrect|false)\b
      | (?:that|this|which|it)(?:['’]s|\ is|\ was)\ not\ (?:right|correct|it)\b
      | (?:hmm\W{1,4})?let\ me\ re(?:compute|calculate|do|consider|think)\b
      | (?:actually|alternatively|maybe|perhaps|possibly)[,:]?\s+
        (?:it(?:['’]s|\ is)\s+|the\ answer\s+(?:is\s+)?)?[$\\-]{0,3}\d
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_SUPPOSED: Final = re.compile(
    r"\b(?:maybe|perhaps|possibly|guess|suppose|let|assume|assuming|consider|could|might|may|if"
    r"|whether|unless|not|never|neither|nor|wrong|incorrect|false|cannot)\b|n['’]t\b",
    re.IGNORECASE,
)
