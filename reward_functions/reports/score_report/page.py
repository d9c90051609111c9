"""The page about a scored file: how the rewards are, why, and which rows are worth a look.

It begins with its worst finding: labels that say otherwise, rows without a score, reasons at the
minimum, truncation. A bar leads to its rows, and the responses to one prompt stand side by side.

    from reward_functions.reports.score_report.page import score_page
    score_page(get("gsm8k"), samples, score_batch(get("gsm8k"), samples)).html()

Figures are exact, lists are cut, and the page says where: it takes less than three megabytes for
any rows. A judge's addresses and keys are left out: a page is passed on.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.spec import spec_of
from reward_functions.judge_runtime.panel import BatchJudge
from reward_functions.judge_runtime.usage import price_of
from reward_functions.reports.pages.page import Concern, Page, Part, Section, Warned, one_line
from reward_functions.reports.score_report import bar_rows, figures, tables
from reward_functions.reports.score_report.bar_rows import RowTables, in_turn, side_by_side
from reward_functions.reports.score_report.cases import RULES, Cases, surprises
from reward_functions.reports.score_report.criteria import criteria
from reward_functions.reports.score_report.figures import Batch
from reward_functions.reports.score_report.labels import confusion
from reward_functions.reports.score_report.reasons import errors, tallied, truncated

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from reward_functions.core.spec import RewardFunction, RewardSpec
    from reward_functions.core.types import RewardResult, Sample, Unscored
    from reward_functions.reports.pages.page import Case
    from reward_functions.reports.score_report.labels import Confusion, Labels
    from reward_functions.reports.score_report.reasons import ReasonFigures


@dataclass(frozen=True, slots=True)
class CalledReward:
    """A reward as it was called.

    Args:
        spec: its declaration.
        given: the parameters that were set.
        judge: the judge of the batch, where one was asked.
    """

    spec: RewardSpec
    given: Mapping[str, Any]
    judge: BatchJudge | None = None

    @classmethod
    def of(cls, reward: RewardFunction) -> CalledReward:
        """The reward itself, seen through `functools.partial` and a batch's judge.

        Raises:
            ConfigurationError: it has no declaration.
        """
        spec = spec_of(reward)
        if spec is None:
            raise ConfigurationError(
                "a combination has no name and no scale: declare it with @reward_function"
            )
        judge = reward if isinstance(reward, BatchJudge) else None
        called: Any = judge.panel[0] if judge else reward
        given: dict[str, Any] = {}
        while isinstance(called, partial):
            given = {**called.keywords, **given}
            called = called.func
        return cls(spec, {name: given[name] for name in given if name in spec.parameters}, judge)

    @property
    def parameters(self) -> dict[str, Any]:
        """Every parameter, defaults included."""
        defaults = {
            name: each.default for name, each in self.spec.parameters.items() if each.has_default
        }
        return {**defaults, **self.given}

    def facts(self) -> Iterator[tuple[str, str]]:
        """Names and values for a page."""
        scale = self.spec.scale
        summary = self.spec.summary.replace("`", "")  # a fact has no code
        yield "reward", f"{self.spec.name}, version {self.spec.version}: {summary}"
        yield "scale", f"{scale.minimum:g} to {scale.maximum:g}"
        if self.spec.parameters:
            shown = [
                f"{name}={_shown(value)}" + ("" if name in self.given else " (default)")
                for name, value in self.parameters.items()
            ]
            yield "parameters", ", ".join(shown)
        if self.judge:
            yield from _judge_facts(self.judge)


def _judge_facts(judge: BatchJudge) -> Iterator[tuple[str, str]]:
    config, account = judge.config, judge.account
    models = ", ".join(f"{each.model} ({each.backend})" for each in config.models)
    several = f"; {config.aggregate} of {len(config.models)}" if len(config.models) > 1 else ""
    fallback = f"; fallback {config.fallback.model}" if config.fallback else ""
    yield "judge", f"{models}{several}{fallback}"
    calls = (
        f"{account['judge_calls']:,}, with {account['judge_answers']:,} valid verdicts; "
        f"{account['judge_cache_hits']:,} verdicts from the cache, "
        f"{account['judge_failures']:,} questions without a verdict"
    )
    yield "judge calls", calls
    usage = account.usage
    yield "judge tokens", f"{usage.total:,}: {usage.input:,} read, {usage.output:,} written"
    yield "judge cost", judge_cost(judge)


def judge_cost(judge: BatchJudge) -> str:
    """Dollars, and the models whose price is unknown: an unknown price is not nothing."""
    asked = [*judge.config.models, *([judge.config.fallback] if judge.config.fallback else [])]
    unknown = [each.model for each in asked if price_of(each, judge.config) is None]
    if not unknown:
        return f"{judge.account.usd:.4f} dollars"
    named = f"the price of {', '.join(unknown)} is unknown"
    if len(unknown) == len(asked):
        return f"unknown: {named}"
    return f"{judge.account.usd:.4f} dollars and more: {named}"


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


WORST: Final = 100
"""Rows of the list of the lowest rewards."""

SURPRISING: Final = 20
"""Rows of each rule of what is surprising."""

BROKEN: Final = 50
"""Rows of the list of unscored ones."""

FLAT: Final = 50
"""Groups of the list of those with zero advantage."""

NOTABLE: Final = 0.05
"""The share of rows cut off, or at the minimum, from which it is a finding."""

LABELS: Final = "Rewards against labels"
UNSCORED: Final = "Unscored rows"
REASONS: Final = "Reasons"
TRUNCATION: Final = "Length and truncation"
GROUPS: Final = "Groups"
"""Titles of sections that findings lead to."""


def score_page(
    reward: RewardFunction,
    samples: Sequence[Sample | Unscored],
    results: Sequence[RewardResult],
    *,
    labels: Labels | None = None,
    source: Sequence[tuple[str, str]] = (),
    made: str = "",
) -> Page:
    """The page about a batch that was scored.

    Args:
        reward: what scored it: a spec, one with parameters bound, or a batch's judge.
        samples: in order; a row that is not a valid sample as its `Unscored`.
        results: one for each.
        labels: of the rows, by `labels_of`, to hold the rewards against.
        source: further (name, value) facts, such as the file and its checksum.
        made: the date, as it is to be shown; "" for none.

    Raises:
        ConfigurationError: the reward has no declaration.
        ValueError: there is not one result for each sample.
    """
    subject = CalledReward.of(reward)
    batch = Batch.of(samples, results, subject.spec.scale)
    return _Report(subject, batch, labels).page([*source, *([("made", made)] if made else [])])


class _Report:
    """The figures that several sections of a page use."""

    def __init__(self, subject: CalledReward, batch: Batch, labels: Labels | None) -> None:
        self.subject, self.batch, self.labels = subject, batch, labels
        self.signals = truncated(batch)
        self.cut = frozenset(at for rows in self.signals.values() for at in rows)
        self.groups = figures.groups(batch)
        self.reasons = tallied(batch, subject.spec.name, self.cut)
        self.errors = errors(batch)
        self.confusion: Confusion | None = confusion(batch, labels) if labels else None
        disagreements = self.confusion.disagreements if self.confusion else ()
        self.surprises = surprises(batch, self.cut, disagreements)
        self.worst = worst(batch, self.reasons)
        self.broken = in_turn([each.rows for each in self.errors], BROKEN)
        shown = [*self.worst, *self.broken]
        shown += [at for rows in self.surprises.values() for at in self._varied(rows)]
        self.beside = bar_rows.groups_shown(batch, self.groups, disagreements)
        cards = sum(len(bar_rows.members(batch, place)) for place in self.beside)
        self.cases = Cases(
            batch,
            subject.spec.name,
            len(shown) + cards // 2,  # a card has the room of half a case
            labels.values if labels else None,
            frozenset(self.beside),
            frozenset(disagreements),
        )
        self.placed: set[int] = set()
        self.rows = RowTables(self.cases, self.reasons, frozenset(shown))
        self.by_reward = bar_rows.reward_bars(batch)
        self.by_reason = bar_rows.reason_bars(self.reasons, tables.BARS)
        self.by_label = bar_rows.label_bars(self.confusion) if self.confusion else []

    def page(self, facts: Sequence[tuple[str, str]]) -> Page:
        """The whole page."""
        return Page(
            f"Rewards of {self.subject.spec.name}",
            tables.lead(self.batch, self.reasons),
            facts=[(name, one_line(value)) for name, value in [*facts, *self.subject.facts()]],
            sections=list(self._sections()),
            concerns=list(self._concerns()),
        )

    def _concerns(self) -> Iterator[Concern]:
        batch = self.batch
        if not batch.results:
            yield Concern("failed", "The file holds no samples.")
        if self.confusion and (words := tables.against_labels(self.confusion)):
            yield Concern("labels", words, LABELS)
        if batch.unscored:
            yield Concern("unscored", self._without_score(), UNSCORED)
        if self.groups.count and self.groups.without_advantage == self.groups.count:
            words = "All groups have zero advantage: GRPO would learn nothing from these rows."
            yield Concern("reasons", words, GROUPS)
        low = len(batch.at_minimum)
        if low and low >= NOTABLE * len(batch.scored):
            yield Concern("reasons", tables.at_the_minimum(batch, self.reasons), REASONS)
        if self.cut and len(self.cut) >= NOTABLE * len(batch.scored):
            yield Concern(
                "truncation",
                f"{len(self.cut):,} of {len(batch.scored):,} responses "
                f"{'seems' if len(self.cut) == 1 else 'seem'} cut off. Raise the limit of tokens "
                "before you judge the policy by these rewards.",
                TRUNCATION,
            )

    def _without_score(self) -> str:
        batch = self.batch
        if not batch.scored:
            return "No row could be scored: this page has no figure of the policy."
        return (
            f"{len(batch.unscored):,} of {len(batch.results):,} rows could not be scored, and are "
            f"in no mean; mostly: {self.errors[0].title}."
        )

    def _case(self, at: int) -> Case:
        """A row as a case; links find it where it comes first."""
        anchor = "" if at in self.placed else f"row-{at + 1}"
        self.placed.add(at)
        return self.cases.case(at, anchor)

    def _sections(self) -> Iterator[Section]:
        yield Section("Summary", [tables.summary(self.batch, self.cut)])
        if self.batch.scored and self.confusion:
            yield Section(LABELS, list(self._labels(self.confusion)))
        if self.errors:
            advice = map(Warned, tables.mending(self.errors))
            errors = tables.errors_table(self.errors)
            yield Section(UNSCORED, [errors, *advice, *self._unscored()])
        if self.batch.scored:
            yield from self._of_scored()
            yield from self._of_cases()

    def _labels(self, found: Confusion) -> Iterator[Part]:
        yield f'The labels are those of the field "{one_line(found.field, 90)}".'
        yield tables.confusion_chart(found, self.by_label)
        yield tables.confusion_table(found)
        yield tables.agreement_table(found)

    def _of_scored(self) -> Iterator[Section]:
        batch = self.batch
        lengths = figures.by_length(batch)
        yield Section(REASONS, list(self._reasons()))
        charts = [
            tables.rewards_chart(batch, self.by_reward),
            tables.length_chart(batch, lengths),
        ]
        yield Section("Rewards and lengths", [*charts, *self._metrics()])
        yield Section(
            TRUNCATION,
            [
                tables.length_table(batch, lengths, self.cut),
                tables.signals_table(batch, self.signals),
            ],
        )
        yield Section(GROUPS, list(self._groups()))
        if self.beside:
            yield Section("Groups side by side", list(self._beside()))
        if decided := criteria(batch, self.subject.spec.name, self.subject.parameters):
            judge = self.subject.judge
            several = judge is not None and len(judge.config.models) > 1
            yield Section("Criteria", [tables.criteria_table(batch, decided, several=several)])

    def _beside(self) -> Iterator[Part]:
        yield (
            f"{len(self.beside):,} of {self.groups.count:,} groups: first those with a row whose "
            "label says otherwise, then those whose rewards differ."
        )
        yield from (side_by_side(self.cases, place) for place in self.beside)

    def _reasons(self) -> Iterator[Part]:
        if chart := tables.reasons_chart(self.reasons, self.by_reason):
            yield chart
        yield from map(Warned, tables.remedies(self.reasons))
        yield tables.reasons_table(self.batch, self.reasons)

    def _metrics(self) -> Iterator[Part]:
        if found := figures.metrics(self.batch):
            yield tables.metrics_table(found)

    def _groups(self) -> Iterator[Part]:
        if not self.groups.count:
            yield "No prompt has several scored responses, so that there is no group to compare."
            return
        yield (
            "A group is the responses to one prompt. Where all of them have the same reward, none "
            "has an advantage in GRPO, and the prompt teaches nothing in this step."
        )
        yield tables.groups_table(self.groups)
        if self.groups.without_advantage:
            yield tables.flat_groups_table(self.batch, self.groups, FLAT)

    def _unscored(self) -> Iterator[Part]:
        yield _of_these(len(self.broken), len(self.batch.unscored), "errors in turn")
        yield from map(self._case, self.broken)

    def _of_cases(self) -> Iterator[Section]:
        rule = "the lowest rewards first, and of equal ones each reason in turn"
        intro = "No row is below the maximum."
        if self.worst:
            intro = _of_these(len(self.worst), len(self.batch.scored), rule)
        yield Section("Lowest rewards", [intro, *map(self._case, self.worst)])
        yield Section("Surprising rows", list(self._surprising()))
        bars = [*self.by_reward, *self.by_reason, *(bar for row in self.by_label for bar in row)]
        intro = "A bar and a cell lead here: some of their rows, each reason in turn."
        yield Section("Rows of the bars", [intro, *(self.rows.of(bar) for bar in bars if bar.rows)])

    def _surprising(self) -> Iterator[Part]:
        asked = "; ".join(rule[0].lower() + rule[1:] for rule in RULES)
        yield f"A row is surprising by one of these rules: {asked}."
        if not self.surprises:
            yield "None of them finds a row."
        for rule, rows in self.surprises.items():
            shown = self._varied(rows)
            yield f"{rule}: {_of_these(len(shown), len(rows), 'each reason in turn')}"
            yield from map(self._case, shown)

    def _varied(self, rows: Sequence[int]) -> list[int]:
        """Some rows of a rule, each reason in turn."""
        found = frozenset(rows)
        by_reason = [[at for at in each.rows if at in found] for each in self.reasons]
        return in_turn(by_reason, SURPRISING)


def worst(batch: Batch, reasons: Iterable[ReasonFigures], most: int = WORST) -> list[int]:
    """The rows of the lowest rewards; of equal rewards, the rows of each reason in turn.

    A row at the maximum is none of them.
    """
    by_value: dict[float, list[list[int]]] = {}
    for each in reasons:
        split: dict[float, list[int]] = {}
        for at in each.rows:
            split.setdefault(batch.value(at), []).append(at)
        for value, rows in split.items():
            by_value.setdefault(value, []).append(rows)
    found: list[int] = []
    for value in sorted(by_value):
        if len(found) >= most or value == batch.scale.maximum:
            break
        found += in_turn(by_value[value], most - len(found))
    return found


def _of_these(shown: int, found: int, order: str) -> str:
    return f"{shown:,} of {found:,} rows, {order}."
