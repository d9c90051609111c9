"""Whether a judge is fit to train on, in one sentence, from the figures of its calibration.

| kappa with its 95 % interval | verdict |
| --- | --- |
| no verdict is valid, or it is not defined, or of a single prompt | not known |
| the interval holds 0 or lies below it | not fit: chance agrees as well |
| the interval lies below `LEAST_KAPPA` | not fit: too little |
| the interval holds `LEAST_KAPPA` | undecided: label more prompts |
| the interval begins at `LEAST_KAPPA`; fewer than `FEW_PROMPTS` | undecided: label more prompts |
| likewise; fewer than `FEW_RARER` have another label than most | undecided: label more of them |
| the interval begins at `LEAST_KAPPA`; a trial has no rating | undecided: ask the rest |
| the interval begins at `LEAST_KAPPA` | fit |

Invalid verdicts count as wrong. `LEAST_KAPPA` is a judgement and no measurement: a gate of your own
(`kappa<0.6`) is stricter. A bias whose interval leaves 0 out does not change the verdict, and is a
concern beside it, as invalid verdicts are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from reward_functions.reports.pages.page import Concern

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reward_functions.calibration.figures import CardFigure, Figures
    from reward_functions.reports.statistics import Interval

Fit = Literal["fit", "not fit", "undecided", "not known"]

LEAST_KAPPA: Final = 0.4
"""Below it a judge agrees with people too little to be trained on."""

FEW_PROMPTS: Final = 30
"""Prompts below which an interval by prompt is too narrow to be trusted."""

FEW_RARER: Final = 10
"""Prompts with another label than the most common one, below which kappa's interval is too narrow:
draws that lack them all have no kappa, and those that have them may find a judge right by luck."""

RARER: Final[Mapping[str, str]] = {
    "kappa": "with another label than most",
    "macro F1": "with another label than most",
    "tie F1": "that people call a tie",
}
"""The prompts of `Figures.deciding`, by figure."""

CUT: Final = "cut"
"""The kind of an invalid verdict that ended at the limit of tokens."""


class Fitness(NamedTuple):
    """Whether a judge is fit.

    Attributes:
        fit: see the module's table.
        why: the figure that decides, without a full stop.
    """

    fit: Fit
    why: str

    def __str__(self) -> str:
        """Both, such as "not fit: kappa 0.06, -0.12 to 0.27, includes chance"."""
        return f"{self.fit}: {self.why}"


def fitness(figures: Figures, missing: int) -> Fitness:
    """The verdict on a judge.

    Args:
        figures: of the judge.
        missing: trials without a rating.
    """
    kappa = figures.agreement["wrong"]["kappa"]
    if figures.cases == sum(figures.invalid.values()):
        return Fitness("not known", "no verdict is valid")
    if kappa.value is None:
        return Fitness("not known", "kappa is not defined, because every case is in one class")
    if kappa.interval is None:
        return Fitness("not known", f"kappa {digits(kappa.value)} has no interval: one prompt only")
    few = too_few(figures, "kappa")
    fit, why = _decided(kappa.interval, few, missing)
    return Fitness(fit, f"kappa {with_ends(kappa)}, {why}")


def too_few(figures: Figures, name: str) -> str:
    """Why the interval of a figure decides nothing; "" where it decides.

    Args:
        figures: of a judge.
        name: "kappa", or any other figure with an interval by prompt.
    """
    if figures.prompts < FEW_PROMPTS:
        return f"of {figures.prompts:,} prompts only: label {FEW_PROMPTS}"
    count = figures.deciding[name] if name in RARER else FEW_RARER
    if count < FEW_RARER:
        return f"of {count} prompt{'s' * (count != 1)} {RARER[name]}: label {FEW_RARER}"
    return ""


def _decided(interval: Interval, few: str, missing: int) -> tuple[Fit, str]:
    """The verdict of an interval of kappa, by the table of this module."""
    low, high, least = interval.low, interval.high, LEAST_KAPPA
    rows: tuple[tuple[bool, Fit, str], ...] = (
        (high < 0, "not fit", "is below chance"),
        (low <= 0, "not fit", "includes chance"),
        (high < least, "not fit", f"is below {least:g}"),
        (low < least, "undecided", f"includes {least:g}: label more prompts"),
        (bool(few), "undecided", few),
        (missing > 0, "undecided", "before every trial has a rating: `--resume` asks the rest"),
        (True, "fit", f"is above {least:g}"),
    )
    return next((fit, why) for holds, fit, why in rows if holds)


def concerns(figures: Figures, *, pairs: bool) -> Iterator[Concern]:
    """Findings beside kappa, the worst first.

    Args:
        figures: of the judge.
        pairs: whether the cases are pairs; a bias of position, else one of leniency.
    """
    invalid = sum(figures.invalid.values())
    cut = figures.invalid.get(CUT, 0)
    if invalid:
        words = f"{invalid:,} of {figures.cases:,} verdicts are invalid, and count as wrong."
        yield Concern("unscored", words, "Consistency")
    towards = ("the first response", "the second response") if pairs else ("high", "low")
    verb = "It prefers {}" if pairs else "It grades too {}"
    if _leaves_zero(figures.bias):
        preferred = verb.format(towards[_below(figures.bias)])
        yield Concern("reasons", f"{preferred}: {with_ends(figures.bias, signed=True)}.", "Bias")
    if _leaves_zero(figures.length_bias):
        length = ("long", "short")[_below(figures.length_bias)]
        slope = with_ends(figures.length_bias, signed=True)
        words = f"It prefers {length} responses: {slope} for each doubling."
        yield Concern("reasons", words, "Bias")
    if cut:
        were = "verdict was" if cut == 1 else "verdicts were"
        words = f"{cut:,} {were} cut off: raise `max_tokens` of the model."
        yield Concern("truncation", words)


def _leaves_zero(figure: CardFigure) -> bool:
    return figure.interval is not None and not figure.interval.low <= 0 <= figure.interval.high


def _below(figure: CardFigure) -> bool:
    return (figure.value or 0.0) < 0


def digits(value: float, *, signed: bool = False) -> str:
    """Two decimals, and never "-0.00"."""
    return f"{round(value, 2) + 0.0:{'+' if signed else ''}.2f}"


def with_ends(figure: CardFigure, *, signed: bool = False) -> str:
    """A figure and the ends of its interval: "0.06, -0.12 to 0.27"; a dash where it has none."""
    if figure.value is None:
        return "–"
    value = digits(figure.value, signed=signed)
    if figure.interval is None:
        return value
    low, high = (digits(end, signed=signed) for end in figure.interval)
    return f"{value}, {low} to {high}"
