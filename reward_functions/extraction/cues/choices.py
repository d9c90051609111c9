"""The words with which a response picks an option, as patterns."""

from __future__ import annotations

import re
from typing import Final

LEAD: Final = re.compile(
    r"(?:option|choice|letter|answer)\s+(?=\S)|选项\s?(?=\(?[A-Z])", re.IGNORECASE
)
CALLED: Final = r"(?:(?i:option|choice|letter)\s)?"
"""What a letter may be called."""
ANOTHER: Final = re.compile(
    r"[\s,/&]*+(?:(?:or|and)\s*+)?[(\[]?[A-Z][)\]]?(?!\w|['’])", re.IGNORECASE
)
"""Another letter right behind a pick."""
NO_OPTION: Final = re.compile(r"\W*+(?:(?:or|and|to|through)\b\W*+)?", re.IGNORECASE)
"""What stands between letters that are only named: "answer with (A), (B) or (C)"."""
LETTERS_ONLY: Final = re.compile(
    r"(?:[\s,/&()\[\]{}.;\\]|text|and\b|or\b|[A-Z](?![\w'’]))+", re.IGNORECASE
)
"""What follows a letter where several are named: "A, C and F"."""
PICKED: Final = re.compile(
    r"(?<!not\s)\b([A-J])\b[)\]*]*\s+is\s+(?:the\s+)?(?:correct|right|best)\b"
    r"(?=\s*(?:[.,;!*)\n]|$|(?:answer|option|choice|one|because|since|as)\b))"
    r"|\bI(?:['’](?:d|ll)|\s+will)?\s+(?:choose|pick|select|go\s+with)\s+(?:option\s+)?[(\[*]*([A-J])\b"
    r"|(?:所以|因此|故|综上(?:所述)?)[,，]?\s?(?:选项\s?)?([A-J])(?:选?项)?\s?[是为]?正确(?!的?[是有])"
)

REPORTED: Final = re.compile(
    r"\b(?:if|unless|whether|suppose|assum\w+|some|many|most|both|none|nor|others?|people|they|says?|said|thinks?"
    r"|claims?|might|may|could|would|not|never|neither|doubt|false|wrong|incorrect|untrue|earlier|initially)\b|n['’]t\b",
    re.IGNORECASE,
)
"""Words before it that do not say so themselves."""
ASKED: Final = re.compile(r"[^.!?\n]{0,80}\?")
