"""The worked examples of a reward, scored again: what differs, and how many were scored."""

from __future__ import annotations

from typing import NamedTuple

from reward_functions import RewardSpec, Scored, score_batch
from reward_functions.core.errors import BadParameter, ConfigurationError
from reward_functions.core.importing import IMPORT_ERRORS
from reward_functions.core.spec import Example, lacking
from reward_functions.reports.measured import Measured
from reward_functions.scoring.results import error_of


class Replayed(NamedTuple):
    """The examples of one reward.

    Args:
        flaws: what is wrong with them, a sentence each.
        measured: how many were scored.
    """

    flaws: list[str]
    measured: Measured


def replayed(spec: RewardSpec) -> Replayed:
    """Score the examples of a reward; code that lets none be tried is a flaw."""
    flaws, scored = [], 0
    if not spec.examples:
        flaws.append("it has no examples")
    try:
        if missing := lacking(spec):
            flaws.append(f"before it can be deployed it needs {'; '.join(missing)}")
        for example in spec.examples:
            flaw, counts = _tried(spec, example)
            scored += counts
            flaws += [flaw] if flaw else []
    except (ConfigurationError, *IMPORT_ERRORS) as error:
        flaws.append(f"its code raises {type(error).__name__}: {error}")
    return Replayed(flaws, Measured("examples", scored, len(spec.examples) - scored))


def _tried(spec: RewardSpec, example: Example) -> tuple[str, bool]:
    """What is wrong with an example, "" for nothing, and whether it was scored."""
    about = f"{example.kind} example {example.response!r}"
    try:
        reward = spec.bound_to_example(example)
    except BadParameter as error:
        return f"{about}: {error}", False
    (result,) = score_batch(reward, [example.sample()])
    if not isinstance(result, Scored):
        return f"{about} raises {': '.join(filter(None, error_of(result).values()))}", False
    if result.score.value == example.score:
        return "", True
    earned = f"{about} earns {result.score.value:g}, not {example.score:g}"
    return ": ".join(filter(None, (earned, result.score.reason))), True
