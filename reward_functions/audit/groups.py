"""The scores of each prompt's responses: against labels, among each other, by length.

| figure | what it is |
| --- | --- |
| `unscored` | the share of rows without a score |
| `fp`, `fn` | of the rows labelled wrong those that pass; of those labelled right the others |
| `frac_reward_zero_std` | the share of prompts whose rewards are all equal; TRL's name |
| `reward_std` | the standard deviation of a prompt's rewards, the mean over prompts |
| `distinct` | how many different rewards there are |
| `length.rollouts` | tau-b of reward and length, the mean over prompts |

Each prompt counts once, and intervals count prompts (`reports.statistics.rate`). A figure that
cannot be measured is absent and says why. Long responses may earn more since they are better: tau-b
is called a bias only among responses to one prompt with one label.

A reward passes above a share of its scale; at 1 its maximum does. A scale is as wide as what was
seen: a function that declares none has at least 0 to 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from math import isnan, nan, sqrt
from typing import TYPE_CHECKING, Final, Self

from reward_functions.audit.gold import short_reference
from reward_functions.audit.results import ROWS, Figure, Finding, SeenRow
from reward_functions.core.means import mean
from reward_functions.core.spec import UNIT_SCALE, Scale
from reward_functions.core.types import Sample, Scored, Unscored
from reward_functions.reports.statistics import (
    PAIR,
    RESAMPLED,
    Interval,
    Rate,
    mean_rate,
    mean_square,
    rate,
    tau_b,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from reward_functions.audit.results import Verdict
    from reward_functions.core.types import RewardResult
    from reward_functions.reports.score_report.labels import Labels

ROUNDING: Final = 1e-9
"""Of the scale: errors below it are those of adding."""

ALONE: Final = "no prompt has two scored responses"
NO_ROWS: Final = "there are no rows"
NO_SCORE: Final = "no row has a score"


def prompts_of(samples: Iterable[Sample | Unscored]) -> list[list[int]]:
    """The rows of each prompt, in order of appearance; one without a prompt is by itself."""
    found: dict[object, list[int]] = {}
    for at, sample in enumerate(samples):
        context = sample.context if isinstance(sample, Sample) else ()
        key = context if any(message.content for message in context) else at
        found.setdefault(key, []).append(at)
    return list(found.values())


@dataclass(frozen=True, slots=True)
class Earned:
    """Rows with what a reward gave to each, by prompt.

    Args:
        samples: the rows.
        results: one for each.
        scale: as wide as what was seen.
        groups: the rows of each prompt, scored or not.
        shares: of the scale, of each row; not a number where it has no score.
        pass_at: the share of the scale above which a row passes.
    """

    samples: Sequence[Sample | Unscored]
    results: Sequence[RewardResult]
    scale: Scale
    groups: Sequence[Sequence[int]]
    shares: Sequence[float]
    pass_at: float

    @classmethod
    def of(
        cls,
        samples: Sequence[Sample | Unscored],
        results: Sequence[RewardResult],
        declared: Scale | None,
        pass_at: float = 0.5,
    ) -> Self:
        """What rows earned.

        Args:
            samples: the rows.
            results: one for each.
            declared: the reward's scale; None where it is not known.
            pass_at: as of the class.
        """
        values = [each.score.value for each in results if isinstance(each, Scored)]
        low, high = declared or UNIT_SCALE
        low, high = min([low, *values]), max([high, *values])
        width = high / 2 - low / 2  # of halves, since a difference may be no float
        shares = [
            (each.score.value / 2 - low / 2) / width if isinstance(each, Scored) else nan
            for each in results
        ]
        return cls(samples, results, Scale(low, high), prompts_of(samples), shares, pass_at)

    def scored(self, at: int) -> bool:
        """Whether a row has a score."""
        return not isnan(self.shares[at])

    def passes(self, at: int) -> bool:
        """Whether a row earned enough; one without a score did not."""
        return self.shares[at] > min(self.pass_at + ROUNDING, 1 - ROUNDING)

    def several(self) -> list[list[int]]:
        """The scored rows of each prompt that has two or more."""
        return [group for group in kept(self.groups, self.scored) if len(group) >= PAIR]

    def response(self, at: int) -> str:
        """The answer in a row; "" where it is not a valid sample."""
        sample = self.samples[at]
        return sample.response if isinstance(sample, Sample) else ""

    def seen(self, at: int, place: str, wanted: float | None = None) -> SeenRow:
        """A row as a finding shows it."""
        result, response = self.results[at], self.response(at)
        value, why = (
            (None, str(result.error))
            if isinstance(result, Unscored)
            else (result.score.value, result.score.reason)
        )
        return SeenRow(place, response, value, wanted, why, short_reference(self.samples[at]))


def kept(groups: Iterable[Sequence[int]], counts: Callable[[int], bool]) -> list[list[int]]:
    """The rows that count, of each prompt that has one."""
    found = ([at for at in group if counts(at)] for group in groups)
    return [group for group in found if group]


def among(groups: Iterable[Sequence[int]], number: Callable[[int], float]) -> list[list[float]]:
    """A number of each row, by prompt."""
    return [[number(at) for at in group] for group in groups]


def unscored_rate(groups: Iterable[Sequence[int]], scored: Callable[[int], bool]) -> Rate | None:
    """How many rows have no score, by prompt."""
    return rate(among(groups, lambda at: not scored(at)))


def figure_of(name: str, found: Rate | None, why: str, unit: str = "share") -> Figure:
    """A figure from a mean over prompts.

    Args:
        name: its id.
        found: the mean; None where it was not measured.
        why: shown where it was not.
        unit: of the mean.
    """
    if found is None:
        return Figure(name, None, unit=unit, why=why)
    low, high = found.interval or (None, None)
    few = f"an interval takes {RESAMPLED} prompts" if found.interval is None else ""
    return Figure(name, found.value, low, high, found.prompts, unit, few)


def tau_figure(name: str, taus: Sequence[float], of: int, what: str) -> Figure:
    """The mean tau-b of the prompts that have one.

    Args:
        name: of the figure.
        taus: one for each of them.
        of: prompts in all.
        what: must differ among a prompt's responses, in the plural.
    """
    over = f"{what} differ in {len(taus):,} of {of:,} prompts"
    if len(taus) < RESAMPLED:
        few = f"{over}, and it takes {RESAMPLED}"
        return Figure(name, None, n=len(taus), unit="tau", why=few)
    found = figure_of(name, mean_rate(taus, -1.0, 1.0), "", "tau")
    return Figure(name, found.value, found.low, found.high, found.n, "tau", over)


def finding_of(
    name: str,
    title: str,
    groups: Sequence[Sequence[int]],
    has: Callable[[int], bool],
    *,
    why: str,
    worst: Callable[[int], float],
    seen: Callable[[int], SeenRow],
) -> Finding:
    """A finding that shows the rows which have something.

    Args:
        name: its id.
        title: in a few words.
        groups: the rows that were tried, by prompt.
        has: whether a row shows it.
        why: shown where none was tried.
        worst: the row with the largest is shown first.
        seen: a row as it is shown.
    """
    tried = among(groups, has)
    if not tried:
        return Finding(name, title, "untested", why)
    rows = sorted(filter(has, chain(*groups)), key=worst, reverse=True)
    return Finding(
        name,
        title,
        "note" if rows else "ok",
        f"{len(rows):,} of {sum(map(len, tried)):,} rows",
        count=sum(map(any, tried)),
        n=len(tried),
        rows=[seen(at) for at in rows[:ROWS]],
    )


def group_measures(
    earned: Earned, places: Sequence[str], labels: Labels | None = None
) -> tuple[list[Figure], list[Finding]]:
    """The facts that a reward's scores of responses show by themselves.

    Args:
        earned: the rows.
        places: where each stands in its file.
        labels: what somebody else says of each.
    """
    unscored = figure_of("unscored", unscored_rate(earned.groups, earned.scored), NO_ROWS)
    figures, findings = label_measures(earned, places, labels) if labels else ([], [])
    length = _length(earned, labels)
    title = "length bias" if labels else "reward and length"
    verdict: Verdict = "untested" if length.value is None else "note"
    words = length.why if length.value is None else f"tau-b is {length.value:.2f}: {length.why}"
    found = Finding("LENGTH", title, verdict, words, n=len(earned.groups))
    return [unscored, *figures, *_differing(earned), length], [*findings, found]


def label_measures(
    earned: Earned, places: Sequence[str], labels: Labels, letter: str = ""
) -> tuple[list[Figure], list[Finding]]:
    """Wrong rows that pass and right ones that do not: how many, and the worst of them.

    Args:
        earned: the rows.
        places: where each stands in its file.
        labels: of each.
        letter: of the reward, where there are two: "A".
    """
    both = [_mistaken(earned, places, labels, letter, right=right) for right in (False, True)]
    return [figure for figure, _ in both], [finding for _, finding in both]


def _mistaken(
    earned: Earned, places: Sequence[str], labels: Labels, letter: str, *, right: bool
) -> tuple[Figure, Finding]:
    """The rows with one label, and those of them that fare as if they had the other."""
    low, high = earned.scale
    limit = low * (1 - earned.pass_at) + high * earned.pass_at
    name, word = ("fn", "right") if right else ("fp", "wrong")
    why = f"no scored row is labelled {word}"
    groups = kept(earned.groups, lambda at: labels.values[at] is right and earned.scored(at))

    def mistaken(at: int) -> bool:
        return earned.passes(at) is not right

    finding = finding_of(
        f"{name.upper()}-{letter}".rstrip("-"),
        f"{'refused' if right else 'paid'}, though labelled {word}",
        groups,
        mistaken,
        why=why,
        worst=lambda at: -earned.shares[at] if right else earned.shares[at],
        seen=lambda at: earned.seen(at, places[at], limit),
    )
    found = rate(among(groups, mistaken))
    return figure_of(f"{name}.{letter.lower()}".rstrip("."), found, why), finding


def alike(shares: Collection[float]) -> bool:
    """Whether rewards of a prompt are all equal but for a rounding."""
    return max(shares) - min(shares) <= ROUNDING


def _std(shares: Sequence[float]) -> float:
    middle = mean(shares)
    return sqrt(mean_square([each - middle for each in shares]))


def _differing(earned: Earned) -> list[Figure]:
    """How far the rewards of a prompt differ."""
    several = [[earned.shares[at] for at in group] for group in earned.several()]
    low, high = earned.scale
    values = {each.score.value for each in earned.results if isinstance(each, Scored)}
    prompts, why = len(kept(earned.groups, earned.scored)), "" if values else NO_SCORE
    # Of half the scale, which no standard deviation exceeds.
    stds = mean_rate([2 * _std(group) for group in several], 0.0, 1.0)
    return [
        figure_of("frac_reward_zero_std", rate([[alike(group)] for group in several]), ALONE),
        figure_of("reward_std", in_units(stds, Scale(0.0, high / 2 - low / 2)), ALONE, "score"),
        Figure("distinct", float(len(values)) or None, n=prompts, unit="count", why=why),
    ]


def in_units(found: Rate | None, scale: Scale) -> Rate | None:
    """A mean of shares of a scale as one of scores."""
    if found is None:
        return None
    numbers = (found.value, *(found.interval or ()))
    low, high = scale
    value, *ends = (low * (1 - each) + high * each for each in numbers)
    return Rate(value, Interval(*ends) if ends else None, found.prompts)


def _length(earned: Earned, labels: Labels | None) -> Figure:
    """Tau-b of reward and length within each prompt, and within each label where there are any."""
    taus = []
    for group in earned.several():
        cells: dict[bool | None, list[int]] = {}
        for at in group:
            label = None if labels is None else labels.values[at]
            if labels is None or label is not None:
                cells.setdefault(label, []).append(at)
        found = [_tau_of_length(earned, rows) for rows in cells.values()]
        measured = [each for each in found if each is not None]
        taus += [mean(measured)] if measured else []
    what = "rewards and lengths" if labels is None else "rewards and lengths of one label"
    return tau_figure("length.rollouts", taus, len(earned.groups), what)


def _tau_of_length(earned: Earned, rows: Sequence[int]) -> float | None:
    lengths = [len(earned.response(at)) for at in rows]
    return tau_b([earned.shares[at] for at in rows], lengths)
