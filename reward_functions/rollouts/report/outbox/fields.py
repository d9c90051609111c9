"""Intents and episodes as the fields of a row, for stores that have rows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from reward_functions.rollouts.report.intents import Intent, Stored, Target
from reward_functions.rollouts.report.outbox import Episode
from reward_functions.rollouts.report.outbox.rules import storable_payload

if TYPE_CHECKING:
    from collections.abc import Mapping

TIMES: Final = ("created", "expires", "due", "began", "now", "latest", "until", "before")
"""The fields that are seconds since the epoch: of rows, and of questions about them."""

TARGET: Final = ("job_arn", "trajectory_id", "endpoint", "region", "transport")


def fields_of_target(target: Target) -> dict[str, Any]:
    """Of where a rollout is reported."""
    return {name: getattr(target, name) for name in TARGET}


def fields_of_intent(intent: Intent, due: float | None) -> dict[str, Any]:
    """Of an intent that nobody has sent."""
    return fields_of_target(intent.target) | {
        "operation": intent.operation,
        "payload": intent.body,
        "token": intent.token,
        "created": intent.created,
        "expires": intent.expires,
        "of_failed": int(intent.of_failed),
        "state": "pending",
        "attempts": 0,
        "due": intent.created if due is None else due,
        "outcome": "",
        "detail": "",
    }


def fields_of_episode(episode: Episode, owner: str) -> dict[str, Any]:
    """Of an episode, and of who runs it."""
    return fields_of_target(episode.target) | {
        "owner": owner,
        "began": episode.began,
        "expires": episode.expires,
        "minimum": episode.minimum,
        "payload": storable_payload(episode),
        "sampled": int(episode.sampled),
        "on_failure": episode.on_failure,
    }


def stored_of(fields: Mapping[str, Any]) -> Stored:
    """An intent from its row."""
    return Stored(
        intent=Intent(
            target=_target(fields),
            operation=fields["operation"],
            payload=json.loads(fields["payload"]),
            created=float(fields["created"]),
            expires=float(fields["expires"]),
            of_failed=bool(fields["of_failed"]),
        ),
        state=fields["state"],
        attempts=int(fields["attempts"]),
        due=float(fields["due"]),
        outcome=fields["outcome"],
        detail=fields["detail"],
    )


def episode_of(fields: Mapping[str, Any]) -> Episode:
    """An episode from its row."""
    return Episode(
        target=_target(fields),
        began=float(fields["began"]),
        expires=float(fields["expires"]),
        minimum=float(fields["minimum"]),
        payload=fields["payload"],
        sampled=bool(fields["sampled"]),
        on_failure=fields["on_failure"],
    )


def later(fields: Mapping[str, Any], seconds: float) -> Mapping[str, Any]:
    """Fields whose times are so many seconds later: as another clock has them."""
    if not seconds:
        return fields
    names = fields.keys()
    times = {name: fields[name] for name in TIMES if name in names}
    moved = {name: time + seconds for name, time in times.items() if time is not None}
    return {name: fields[name] for name in names} | moved


def _target(fields: Mapping[str, Any]) -> Target:
    return Target(**{name: fields[name] for name in TARGET})
