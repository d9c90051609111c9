"""Two plots of a simulated run as SVG: the reward over the steps, and each strategy's share.

The colours come from the page's style sheet. No figure is shown by colour alone: every line has its
name beside it.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

from reward_functions.tools.training_double.strategies import CORRECT, STRATEGIES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from reward_functions.tools.training_double.training import Step

WIDTH: Final = 640
LEFT: Final = 150
RIGHT: Final = 120
HEIGHT: Final = 220
TOP: Final = 24
"""Units of the drawing; the page scales it to the width there is."""

BAND: Final = 34
"""From one strategy's line to the next."""


def rewards(steps: Sequence[Step]) -> str:
    """The mean reward of each step's responses as a line; of each evaluation as a square."""
    evaluated = [(step.number, step.validation["reward_mean"]) for step in steps if step.validation]
    trained = [(step.number, step.metrics["reward_mean"]) for step in steps]
    values = [value for _, value in [*trained, *evaluated]]
    low, high = min(0.0, *values), max(1.0, *values)
    across = _across(steps)

    def down(value: float) -> float:
        return TOP + (HEIGHT - TOP) * (high - value) / (high - low)

    ticks = [low + (high - low) * quarter / 4 for quarter in range(5)]
    drawn = [
        f'<path class="grid" d="M{LEFT} {down(tick):.1f}H{WIDTH - RIGHT}"/>'
        + _text(LEFT - 10, down(tick) + 4, f"{tick:.3g}", "end")
        for tick in ticks
    ]
    drawn.append(f'<path class="s0" d="{_line((across(x), down(y)) for x, y in trained)}"/>')
    drawn += [
        f'<path class="m1" d="M{across(x) - 4:.1f} {down(y) - 4:.1f}h8v8h-8z">'
        f"<title>{escape(f'validation after step {x}: {y:.3f}')}</title></path>"
        for x, y in evaluated
    ]
    drawn += [
        f'<path class="s0" d="M{LEFT} 8h24"/>{_text(LEFT + 30, 12, "training")}',
        f'<path class="m1" d="M{LEFT + 110} 4h8v8h-8z"/>{_text(LEFT + 124, 12, "validation")}'
        if evaluated
        else "",
        _text(LEFT, HEIGHT + 18, f"step {steps[0].number}"),
        _text(WIDTH - RIGHT, HEIGHT + 18, f"step {steps[-1].number}", "end"),
    ]
    return _svg("Simulation: mean reward over the steps", HEIGHT + 26, drawn)


def shares(steps: Sequence[Step], kind: str) -> str:
    """A line for each strategy, from 0 to 100 % in its own band, with the first and last share."""
    across = _across(steps)
    drawn = []
    for at, strategy in enumerate(STRATEGIES):
        base = TOP + BAND * (at + 1) - 6
        values = [step.shares[kind][strategy.name] for step in steps]
        points = [
            (across(step.number), base - (BAND - 8) * value)
            for step, value in zip(steps, values, strict=True)
        ]
        style = "s2" if strategy.name in CORRECT else "s1"
        drawn += [
            _text(LEFT - 10, base, strategy.name, "end"),
            f'<path class="grid" d="M{LEFT} {base}H{WIDTH - RIGHT}"/>',
            f'<path class="{style}" d="{_line(points)}"/>',
            _text(WIDTH - RIGHT + 10, base, f"{values[0]:.1%} → {values[-1]:.1%}"),
        ]
    label = f"Simulation: shares of the strategies over the steps, {kind}"
    return _svg(label, TOP + BAND * len(STRATEGIES) + 8, drawn)


def _across(steps: Sequence[Step]) -> Callable[[float], float]:
    """From the number of a step to its place."""
    first, last = steps[0].number, steps[-1].number

    def place(number: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (number - first) / max(1, last - first)

    return place


def _line(points: Iterable[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _svg(label: str, height: float, drawn: Iterable[str]) -> str:
    box = f'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}"'
    return f'<svg {box} role="img" aria-label="{escape(label)}">{"".join(drawn)}</svg>'
