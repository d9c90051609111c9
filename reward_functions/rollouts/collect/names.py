"""The region of an ARN, and the ids of sessions.

Source: botocore's model of bedrock-agentcore: a session id has 33 to 256 characters.
"""

from __future__ import annotations

import re
import uuid
from typing import Final

from reward_functions.rollouts.request.endpoints import region_in
from reward_functions.rollouts.request.errors import BadRequest

SESSION: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{32,255}")


def region_of(arn: str) -> str:
    """The region that an ARN names.

    Raises:
        ValueError: it names none.
    """
    region = region_in(arn)
    if not region:
        raise ValueError(f"Invalid ARN format, cannot extract region: {arn[:256]!r}")
    return region


def session_of(given: str | None) -> str:
    """A session's id: the one given, or a new one.

    Raises:
        BadRequest: AgentCore would not take it.
    """
    session = str(uuid.uuid4()) if given is None else given
    if not isinstance(session, str) or not SESSION.fullmatch(session):
        raise BadRequest(
            "a session id is 33 to 256 letters, digits, '-' and '_', and begins with a letter or "
            "a digit: leave it out for a new one"
        )
    return session
