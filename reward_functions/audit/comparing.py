"""Two rewards on the same responses: what would change if the second took the first one's place.

    rollouts ──each by A and by B, whole prompts at once──→ figures, and the rows that flip

| figure | what it is |
| --- | --- |
| `unscored.a`, `mean.a`, `passed.a`, and of `b` | of each; a mean in the units of its own scale |
| `unscored` | rows that either cannot score |
| `both`, `lost`, `gained`, `neither` | rows that pass under both, A alone, B alone, neither |
| `p`, `p.mid` | McNemar's exact test; of several responses a prompt the sign-flip test |
| `diff` | B less A, as a share of the scale |
| `order` | tau-b of A and B among the responses to a prompt |
| `signflips` | samples whose advantage changes its sign: training would turn round |
| `taught.gained`, `taught.lost` | samples that have an advantage under B alone, under A alone |
| `dead.a`, `dead`, `dead.both` | prompts whose rewards are all equal under A alone, B alone, both |
| `fp.a`, `fn.a`, `fp.b`, `fn.b`, `flips.right` | against labels, with those flips that they back |
| `seconds.a.p50`, …, `calls.a`, `calls.b` | of scoring, a sample; of what is asked elsewhere |

Scores are compared as shares of each one's own scale. A row that either cannot score is in none of
the figures that hold both, and in no mean of its prompt: an advantage is over the same responses.
Each prompt counts once; its responses are scored together, as a trainer scores them. A target that
asks elsewhere is sent batches, and each sample counts with the mean time of its batch.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.audit.gates import expressions, gate_decisions
from reward_functions.audit.groups import (
    ALONE,
    NO_ROWS,
    NO_SCORE,
    ROUNDING,
    Earned,
    alike,
    among,
    figure_of,
    finding_of,
    in_units,
    kept,
    label_measures,
    prompts_of,
    tau_figure,
    unscored_rate,
)
from reward_functions.audit.results import Comparison, Figure, Finding
from reward_functions.audit.targets import audit_target
from reward_functions.core.means import LARGEST_SUMMED, mean
from reward_functions.core.spec import UNIT_SCALE
from reward_functions.core.types import Sample
from reward_functions.data.rows.reading import AS_FOUND
from reward_functions.data.sources import checksum
from reward_functions.reports.measured import Measured
from reward_functions.reports.score_report.labels import labels_of
from reward_functions.reports.statistics import (
    PAIR,
    mcnemar,
    mean_rate,
    quantile,
    rate,
    sign_flip,
    tau_b,
)
from reward_functions.scoring.rows import read_samples

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reward_functions.audit.results import SeenRow
    from reward_functions.audit.target import AuditTarget
    from reward_functions.core.types import Unscored
    from reward_functions.data.rows.shapes import RowOptions
    from reward_functions.reports.score_report.labels import Labels
    from reward_functions.reports.statistics import Rate

BATCH: Final = 64
"""Rows that a target which asks elsewhere is sent at once, and a prompt more at most."""

SINGLE: Final = 1e-6
"""Of the scale: a score that was recorded in single precision is the same score."""

RECORDED: Final = ("aggregate_reward_score", "reward", "score")
"""Fields in which files keep a score, after the name of the reward itself."""

NOT_BOTH: Final = "no row has a score of both"


class Side(NamedTuple):
    """The results of one of the two rewards.

    Attributes:
        letter: "A" or "B".
        target: what scored.
        earned: what it gave.
        seconds: that each sample took.
        calls: of a model or a function elsewhere.
    """

    letter: str
    target: AuditTarget
    earned: Earned
    seconds: Sequence[float]
    calls: int

    def named(self) -> dict[str, str]:
        """Its identity, by key."""
        keys = ("kind", "name", "version", "digest", "convention", "described")
        return {key: getattr(self.target, key) for key in keys}


class Rollouts(NamedTuple):
    """The responses that both score.

    Attributes:
        samples: the rows; one that is not valid is an `Unscored`.
        places: where each stands.
    """

    samples: Sequence[Sample | Unscored]
    places: Sequence[str]


def compare(
    a: object,
    b: object,
    rollouts: str | Path | Sequence[Sample | Unscored],
    *,
    label: str | None = None,
    pass_at: float = 0.5,
    fail_on: Sequence[str] = (),
    rows: RowOptions = AS_FOUND,
    allow_undecided: bool = False,
    progress: Callable[[int], object] = lambda _: None,
) -> Comparison:
    """Score the same responses by two rewards, and say how they differ.

    Args:
        a: the reward of today: a target, or what `audit_target` takes.
        b: the one that may take its place.
        rollouts: a file of responses in any known shape, or samples.
        label: the field that says whether a response is right.
        pass_at: the share of each scale above which a response passes.
        fail_on: gates, such as "lost>0.02".
        rows: how the file's rows are read.
        allow_undecided: whether an undecided gate lets it pass.
        progress: called with how many rows were scored, for each of the two.

    Raises:
        ConfigurationError: a target, a label or a gate cannot be used.
        BadInput: the file cannot be read as rows of responses.
        OSError: it cannot be read at all.
    """
    began = perf_counter()
    read, wanted = _read(rollouts, rows), expressions(fail_on, ())
    with ExitStack() as opened:
        one, other = (_opened(each, opened) for each in (a, b))
        # Before anything is scored, which may cost.
        labels = labels_of(read.samples, label, one.scale or UNIT_SCALE) if label else None
        first, second = (
            _scored(letter, each, read, pass_at, progress)
            for letter, each in (("A", one), ("B", other))
        )
    pair = PairedRewards(first.earned, second.earned)
    figures, findings = _compared(pair, read)
    for measures in _against(pair, read, labels) if labels else ():
        figures += measures[0]
        findings += measures[1]
    figures += _cost(first, second)
    recorded = _recorded(first, read, label)
    measured = sum(map(len, pair.groups))
    return Comparison(
        target=first.named(),
        other=second.named(),
        data={**_file(rollouts), "rows": len(read.samples), "prompts": len(first.earned.groups)},
        figures=figures,
        findings=[*recorded, *findings],
        gates=gate_decisions(wanted, figures),
        measured=Measured("rows", measured, len(read.samples) - measured),
        seconds=perf_counter() - began,
        calls=first.calls + second.calls,
        notes=[*(each.title for each in recorded), *_widened(first), *_widened(second)],
        allow_undecided=allow_undecided,
    )


def _read(rollouts: str | Path | Sequence[Sample | Unscored], options: RowOptions) -> Rollouts:
    if isinstance(rollouts, str | Path):
        return Rollouts(*read_samples(str(rollouts), options))
    return Rollouts(rollouts, [f"row {number}" for number in range(1, len(rollouts) + 1)])


def _file(rollouts: object) -> dict[str, str | int | None]:
    """Its name and its checksum; a pipe has no checksum, and samples have neither."""
    path = Path(rollouts) if isinstance(rollouts, str | Path) else None
    digest = checksum(path) if path is not None and path.is_file() else ""
    return {"file": "" if path is None else str(path), "sha256": digest}


def _opened(asked: Any, stack: ExitStack) -> AuditTarget:
    """A target, which is closed where it was opened."""
    if hasattr(asked, "score") and hasattr(asked, "close"):
        given: AuditTarget = asked
        return given
    target = audit_target(asked)
    stack.callback(target.close)
    return target


def _scored(
    letter: str,
    target: AuditTarget,
    read: Rollouts,
    pass_at: float,
    progress: Callable[[int], object],
) -> Side:
    """Have one of the two score the rows."""
    before, seconds = target.calls, list[float]()
    results: list[Any] = list(read.samples)  # what is not a valid sample is its own result
    for batch in _batches(target, read):
        began = perf_counter()
        samples = [each for at in batch if isinstance(each := read.samples[at], Sample)]
        found = target.score(samples, group=True)
        seconds += [(perf_counter() - began) / len(batch)] * len(batch)
        for at, result in zip(batch, found, strict=True):
            results[at] = result
        progress(len(batch))
    earned = Earned.of(read.samples, results, target.scale, pass_at)
    return Side(letter, target, earned, seconds, target.calls - before)


def _batches(target: AuditTarget, read: Rollouts) -> Iterator[list[int]]:
    """The valid rows, whole prompts at once."""
    here = target.kind in ("reward", "composite") and not target.judges
    most = 1 if here else BATCH
    batch: list[int] = []
    for group in prompts_of(read.samples):
        batch += [at for at in group if isinstance(read.samples[at], Sample)]
        if len(batch) >= most:
            yield batch
            batch = []
    if batch:
        yield batch


def _widened(side: Side) -> list[str]:
    """What is to be known of a scale that was not declared, or not kept to."""
    declared, used = side.target.scale, side.earned.scale
    range_ = f"{used.minimum:g} to {used.maximum:g}"
    if declared is None:
        return [f"{side.letter} declares no scale: its scores are read on {range_}"]
    if declared != used:
        return [f"{side.letter} leaves its scale: its scores are read on {range_}"]
    return []


def _recorded(side: Side, read: Rollouts, label: str | None) -> list[Finding]:
    """Whether the scores that the file holds are others than those of A now."""
    for name in (side.target.name, *RECORDED):
        held = {} if name == label else dict(_numbers(side, read, name))
        if held:
            break
    else:
        return []
    low, high = side.earned.scale
    width = high / 2 - low / 2
    apart = {at: abs((held[at] / 2 - low / 2) / width - side.earned.shares[at]) for at in held}
    others = {at for at in held if apart[at] > SINGLE}
    found = finding_of(
        "RECORDED",
        f"A is not what scored this file ({len(others):,} of {len(held):,} rows)",
        kept(side.earned.groups, held.__contains__),
        others.__contains__,
        why="",
        worst=apart.__getitem__,
        seen=lambda at: side.earned.seen(at, read.places[at], held[at]),
    )
    return [found] if others else []


def _numbers(side: Side, read: Rollouts, name: str) -> Iterator[tuple[int, float]]:
    """What the scored rows hold in a field, where it is a number."""
    for at, sample in enumerate(read.samples):
        found = sample.metadata.get(name) if isinstance(sample, Sample) else None
        if isinstance(found, bool) or not isinstance(found, int | float):
            continue
        if abs(found) < LARGEST_SUMMED and side.earned.scored(at):
            yield at, float(found)


class PairedRewards:
    """Both rewards, on the rows that both score.

    Args:
        a: what the first gave.
        b: what the second gave.

    Attributes:
        groups: the rows that both score, of each prompt that has one.
    """

    def __init__(self, a: Earned, b: Earned) -> None:
        self.a = a
        self.b = b
        self.groups = kept(a.groups, self.scored)

    @property
    def several(self) -> bool:
        """Whether two responses to one prompt have both scores."""
        return max(map(len, self.groups), default=0) >= PAIR

    def scored(self, at: int) -> bool:
        """Whether a row has both scores."""
        return self.a.scored(at) and self.b.scored(at)

    def rate(self, has: Callable[[int], float]) -> Rate | None:
        """How many rows have something, by prompt."""
        return rate(among(self.groups, has))

    def lost(self, at: int) -> bool:
        """Whether a row passes under A alone."""
        return self.a.passes(at) and not self.b.passes(at)

    def gained(self, at: int) -> bool:
        """Whether a row passes under B alone."""
        return self.b.passes(at) and not self.a.passes(at)

    def apart(self, at: int) -> float:
        """How far the two are from each other on a row."""
        return abs(self.b.shares[at] - self.a.shares[at])

    def seen(self, at: int, place: str) -> SeenRow:
        """A row with both scores: B's as its own, A's in the reason."""
        was, now = self.a.seen(at, place), self.b.seen(at, place)
        words = (f"{each.score:g}{each.reason and f', {each.reason}'}" for each in (was, now))
        return now._replace(reason="A: {}; B: {}".format(*words), before=was.score)


def _compared(pair: PairedRewards, read: Rollouts) -> tuple[list[Figure], list[Finding]]:
    """All that needs no label."""
    tests, tested = _test(pair)
    flips = [
        finding_of(
            name,
            title,
            pair.groups,
            has,
            why=NOT_BOTH,
            worst=pair.apart,
            seen=lambda at: pair.seen(at, read.places[at]),
        )
        for name, title, has in (
            ("FLIP-LOST", "pass under A, and not under B", pair.lost),
            ("FLIP-GAINED", "pass under B, and not under A", pair.gained),
        )
    ]
    figures = [*_of_each("a", pair.a), *_of_each("b", pair.b), *_flips(pair), *tests]
    return [*figures, *_training(pair)], [*flips, tested]


def _of_each(ending: str, earned: Earned) -> list[Figure]:
    """What one of them gave, whatever the other did."""
    scored = kept(earned.groups, earned.scored)
    mean_share = rate(among(scored, earned.shares.__getitem__))
    return [
        figure_of(f"unscored.{ending}", unscored_rate(earned.groups, earned.scored), NO_ROWS),
        figure_of(f"mean.{ending}", in_units(mean_share, earned.scale), NO_SCORE, "score"),
        figure_of(f"passed.{ending}", rate(among(scored, earned.passes)), NO_SCORE),
    ]


def _flips(pair: PairedRewards) -> list[Figure]:
    """What passes under which, and the difference."""
    means = [
        mean([pair.b.shares[at] for at in group]) - mean([pair.a.shares[at] for at in group])
        for group in pair.groups
    ]
    found = {
        "both": pair.rate(lambda at: pair.a.passes(at) and pair.b.passes(at)),
        "lost": pair.rate(pair.lost),
        "gained": pair.rate(pair.gained),
        "neither": pair.rate(lambda at: not (pair.a.passes(at) or pair.b.passes(at))),
        "diff": mean_rate([0.0 if abs(each) <= ROUNDING else each for each in means], -1.0, 1.0),
    }
    return [
        figure_of("unscored", unscored_rate(pair.a.groups, pair.scored), NO_ROWS),
        *(figure_of(name, each, NOT_BOTH) for name, each in found.items()),
    ]


def _test(pair: PairedRewards) -> tuple[list[Figure], Finding]:
    """Whether as many passes were gained as lost."""
    nets = [sum(map(pair.gained, each)) - sum(map(pair.lost, each)) for each in pair.groups]
    p: float | None = None
    middle: float | None = None
    title, why = "paired test", NOT_BOTH
    if pair.several:
        p, drawn = sign_flip(nets)
        title = f"sign-flip test by prompt, {f'{drawn:,} draws' if drawn else 'exact'}"
        why = "the sign-flip test has no mid-p"
    elif nets:
        test = mcnemar(nets.count(1), nets.count(-1))
        p, middle, title = test.p_value, test.mid_p, f"McNemar's test, {test.test}"
        why = "so many prompts differ that the test is McNemar's chi-square"
    differ = sum(map(bool, nets))
    figures = [
        Figure("p", p, n=len(nets), unit="p", why=why if p is None else ""),
        Figure("p.mid", middle, n=len(nets), unit="p", why=why if middle is None else ""),
    ]
    if p is None:
        return figures, Finding("TEST", title, "untested", why)
    words = f"{differ:,} of {len(nets):,} prompts differ: p = {p:.3g}"
    return figures, Finding("TEST", title, "note", words, count=differ, n=len(nets))


def _signs(shares: Sequence[float]) -> list[int]:
    """Of each advantage: above the mean of the prompt, below it, or 0 but for a rounding."""
    middle = mean(shares)
    return [(each - middle > ROUNDING) - (each - middle < -ROUNDING) for each in shares]


def _training(pair: PairedRewards) -> list[Figure]:
    """What training would be taught otherwise."""
    shares = [
        ([pair.a.shares[at] for at in group], [pair.b.shares[at] for at in group])
        for group in pair.groups
        if len(group) >= PAIR
    ]
    taus = [tau for one, other in shares if (tau := tau_b(one, other)) is not None]
    signs = [list(zip(_signs(one), _signs(other), strict=True)) for one, other in shares]
    dead = [(alike(one), alike(other)) for one, other in shares]
    found = {
        "signflips": [[one * other < 0 for one, other in each] for each in signs],
        "taught.gained": [[one == 0 != other for one, other in each] for each in signs],
        "taught.lost": [[one != 0 == other for one, other in each] for each in signs],
        "dead.a": [[one and not other] for one, other in dead],
        "dead": [[other and not one] for one, other in dead],
        "dead.both": [[one and other] for one, other in dead],
    }
    order = tau_figure("order", taus, len(pair.groups), "the rewards of both")
    return [order, *(figure_of(name, rate(each), ALONE) for name, each in found.items())]


def _against(
    pair: PairedRewards, read: Rollouts, labels: Labels
) -> Iterator[tuple[list[Figure], list[Finding]]]:
    """Both against labels, and whether these back the flips."""
    for letter, earned in (("A", pair.a), ("B", pair.b)):
        yield label_measures(earned, read.places, labels, letter)
    flips = kept(
        pair.groups,
        lambda at: labels.values[at] is not None and (pair.lost(at) or pair.gained(at)),
    )
    right = rate(among(flips, lambda at: pair.gained(at) is labels.values[at]))
    yield [figure_of("flips.right", right, "no row that flips has a label")], []


def _cost(*sides: Side) -> list[Figure]:
    """What scoring took, of each."""
    figures = []
    for side in sides:
        ending, taken = side.letter.lower(), side.seconds
        for name, share in (("p50", 0.5), ("p95", 0.95)):
            value, why = (quantile(taken, share), "") if taken else (None, NO_ROWS)
            place = f"seconds.{ending}.{name}"
            figures.append(Figure(place, value, n=len(taken), unit="seconds", why=why))
        figures.append(Figure(f"calls.{ending}", float(side.calls), n=len(taken), unit="count"))
    return figures
