"""The words of a sentence around a value: that it is the value, or that it is something else."""

from __future__ import annotations

import re
from typing import Final

PERCENT: Final = re.compile(r"^([^%\\]{1,80}?)\s*(?:\\?%|\s(?:percent|per cent))$")
SENTENCE: Final = re.compile(
    r"(?:.*\s(?:is|are|equals)\s|the\s(?:number|value)\s)(?P<value>.+)", re.DOTALL
)
CLAUSE: Final = re.compile(
    r"\b(?:whose|such|when|if|until|(?:that|which)\s+(?:when\b|\w+ed\b|plus|minus|times))\b"
    r"|\b(?:its|their)\s+(?:square|cube|root|half|double|inverse|reciprocal|opposite|negative)",
    re.IGNORECASE,
)
LABELLED: Final = re.compile(
    r"\\(?:text|textbf|mathrm|mbox)\s?\{"
    r"(?!.*(?:twice|double|half|minus|negative|opposite|square|inverse|incorrect|guess|bound))"
    r"\s?[A-Za-z][A-Za-z ]{1,40}(?:[:=]\s?\}|\}\s?[:=]|(?<=nswer is)\s?\})"
    r"(?P<value>(?:(?<=nswer:\})|(?<=nswer:\s\})).+|[^=]+)",
    re.IGNORECASE,
)
COPULA: Final = re.compile(
    r"[^A-Za-z]*|.*\b(?:is|are|be|equals|number|value|namely)\W*", re.DOTALL | re.IGNORECASE
)
DOUBT: Final = re.compile(
    r"\b(?:not|never|or|either|neither|maybe|perhaps|possibly|between|if|wrong)\b|n['’]t\b",
    re.IGNORECASE,
)
