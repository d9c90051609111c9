"""What an evaluation comes to, in sentences. A point is a hundredth of the reward's scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reward_functions.jobs.asking import HIGH
from reward_functions.jobs.evaluation.comparing import FEW

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reward_functions.jobs.asking import Sampling
    from reward_functions.jobs.evaluation.evaluation_record import (
        Compared,
        Interval,
        Power,
        Verdict,
    )
    from reward_functions.jobs.evaluation.split import Split


def points(value: float, *, signed: bool = True) -> str:
    """A difference in points, such as "+3.2"."""
    shown = f"{100 * value:+.1f}" if signed else f"{100 * value:.1f}"
    return "0.0" if shown in {"-0.0", "+0.0"} else shown


def ends(difference: Interval) -> str:
    """The interval, such as "-1.2 to +3.1"."""
    return f"{points(difference.low)} to {points(difference.high)}"


def conclusion(verdict: Verdict, greedy: Compared, power: Power) -> str:
    """The verdict as a sentence, with what this split can show."""
    difference = greedy.difference
    measured = (
        f"{points(difference.value)} points of the scale, 95 % interval {ends(difference)}, on "
        f"{_some(difference.prompts, 'prompt')}"
    )
    if verdict != "no difference shown":
        return f"the tuned model is {verdict}: {measured}"
    holds = "the interval holds 0"
    if not difference.low <= 0 <= difference.high:
        holds = f"under {FEW} prompts an exact test has to agree with the interval, and it does not"
    return f"no difference shown: {measured}; {holds}{_shown(power)}"


def _shown(power: Power) -> str:
    """What this split can show, as the end of a sentence."""
    if power.needed is None or power.smallest is None:
        return "; no prompt earned another score, so that nothing says what this split can show"
    return (
        f"; four times in five this split shows a difference of "
        f"{points(power.smallest, signed=False)} points, and {points(power.care, signed=False)} "
        f"points take about {power.needed:,} prompts"
    )


def warned(
    split: Split,
    greedy: Compared,
    power: Power,
    sampling: Sampling,
    *,
    errors: Mapping[str, int],
    groups_left_out: int,
) -> Iterator[str]:
    """What a reader must not overlook, in sentences."""
    yield from split.warnings
    prompts, width = greedy.difference.prompts, greedy.difference.high - greedy.difference.low
    few = f"{_some(prompts, 'prompt')} {'is' if prompts == 1 else 'are'} few"
    shown = not greedy.difference.low <= 0 <= greedy.difference.high
    if not shown and power.needed is not None and power.needed > prompts:
        yield (
            f"{few}: the interval is {points(width, signed=False)} points "
            f"wide, and a difference of {points(power.care, signed=False)} points takes about "
            f"{power.needed:,}"
        )
    elif prompts < FEW:
        yield f"{few}: an exact test has to agree with the interval"
    if greedy.left_out:
        yield (
            f"{_some(greedy.left_out, 'prompt')} without a score of one model or both left out: "
            "if the reward fails where one model answers oddly, the rest is no fair sample"
        )
    for error, count in list(errors.items())[:3]:
        yield f"{_some(count, 'answer')} without a score: {error}"
    if split.repeated:
        yield f"{_some(split.repeated, 'row')} of the split asking what another asks: asked once"
    if split.unread:
        yield f"{_some(split.unread, 'row')} of the split not valid: `reward data lint` says why"
    if sampling.reasoning_effort == HIGH:
        yield "with high effort the model takes no temperature: the greedy answers are drawn"
    if groups_left_out:
        yield f"{_some(groups_left_out, 'smaller group')} not shown"


def _some(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
