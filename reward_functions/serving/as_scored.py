"""Results as they were scored, for a caller who trains on none of them: nothing is imputed.

    {"reward_functions": {"results": "as_scored"}, "body": [row, …]}
    → [{"id": "a", "aggregate_reward_score": 1.0, "metrics_list": […], "reason": "equal", …},
       {"id": "b", "aggregate_reward_score": null, "error": {"type": "BadReference", …}}]

A scored row has its result object with the reason and the rule of its score; any other has its
error, whose failure it is, and no number. No share of failures fails the batch. No event of a
trainer is one of these: its rows stand beside no such key.
"""

from __future__ import annotations

from traceback import walk_tb
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.errors import DatasetError, PartFailed, RewardError
from reward_functions.core.spec import RewardSpec
from reward_functions.core.types import Scored
from reward_functions.serving.contract import result_object
from reward_functions.serving.self_test import KEY

if TYPE_CHECKING:
    from reward_functions.core.types import RewardResult

ASKED: Final = {"results": "as_scored"}

CORE: Final = "reward_functions.core."
"""Between a reward that combines others and those."""

LONGEST: Final = 1_000
"""Characters of a reason or of a message that are sent."""


def asks_as_scored(event: Any) -> bool:
    """Whether an event asks for results as they were scored."""
    return isinstance(event, dict) and event.get(KEY) == ASKED


def as_scored(results: list[RewardResult]) -> list[dict[str, Any]]:
    """One object per result, in order."""
    return [_object(result) for result in results]


def _object(result: RewardResult) -> dict[str, Any]:
    if isinstance(result, Scored):
        score = result.score
        rule = score.evidence.rule if score.evidence else None
        return {**result_object(result), "reason": score.reason[:LONGEST], "rule": rule}
    error = result.error
    data, own = isinstance(error, DatasetError), isinstance(error, RewardError)
    return {
        "id": result.id,
        "aggregate_reward_score": None,
        "error": {
            "type": type(error).__name__,
            "kind": str(getattr(error, "kind", "")),
            "of": "data" if data else "reward" if own else "code",
            "message": complaint(error)[:LONGEST],
        },
    }


def complaint(error: BaseException) -> str:
    """An exception's message, and where it came from unless it was raised on purpose."""
    if isinstance(error, PartFailed) and str(error.__cause__ or ""):
        return f"{error}: {error.__cause__}"
    where = None if isinstance(error, RewardError) else origin(error)
    return " ".join([part for part in (str(error), where and f"({where})") if part])


def origin(error: BaseException) -> str | None:
    """`FILE, line N` of the innermost frame in the reward's own module; None outside of rewards.

    The frames of a traceback lead from this command through the library into the reward's module,
    and often on into the standard library. The innermost of that module is what its author wrote.
    """
    calls = RewardSpec.__call__.__code__
    own, inside, found = None, False, None
    for frame, line in walk_tb(error.__traceback__):
        if frame.f_code is calls:
            own, inside = None, True
        elif inside and own is None and not _in_core(frame):
            own = frame.f_globals
        if inside and own is frame.f_globals:
            found = f"{frame.f_code.co_filename.rpartition('/')[2]}, line {line}"
    return found


def _in_core(frame: Any) -> bool:
    return str(frame.f_globals.get("__name__")).startswith(CORE)
