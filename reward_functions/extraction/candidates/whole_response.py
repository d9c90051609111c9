"""A response that is nothing but an answer: one short line, fenced or not."""

from __future__ import annotations

from typing import Final

from reward_functions.core import patterns as re
from reward_functions.extraction.candidates.candidate import Candidate

MAX_LENGTH: Final = 200
"""Characters of a response that may be nothing but an answer."""

_FENCED: Final = re.compile(r"```\w{0,12}\n([^`\n]{1,200})\n```")


def whole_response(text: str) -> Candidate | None:
    """The response itself, when it is one short line; None when it is longer. It may be empty."""
    bare = text.strip()
    fenced = _FENCED.fullmatch(bare)
    if fenced:
        bare = fenced[1].strip()
    if len(bare) > MAX_LENGTH or "\n" in bare:
        return None
    return Candidate("whole_response", bare, 0, len(text))
