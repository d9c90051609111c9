"""What the digest keeps of a scored row: a few numbers and a short reason, never the row.

They are worked out where the row is scored, stand beside its result while a run goes on, and are
all that is read again when an interrupted run goes on.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.core.types import Sample, Scored
from reward_functions.judge_runtime.scores import without_model
from reward_functions.reports.score_report.reasons import normal_form, reason_of
from reward_functions.reports.score_report.truncation import SIGNALS
from reward_functions.reports.score_report.unscored import attribution

if TYPE_CHECKING:
    from reward_functions.core.spec import RewardSpec
    from reward_functions.core.types import RewardResult, Unscored

EMPTY: Final = 1
"""The row holds no response."""

CUT: Final = 2
"""The reward is the minimum, and the response shows a sign of truncation."""

NO_SAMPLE: Final = 4
"""The row is not a valid sample."""

UNASKED: Final = 8
"""A judge decided the row without its model."""


class RowFacts(NamedTuple):
    """The facts of one row.

    Args:
        value: the reward; None of an unscored row.
        reason: its normal form, of the score or of the error.
        prompt: a number that rows with the same messages before the response share; 0 for none.
        length: characters of the response.
        signs: a sum of `EMPTY`, `CUT`, `NO_SAMPLE` and `UNASKED`.
        error: of an unscored row its name, its kind, whose failure it is, and the remedy.
    """

    value: float | None
    reason: str
    prompt: int
    length: int
    signs: int
    error: tuple[str, str, str, str] | None = None


def facts_of(spec: RewardSpec, sample: Sample | Unscored, result: RewardResult) -> RowFacts:
    """The facts of a row."""
    if not isinstance(sample, Sample):
        return _unscored(sample, 0, 0, NO_SAMPLE)
    response = sample.response
    signs = 0 if response and not response.isspace() else EMPTY
    prompt = _prompt(sample)
    if not isinstance(result, Scored):
        return _unscored(result, prompt, len(response), signs)
    score = result.score
    low = score.value == spec.scale.minimum
    if low and not signs and any(signal.shown(sample) for signal in SIGNALS):
        signs |= CUT
    if without_model(score):
        signs |= UNASKED
    return RowFacts(score.value, reason_of(spec.name, score), prompt, len(response), signs)


def _unscored(result: Unscored, prompt: int, length: int, signs: int) -> RowFacts:
    error = result.error
    name, kind = type(error).__name__, str(getattr(error, "kind", ""))
    found = attribution(error)
    reason = normal_form(str(error) or name)
    return RowFacts(None, reason, prompt, length, signs, (name, kind, found.whose, found.remedy))


def _prompt(sample: Sample) -> int:
    """The first 64 bits of the messages' digest; a million prompts meet with 3 in 10⁸."""
    context = sample.context
    if not any(message.content for message in context):
        return 0
    parts = [f"{len(turn.role)}:{turn.role}{len(turn.content)}:{turn.content}" for turn in context]
    text = "".join(parts).encode(errors="surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8).digest()) or 1
