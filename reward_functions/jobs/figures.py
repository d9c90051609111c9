"""The figures of a job: series of points, how to read them, and their course as charts.

    service's figures         by step: reward, entropy, length, loss; their names are its own
    grader's figures          by minute: what the function measured of its own answers

One table shows a series in a column. Names come from a service, and are data.

The name of a figure says what it is: trainers that log by path (`critic/rewards/mean`) use the
words of our tables for other things too. `timing_s/reward` is seconds, `prompt_length/mean` says
nothing of the policy. A row of `NAMES` says what a name is read as; a name without a row is read as
it is.

A sign is a row of `SIGNS`: the figures it needs, by words in their names, and a rule on them. A
course is compared by its thirds: the first, and the last. Where nobody measured a figure, or too
few points of it, that is what the sign says.

Training and validation of one figure are in one chart. Charts of rewards share an axis, which holds
both ends of the scale: a course from 0.02 to 0.03 looks as flat as it is. A figure of one point has
no course; one that never changed is a line of text. Below a chart stands what it means: a row of
`MEANINGS`.

Sources of the names: AWS's guide to customizing Nova, "Reinforcement fine-tuning", for those of its
recipes. For all with the same beginning verl's `metric_utils`. For multi-turn jobs sagemaker-train
1.27.0 and AWS's guide to SageMaker; TRL's GRPOTrainer for `train/…` and `eval/…`. Of the signs:
contracts of the services where a row names one; the others are this project's, and are meant to
draw the eye, not to decide.
"""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from dataclasses import dataclass
from io import StringIO
from statistics import median
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, get_args

from reward_functions.core.means import mean
from reward_functions.core.spec import UNIT_SCALE, Scale
from reward_functions.reports.pages.charts.drawing import Chart, side_by_side
from reward_functions.reports.pages.charts.plots import Course, lines
from reward_functions.reports.sheets import Sheet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from reward_functions.jobs.job import MetricPoint
    from reward_functions.reports.pages.page import Kind


class MetricName(NamedTuple):
    """Names, and what they are read as.

    Args:
        pattern: of whole names, in small letters.
        read_as: words of this project's tables; without any of them, nothing is read from it.
        source: whose names they are.
    """

    pattern: str
    read_as: str
    source: str


NAMES: Final = (
    MetricName(r"critic/rewards/mean", "reward_mean", "Nova recipes, verl"),
    MetricName(r"critic/rewards/(?:max|min|std)", "reward_max_min_std", "Nova recipes, verl"),
    MetricName(r"critic/score/[a-z]+", "score_max_min_std", "verl: before any penalty"),
    MetricName(r"critic/(?:advantages|returns|values)/[a-z]+", "value", "verl"),
    MetricName(r"val[a-z-]*/.*\brewards?/mean(?:@[0-9]+)?", "reward_mean", "Nova recipes, verl"),
    MetricName(r"val/reward/pass_(?:at|hat)_k", "reward_pass", "multi-turn jobs"),
    MetricName(r"rollout/reward/mean", "reward_mean", "multi-turn jobs"),
    MetricName(r"rollout/reward/(?:max|min|std)", "reward_max_min_std", "multi-turn jobs"),
    MetricName(r"actor/entropy(?:_loss)?", "entropy", "Nova recipes, verl"),
    MetricName(r"actor/grad_norm", "grad_norm", "Nova recipes, verl"),
    MetricName(r"actor/pg_loss", "loss", "Nova recipes, verl"),
    MetricName(r"response_length/mean", "response_length_mean", "Nova recipes, verl"),
    MetricName(r"response_length/(?:max|min)", "response_max_min", "Nova recipes, verl"),
    MetricName(r"[a-z_]+/clip_ratio", "share_cut_off", "verl"),
    MetricName(r"prompt_length/[a-z_]+", "prompt", "Nova recipes, verl"),
    MetricName(r"timing[a-z_]*/.*", "seconds", "verl"),
    MetricName(r"(?:perf|system|global_seqlen)/.*", "load", "verl, MLflow"),
    MetricName(r"(?:train|eval)/frac_reward_zero_std", "frac_reward_zero_std", "TRL"),
    MetricName(r"(?:train|eval)/rewards?(?:/mean)?", "reward_mean", "TRL"),
    MetricName(r"(?:train|eval)/completions?/mean_length", "completion_length_mean", "TRL"),
)

ROWS: Final = tuple((re.compile(row.pattern), row.read_as) for row in NAMES)


def read_as(name: str) -> str:
    """The words of a figure's name, in small letters: those of its row, or its own."""
    small = name.lower()
    return next((words for pattern, words in ROWS if pattern.fullmatch(small)), small)


Unit = Literal["step", "minute"]

BARS: Final = "▁▂▃▄▅▆▇█"

FIRST: Final = ("reward", "score", "accuracy", "entropy", "length", "loss", "grad")
"""Words in the names of figures, in the order in which they are shown."""

TOTAL: Final = "total_steps"
"""What the OpenAI-compatible API sends among the figures of each step, and is none."""

ASIDE: Final = ("frac", "min", "max", "std")
"""Words in the names of figures that say less than a mean, and come after."""

SPLITS: Final = (
    *("validation_", "valid_", "val_", "eval_", "training_", "train_"),
    *("validation/", "valid/", "val/", "eval/", "training/", "train/"),
    *("val-score/", "val-core/", "val-aux/"),
)
"""How names begin that say their split; without it, both splits of a figure have one name."""

LARGEST: Final = 1e100
"""No figure is larger; what is would overflow a mean, and not-a-number is not smaller either."""


@dataclass(frozen=True, slots=True)
class Series:
    """One figure over a job.

    Args:
        name: of the figure, as its source calls it.
        split: "training", "validation" or "grader".
        unit: what the positions count: steps, or minutes since the job was made.
        points: (position, value) in order.
    """

    name: str
    split: str
    unit: Unit
    points: tuple[tuple[float, float], ...]

    @property
    def title(self) -> str:
        """The name, and whose it is where that is not the training and the name does not say it."""
        says = self.split == "training" or self.name.lower().startswith(SPLITS)
        return self.name if says else f"{self.split} {self.name}"

    @property
    def values(self) -> list[float]:
        """The values alone."""
        return [value for _, value in self.points]


def series(points: Iterable[MetricPoint]) -> list[Series]:
    """The series of a service's figures, what says most first.

    A figure that comes twice for one step is the later one: a service that repeats a step after an
    interruption writes it again.
    """
    found: dict[tuple[str, str], dict[float, float]] = defaultdict(dict)
    for point in points:
        if abs(point.value) <= LARGEST and point.name != TOTAL:
            found[point.split, point.name][point.step] = point.value
    made = [
        Series(name, split, "step", tuple(sorted(course.items())))
        for (split, name), course in found.items()
    ]
    return sorted(made, key=_rank)


def _rank(each: Series) -> tuple[bool, int, bool, str]:
    name = read_as(each.name)
    aside = any(word in name for word in ASIDE)
    place = next((at for at, word in enumerate(FIRST) if word in name), len(FIRST))
    return aside, place, each.split != "training", each.name.lower()


def sparkline(values: Sequence[float], width: int = 40) -> str:
    """Bars between the smallest and the largest value; of many values each bar is a mean.

    Args:
        values: finite.
        width: bars at most.
    """
    count = min(width, len(values))
    means = [
        mean(some)
        for at in range(count)
        if (some := values[at * len(values) // count : (at + 1) * len(values) // count])
    ]
    if not means:
        return ""
    low, high = min(means), max(means)
    steps = (high - low) or 1.0
    return "".join(BARS[round((mean - low) / steps * (len(BARS) - 1))] for mean in means)


def overview(found: Sequence[Series], title: str) -> Sheet:
    """A row for each series: where it began, where it is, its least and its most."""
    return Sheet(
        title,
        ("figure", "points", "first", "last", "least", "most", "course"),
        [
            (
                each.title,
                f"{len(each.points):,}",
                number(each.values[0]),
                number(each.values[-1]),
                number(min(each.values)),
                number(max(each.values)),
                sparkline(each.values),
            )
            for each in found
            if each.points
        ],
        words=("course",),
        spare=("points", "first", "least", "most"),
    )


def by_position(found: Sequence[Series], title: str, last: int | None = None) -> Sheet:
    """A row for each step or minute, a column for each series.

    Args:
        found: of one unit.
        title: of the table.
        last: rows at most, the newest; None for all.
    """
    places = sorted({place for each in found for place, _ in each.points})
    lookup = [dict(each.points) for each in found]
    shown = places if last is None else places[-last:]
    left_out = len(shown) < len(places)
    note = (
        f"the newest {len(shown):,} of {len(places):,}; --csv FILE writes all" if left_out else ""
    )
    return Sheet(
        title,
        (found[0].unit if found else "step", *(each.title for each in found)),
        [(f"{place:g}", *(number(values.get(place)) for values in lookup)) for place in shown],
        note=note,
        spare=[each.title for each in reversed(found[1:])],
    )


def reads(each: Series, *words: str) -> bool:
    """Whether all these words are in what the name of a figure is read as."""
    return all(word in read_as(each.name) for word in words)


def number(value: float | None) -> str:
    """Four significant digits; "-" for none."""
    return "-" if value is None else f"{value:.4g}"


def as_csv(found: Sequence[Series]) -> str:
    """A line for each point: unit, position, split, name, value."""
    written = StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(("unit", "position", "split", "name", "value"))
    writer.writerows(_lines(found))
    return written.getvalue()


def _lines(found: Sequence[Series]) -> Iterator[tuple[str, float, str, str, float]]:
    for each in found:
        # A spreadsheet would compute a name that begins as a formula does.
        name = f"'{each.name}" if each.name[:1] in "=+-@\t" else each.name
        yield from ((each.unit, place, each.split, name, value) for place, value in each.points)


class Meaning(NamedTuple):
    """The meaning of a figure.

    Args:
        words: all of which are in what its name is read as.
        means: a sentence, and which way is good.
    """

    words: tuple[str, ...]
    means: str


MEANINGS: Final = (
    Meaning(("frac_reward_zero_std",), "Groups in which all answers earn the same teach nothing."),
    Meaning(("groups_zero_std",), "Groups in which all answers earn the same teach nothing."),
    Meaning(("reward", "std"), "How far rewards lie apart: at 0 no answer is better than another."),
    Meaning(("frac_reward_min",), "The share of answers at the minimum: it should fall."),
    Meaning(("frac_reward_zero",), "The share of answers that earn nothing: it should fall."),
    Meaning(("reward", "min"), "The lowest reward of a step: it says little by itself."),
    Meaning(("reward", "max"), "The highest reward of a step: below the maximum nobody succeeds."),
    Meaning(("reward",), "The mean reward of answers: it should rise, then level off."),
    Meaning(("solved",), "The share of prompts with a right answer: it should rise."),
    Meaning(
        ("entropy",), "How undecided the policy is: it may fall slowly; near 0 it explores no more."
    ),
    Meaning(("length",), "How long answers are: growth without more reward is padding."),
    Meaning(("cut_off",), "The share of answers cut off at the limit: it should stay near 0."),
    Meaning(("grad",), "How large updates are: a spike is a step that moves the policy far."),
    Meaning(("kl",), "How far the policy is from its base: a leap is a warning."),
    Meaning(("loss",), "The loss of an update: its level says little, a leap is a warning."),
    Meaning(("unscored",), "Answers that the grader could not score: it should stay at 0."),
    Meaning(("bad_references",), "Rows whose reference cannot be read: it should stay at 0."),
    Meaning(("samples",), "Completions that the grader scored in a minute."),
    Meaning(("batches",), "Invocations of the grader in a minute."),
    Meaning(("milliseconds",), "How long the grader takes for a batch."),
    Meaning(("rollouts",), "Rollouts up to this step."),
    Meaning(("tokens",), "Tokens of a step: they grow with the answers."),
)
"""The first row that fits a name says what its figure means; a name may have no row."""

State = Literal["seen", "not seen", "too few points", "not measured"]

FEWEST: Final = 6
"""Points of a course in which a third says something."""

PLATEAU: Final = 0.15
"""A mean reward that stays below it (AWS's guide to open-weight reinforcement fine-tuning)."""

COLLAPSED: Final = 0.2
"""Of the entropy at the beginning."""

LONGER: Final = 1.5
"""Times the length at the beginning."""

MOST: Final = 0.9
"""Of the groups; `frac_reward_zero_std` is TRL's name of the share."""

SPIKE: Final = 10.0
"""Times the median of the gradient's norm."""

FALLEN: Final = 0.05
"""Of the reward on the validation file, on its scale, from its best."""

WIDER: Final = 1.5
"""Times the standard deviation at the beginning."""

UNSCORED: Final = 0.01
"""Of the samples."""


@dataclass(frozen=True, slots=True)
class Sign:
    """Something that the figures of a job can show.

    Args:
        name: of the sign.
        needs: words, all of which are in what the name of a figure is read as.
        split: whose figure it is.
        shows: whether a course shows it.
        meaning: what it means.
        remedy: what to do.
        fewest: points in which it can be seen.
        nothing_learned: whether a job that shows it has taught the policy nothing.
        kind: its place among the findings of a page.
    """

    name: str
    needs: tuple[str, ...]
    split: str
    shows: Callable[[Sequence[float]], bool]
    meaning: str
    remedy: str
    fewest: int = FEWEST
    nothing_learned: bool = False
    kind: Kind = "reasons"


def _first(values: Sequence[float]) -> float:
    third = values[: len(values) // 3]
    return mean(third)


def _last(values: Sequence[float]) -> float:
    third = values[-(len(values) // 3) :]
    return mean(third)


def ends_of(values: Sequence[float]) -> tuple[float, float]:
    """Where a course begins and ends: the means of its thirds, of few points the points."""
    if len(values) < FEWEST:
        return values[0], values[-1]
    return _first(values), _last(values)


OTHER_FORM: Final = (
    "likely the answers stand in another form than the reward reads: `reward job baseline` lists "
    "why they earn it, with an answer for each reason"
)

SIGNS: Final = (
    Sign(
        "every response earned the minimum",
        ("frac_reward_min",),
        "grader",
        lambda values: min(values) == 1.0,
        "no response earned anything: nothing was learned",
        OTHER_FORM,
        fewest=1,
        nothing_learned=True,
        kind="failed",
    ),
    Sign(
        "every group earned the same",
        ("frac_reward_zero_std",),
        "training",
        lambda values: min(values) == 1.0,
        "all responses of a group earned one reward, at every step: nothing was learned",
        OTHER_FORM,
        fewest=1,
        nothing_learned=True,
        kind="failed",
    ),
    Sign(
        "the reward stays low",
        ("reward", "mean"),
        "training",
        lambda values: _last(values) < PLATEAU and _last(values) - _first(values) < PLATEAU / 3,
        f"below {PLATEAU} and hardly rising: most groups earn nothing, and teach nothing",
        "measure the base model (`reward job baseline`); teach the format first (SFT)",
    ),
    Sign(
        "the reward falls",
        ("reward", "mean"),
        "training",
        lambda values: _last(values) < _first(values) - FALLEN,
        "the policy gets worse by its own reward",
        "lower the learning rate",
    ),
    Sign(
        "groups without advantage",
        ("frac_reward_zero_std",),
        "training",
        lambda values: _last(values) > MOST,
        "nearly every group earns one reward for all its responses, and teaches nothing",
        "stop here if the reward is good; otherwise use harder or easier prompts",
    ),
    Sign(
        "no standard deviation",
        ("reward_std",),
        "grader",
        lambda values: max(values[-(len(values) // 3) :]) == 0.0,
        "the grader gives every response the same reward",
        "look at its answers (`reward audit NAME@STAGE`), and at the base model's",
    ),
    Sign(
        "the rewards spread",
        ("reward_std",),
        "grader",
        lambda values: _last(values) > WIDER * _first(values) > 0.0,
        "rewards get more unlike, where a policy that learns gets steadier",
        "lower the learning rate; look for responses that exploit the reward",
    ),
    Sign(
        "the entropy collapses",
        ("entropy",),
        "training",
        lambda values: _last(values) < COLLAPSED * _first(values),
        "the policy always says the same: it explores no more, well or badly",
        "stop here if the reward is good; otherwise lower the learning rate or the epochs",
    ),
    Sign(
        "responses grow",
        ("length",),
        "training",
        lambda values: _last(values) > LONGER * _first(values) > 0.0,
        "longer reasoning, or padding that the reward pays for; long ones are cut off",
        "read some; compare with the reward; raise inferenceMaxTokens where they are cut",
        kind="truncation",
    ),
    Sign(
        "the gradient spikes",
        ("grad_norm",),
        "training",
        lambda values: max(values) > SPIKE * median(values) > 0.0,
        "single steps move the policy far",
        "lower the learning rate, or raise the batch",
    ),
    Sign(
        "the validation falls",
        ("reward",),
        "validation",
        lambda values: values[-1] < max(values) - FALLEN,
        "the policy learns the training prompts, or exploits them",
        "fewer epochs, more prompts; a checkpoint from before, where the service has any",
    ),
    Sign(
        "samples without a score",
        ("unscored_share",),
        "grader",
        lambda values: max(values) > UNSCORED,
        "the grader failed on them, and imputed their reward: it is noise",
        "see why: `reward job diagnose`",
        kind="unscored",
    ),
)


@dataclass(frozen=True, slots=True)
class Seen:
    """A sign, and whether a job shows it."""

    sign: Sign
    state: State
    figure: str


def signs(found: Sequence[Series]) -> list[Seen]:
    """Every sign, those that are seen first."""
    order = get_args(State)
    return sorted((_seen(sign, found) for sign in SIGNS), key=lambda each: order.index(each.state))


def _seen(sign: Sign, found: Sequence[Series]) -> Seen:
    fits = [
        each
        for each in found
        if each.points and each.split == sign.split and reads(each, *sign.needs)
    ]
    for each in fits:
        if len(each.points) >= sign.fewest:
            return Seen(sign, "seen" if sign.shows(each.values) else "not seen", each.title)
    return Seen(sign, "too few points", fits[0].title) if fits else Seen(sign, "not measured", "")


MAX_CHARTS: Final = 24

MAX_CONSTANT: Final = 40
"""Figures that never changed, by name."""

UNSCALED: Final = ("std", "frac")
"""Words in names of figures of rewards that are on no reward scale."""

NOISE: Final = 1e-9
"""Changes below it, of the value or of 1, are rounding: an advantage's mean of 3e-18 is 0."""

SERIES: Final = {"training": "a", "validation": "b", "grader": "c"}
"""The kit's series by split."""

UNITS: Final = {"step": "step", "minute": "minutes since the job was made"}

NO_COURSE: Final = "No figure has two points yet: there is no course to draw."


def svg(found: Sequence[Series], title: str, scale: Scale = UNIT_SCALE) -> str:
    """A picture that stands by itself; of more than `MAX_CHARTS` figures the first.

    Args:
        found: the figures; those of one point are left out.
        title: above it.
        scale: of the rewards.
    """
    shown = charts(found, scale)
    return side_by_side(title, shown, title=title if shown else f"{title}: {NO_COURSE}").picture()


def charts(found: Sequence[Series], scale: Scale = UNIT_SCALE) -> list[Chart]:
    """A chart of each figure that has a course and changes, rewards first; at most `MAX_CHARTS`."""
    shown = sorted(
        (each for each in _panels(found) if not each.constant), key=lambda each: not each.reward
    )
    rewards = [value for each in shown if each.reward for value in each.values]
    ends = min(rewards, default=0.0), max(rewards, default=0.0)
    shared = min(scale.minimum, ends[0]), max(scale.maximum, ends[1])
    return [_drawn(each, shared if each.reward else ()) for each in shown[:MAX_CHARTS]]


def constant(found: Sequence[Series]) -> str:
    """The figures that never changed, in one sentence; "" for none."""
    names = [f"{each.title} {number(each.values[-1])}" for each in _panels(found) if each.constant]
    more = ", …" if len(names) > MAX_CONSTANT else ""
    return f"Constant: {', '.join(names[:MAX_CONSTANT])}{more}." if names else ""


@dataclass(frozen=True, slots=True)
class _Panel:
    """Courses over one pair of axes."""

    courses: tuple[Series, ...]

    @property
    def title(self) -> str:
        """The first one's name; the legend has the splits of several."""
        first = self.courses[0]
        return first.title if len(self.courses) == 1 else _figure(first)

    @property
    def values(self) -> list[float]:
        return [value for each in self.courses for value in each.values]

    @property
    def constant(self) -> bool:
        low, high = min(self.values), max(self.values)
        return high - low <= NOISE * max(1.0, abs(low), abs(high))

    @property
    def reward(self) -> bool:
        """Whether its values are on the scale of the rewards."""
        name = read_as(self.courses[0].name)
        return "reward" in name and not any(word in name for word in UNSCALED)


def _panels(found: Sequence[Series]) -> list[_Panel]:
    """The figures that have a course, in their order."""
    grouped: dict[tuple[str, str], list[Series]] = {}
    for each in found:
        if each.points:
            grouped.setdefault((each.unit, _figure(each)), []).append(each)
    return [
        _Panel(tuple(some))
        for some in grouped.values()
        if any(len(each.points) > 1 for each in some)
    ]


def _figure(each: Series) -> str:
    """The name without its split."""
    name = each.name.lower()
    begun = next((split for split in SPLITS if name.startswith(split)), "")
    return name.removeprefix(begun)


def _drawn(panel: _Panel, includes: Sequence[float]) -> Chart:
    unit = panel.courses[0].unit
    return lines(
        f"{panel.title} by {unit}",
        [Course(each.split, each.points, SERIES[each.split]) for each in panel.courses],
        x=UNITS[unit],
        y=panel.title,
        includes=includes,
    ).captioned(_meaning(panel))


def _meaning(panel: _Panel) -> str:
    """From where to where a figure went, and what that means."""
    went = [(each.split, *map(number, ends_of(each.values))) for each in panel.courses]
    several = len(went) > 1
    parts = [f"{split if several else ''} from {first} to {last}" for split, first, last in went]
    name = read_as(panel.courses[0].name)
    means = next((row.means for row in MEANINGS if all(word in name for word in row.words)), "")
    return f"{', '.join(parts).strip().capitalize()}. {means}".rstrip()
