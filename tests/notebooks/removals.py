"""What may differ between two runs of a notebook, and is left out where outputs are compared.

One table, for `make notebooks` and for `make test`: everything else in an output is the same
whenever, wherever and however often the cells run.
"""

import re

REMOVALS = {
    "a duration": (r"(?<![\w.])\d[\d,]*(?:\.\d+)? ?(?:µs|ms|s|min|h)\b", "… s"),
    "the width of a column": (r" {2,}", "  "),
    "a date with its time": (r"\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?[\d.:+Z]*", "…"),
    "a time of the day": (r"\b\d\d:\d\d:\d\d\b", "…"),
    "a port of this machine": (r"127\.0\.0\.1:\d+", "127.0.0.1:…"),
    "the account of an ARN": (r"(?<=:)\d{12}(?=:)", "…"),
    "what the training double calls its things": (r"\bsim[0-9a-f]{9}\b", "sim…"),
    "an id of the OpenAI-compatible API": (r"\b(ftjob|file|ft)[-:][A-Za-z0-9:_.-]+", r"\1…"),
    "who calls": (r":user/[\w-]+", ":user/…"),
    "the emulator's name": (r"(?<=local AWS emulator )(?:'|&#x27;)[\w-]+(?:'|&#x27;)", "…"),
}  # fmt: skip
"""(pattern, what stands in its place), by what it is."""


def removed(text):
    """The text without what may differ."""
    for pattern, instead in REMOVALS.values():
        text = re.sub(pattern, instead, text)
    return text
