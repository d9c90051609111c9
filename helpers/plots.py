"""Two plots as SVG, without a plotting library: a histogram of rewards, and the rewards by group.

A group whose marks lie on one point has zero advantage: GRPO takes no gradient from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Final

from helpers.tables import visible
from reward_functions import Sample, Scored

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reward_functions import RewardResult, Unscored

WIDTH: Final = 640
LEFT: Final = 200
"""Units for the labels, left of the drawing."""

LINE: Final = 22
"""Units of one row."""

LABEL: Final = 28
"""Characters of a label."""


@dataclass(frozen=True, slots=True)
class Plot:
    """A drawing that a notebook shows."""

    svg: str

    def _repr_svg_(self) -> str:
        return self.svg


def histogram(rewards: Sequence[float], *, bins: int = 10) -> Plot:
    """How many rewards lie in each of some equal steps from the lowest to the highest.

    Raises:
        ValueError: there are no rewards.
    """
    if not rewards:
        raise ValueError("a histogram needs at least one reward")
    low, high = min(rewards), max(rewards)
    width = (high - low) / bins or 1.0
    counts = [0] * (bins if high > low else 1)
    for reward in rewards:
        counts[min(int((reward - low) / width), len(counts) - 1)] += 1
    most = max(counts)
    return _drawn(
        (f"{low + at * width:.3g}", _bar(count / most, str(count)))
        for at, count in enumerate(counts)
    )


def groups(rewards: Mapping[str, Sequence[float]]) -> Plot:
    """The rewards of each group on one line, from the lowest of all to the highest.

    Args:
        rewards: by the group's name, as `rewards_by_prompt` returns them.

    Raises:
        ValueError: there are no rewards.
    """
    values = [value for group in rewards.values() for value in group]
    if not values:
        raise ValueError("a plot of groups needs at least one reward")
    low = min(values)
    span = (max(values) - low) or 1.0
    return _drawn(
        (name, "".join(_mark((value - low) / span, value) for value in group))
        for name, group in rewards.items()
    )


def rewards_by_prompt(
    samples: Iterable[Sample | Unscored], results: Iterable[RewardResult]
) -> dict[str, list[float]]:
    """The rewards of the scored samples by the prompt they answer."""
    found: dict[str, list[float]] = {}
    for sample, result in zip(samples, results, strict=True):
        if isinstance(sample, Sample) and isinstance(result, Scored):
            found.setdefault(sample.prompt, []).append(result.score.value)
    return found


def _drawn(lines: Iterable[tuple[str, str]]) -> Plot:
    """A label and a drawing on each line, from the top."""
    drawn = [
        f'<g transform="translate(0 {LINE * at})">'
        f'<text x="{LEFT - 8}" y="15" text-anchor="end">{escape(_label(name))}</text>{drawing}</g>'
        for at, (name, drawing) in enumerate(lines)
    ]
    return Plot(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {LINE * len(drawn)}" '
        f'font-family="sans-serif" font-size="12" fill="currentColor">{"".join(drawn)}</svg>'
    )


def _label(name: str) -> str:
    shown = visible(name)
    return shown if len(shown) <= LABEL else f"{shown[: LABEL - 1]}…"


def _across(share: float) -> float:
    return LEFT + (WIDTH - LEFT - 60) * share


def _bar(share: float, label: str) -> str:
    end = _across(share)
    return (
        f'<rect x="{LEFT}" y="3" width="{end - LEFT:.1f}" height="16" opacity="0.6"/>'
        f'<text x="{end + 6:.1f}" y="15">{label}</text>'
    )


def _mark(share: float, value: float) -> str:
    return (
        f'<circle cx="{_across(share):.1f}" cy="11" r="5" opacity="0.4">'
        f"<title>{value:g}</title></circle>"
    )
