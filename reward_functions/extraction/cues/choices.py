"""The words with which a response picks an option, as patterns."""

from __future__ import annotations

import re
from typing import Final

LEAD: Final = re.compile(r"(?:option|choice|letter|answer)\s+(?=\S)", re.IGNORECASE)
ANOTHER: Final = re.compile(r"[\s,/&]*(?:or|and)?\s*[(\[]?[A-Z][)\]]?(?!\w|['’])", re.IGNORECASE)
PICKED: Final = re.compile(
    r"[(\[*]*\b([A-J])\b[)\]*]*\s+is\s+(?:the\s+)?(?:correct|right|best)\b"
    r"|\bI\s+(?:choose|pick|select|go\s+with)\s+(?:option\s+)?[(\[*]*([A-J])\b"
)
