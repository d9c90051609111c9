"""The words of a sentence around a value: that it is the value, or that it is something else."""

from __future__ import annotations

from typing import Final

from reward_functions.core import patterns as re
from reward_functions.extraction.cues.phrase import vocabulary

PERCENT: Final = re.compile(r"^([^%\\]{1,80}?)\s*(?:\\?%|\s(?:percent|per cent))$")
CLAUSE: Final = re.compile(
    r"\b(?:whose|such|when|if|until|(?:that|which)\s+(?:when\b|\w+ed\b|plus|minus|times))\b"
    r"|\b(?:its|their)\s+(?:square|cube|root|half|double|inverse|reciprocal|opposite|negative)",
    re.IGNORECASE,
)
NAMED_MEMBER: Final = re.compile(
    r"(?:\s|\\[,;:! ]|\\q?quad\b){0,9}(?:\\(?:text|mathrm|textbf|mbox)\s?\{)?\s?"
    r"(?P<name>[A-Z][A-Za-z' ]{1,30})(?:\}\s?:|:\s?\}?)\s*(?P<value>\S.*)",
    re.DOTALL,
)
"""A member of a list with its name: "Ann: 7"."""
NAMED_LINE: Final = re.compile(
    r"\\?[A-Za-z]{1,12}(?:_\{?\w{1,8}\}?)?(?:\([^()]{1,20}\))?\s?=[^;]{1,200}"
)
"""A line that gives a name its value: "x = 4/2 = 2"."""
NOT_THERE: Final = re.compile(
    r"\$?(?:\\text\s?\{)?\s?(?:the|this|such\san?|its)\s(?P<subject>(?:[a-z-]{1,20}\s){0,3}?)(?:limit\s)?"
    r"(?:does\snot|doesn['’]t)\sexist[.\s$}]*+",
    re.IGNORECASE,
)
"""A sentence that says what the asked quantity lacks: "The limit does not exist."."""
OPERATION: Final = re.compile(
    r"\b(?:twice|double|half|minus|negative|opposite|square|squared|cube|root|inverse|reciprocal"
    r"|multiple|times|plus|than|equal|bound|near|close|between|among|sum|product|ratio|difference)\b",
    re.IGNORECASE,
)
COPULA: Final = re.compile(
    r"[^A-Za-z]*|.*\b(?:is|are|be|equals|number|value|namely)\W*", re.DOTALL | re.IGNORECASE
)
OR: Final = re.compile(
    r"\\(?:text|mathrm|mbox)\s?\{[\s,]{0,4}or[\s,]{0,4}\}|\\l?or\b|\\vee\b|(?<![A-Za-z\\])or(?![A-Za-z])"
)
"""Between two values of one answer."""
DOUBT: Final = vocabulary("not never or either neither maybe perhaps possibly between if wrong")
"""Words of an answer that is a sentence and states no value."""
