"""Lists of the OpenAI-compatible API: pages by `limit` and `after`, moments in whole seconds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from reward_functions.local.loopback_service.refusals import invalid

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

DEFAULT: Final = 20
"""Items of a page that nobody limits: OpenAI's reference."""

MOST: Final = 100


def seconds(moment: datetime) -> int:
    """A moment as OpenAI writes it: seconds since 1970."""
    return int(moment.timestamp())


def page_of(items: Sequence[dict[str, Any]], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """One page of a list.

    Args:
        items: all of it, each with its `id`.
        parameters: `limit`, and `after`, the id of the last item of the page before.

    Raises:
        Refused: the limit is not a number from 1 to 100, or no item has the id.
    """
    limit, after = parameters.get("limit", str(DEFAULT)), parameters.get("after")
    if not (re.fullmatch(r"[0-9]{1,3}", limit) and 1 <= int(limit) <= MOST):
        raise invalid(f"Invalid value for 'limit': a number from 1 to {MOST} is taken", "limit")
    start = 0
    if after:
        places = [at for at, item in enumerate(items, 1) if item["id"] == after]
        if not places:
            raise invalid(f"Invalid value for 'after': no item has the id {after[:64]}", "after")
        start = places[0]
    shown = items[start : start + int(limit)]
    return {
        "object": "list",
        "data": [*shown],
        "has_more": start + len(shown) < len(items),
        "first_id": shown[0]["id"] if shown else None,
        "last_id": shown[-1]["id"] if shown else None,
    }
