"""Write what a function's description says of its version, and read it again.

A description belongs to a published version, and no later deployment changes it. This module is
the standard library's alone: a function that asks for one description needs no catalogue.
"""

from __future__ import annotations

import re
from typing import Final

MAX_DESCRIPTION: Final = 256
"""Characters of a Lambda function's description."""

DESCRIBED: Final = re.compile(r"([a-z0-9_.]{1,100}) ([0-9]{1,9}) ([0-9a-f]{16}): ")


def description(reward: str, version: int, digest: str, summary: str) -> str:
    """The description of a function and so of its versions, which no later deployment changes."""
    return f"{reward} {version} {digest}: {summary}"[:MAX_DESCRIPTION]


def described(text: str) -> tuple[str, int, str] | None:
    """The reward, its version and the digest that a description names; None where it names none."""
    found = DESCRIBED.match(text)
    return (found[1], int(found[2]), found[3]) if found else None
