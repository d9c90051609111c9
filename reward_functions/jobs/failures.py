"""Calls of services that run jobs, as `aws.calls` makes them, under the names of before."""

from __future__ import annotations

from typing import Final

from reward_functions.aws.calls import FOREIGN, NO_ANSWER, OF_SERVICES, answer, pages

__all__ = [
    "MAX_MESSAGE",
    "MAX_PAGES",
    "NO_ANSWER",
    "REMEDIES",
    "UNREADABLE",
    "answer",
    "pages",
]

UNREADABLE: Final = FOREIGN

REMEDIES: Final = OF_SERVICES

MAX_MESSAGE: Final = 1_000
"""Characters of a service's message that are kept."""

MAX_PAGES: Final = 1_000
"""Pages of one list that are read; a service that never ends is not followed."""
