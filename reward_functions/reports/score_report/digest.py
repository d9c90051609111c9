"""The summary of a file of any size: a few numbers and a short reason of each row, never the row.

They are worked out where the row is scored, stand beside its result while a run goes on, and are
all that is read again when an interrupted run goes on. A digest keeps 37 bytes of each; `Tallies`
are the part of it that keeps nothing of a row, and adds up across files.

Rewards are added up exactly, so all of them are kept, as eight bytes each; so are the numbers that
stand for prompt and id. Prompts and ids are compared at the end, a 256th of the rows at a time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections import Counter
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import pairwise
from math import nan
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.core.means import mean
from reward_functions.core.types import Sample, Scored
from reward_functions.reports.measured import Measured
from reward_functions.reports.score_report.figures import std
from reward_functions.reports.score_report.reasons import (
    DATA,
    MOSTLY,
    ReasonCount,
    attribution,
    is_cut_off,
    normal_form,
    reason_of,
    remedy_of,
)
from reward_functions.reports.score_report.reasons import EMPTY as HOLD_NO_RESPONSE
from reward_functions.reports.statistics import PAIR

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reward_functions.core.spec import RewardSpec, Scale
    from reward_functions.core.types import RewardResult, Score, Unscored

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
    signs = 0 if sample.tool_calls or (response and not response.isspace()) else EMPTY
    prompt = _prompt(sample)
    if not isinstance(result, Scored):
        return _unscored(result, prompt, len(response), signs)
    score = result.score
    low = score.value == spec.scale.minimum
    if low and not signs and is_cut_off(sample):
        signs |= CUT
    if spec.needs.judge and _unasked(score):
        signs |= UNASKED
    return RowFacts(score.value, reason_of(spec.name, score), prompt, len(response), signs)


def _unasked(score: Score) -> bool:
    from reward_functions.judge_runtime.scores import without_model  # noqa: PLC0415 - of judges

    return without_model(score)


def _unscored(result: Unscored, prompt: int, length: int, signs: int) -> RowFacts:
    error = result.error
    name, kind = type(error).__name__, str(getattr(error, "kind", ""))
    found = attribution(error)
    reason = normal_form(str(error) or name)
    return RowFacts(None, reason, prompt, length, signs, (name, kind, found.whose, found.remedy))


def _prompt(sample: Sample) -> int:
    """The first 64 bits of the messages' digest; a million prompts meet with 3 in 10⁸."""
    worded, parts = False, []
    for turn in sample.context:
        role, content = turn.role, turn.content
        worded = worded or content != ""
        parts.append(f"{len(role)}:{role}{len(content)}:{content}")
    if not worded:
        return 0
    text = "".join(parts).encode(errors="surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8).digest()) or 1


MOST_REASONS: Final = 10_000
"""Different reasons counted by themselves; a reward whose reasons are free text has more."""

OTHER: Final = "other reasons"

PARTS: Final = 256
"""Among which rows are dealt out by prompt or id, to be compared a part at a time."""


@dataclass(slots=True)
class ErrorCount:
    """Unscored rows of one error.

    Args:
        title: its name, and its kind where it has one.
        first: message of the first of them, with its place in the file.
        remedy: what to do.
        rows: that have it.
        data: whether it is the row's own fault, and asking again would not mend it.
    """

    title: str
    first: str
    remedy: str
    rows: int = 0
    data: bool = False


class GroupCounts(NamedTuple):
    """Prompts with several scored responses: all, and those without advantage by their reward."""

    prompts: int
    at_minimum: int
    at_maximum: int
    between: int

    @property
    def without_advantage(self) -> int:
        """Groups whose rewards are all equal."""
        return self.at_minimum + self.at_maximum + self.between


@dataclass(slots=True)
class Tallies(ABC):
    """The sums over rows, without the rows.

    Args:
        reward: its name.
        scale: its range.
        without_response: rows that hold none.
        cut_off: rows at the minimum that show a sign of truncation.
        no_samples: rows that are not valid samples.
        unasked: rows that a judge decided without its model.
    """

    reward: str
    scale: Scale
    without_response: int = 0
    cut_off: int = 0
    no_samples: int = 0
    unasked: int = 0
    _reasons: dict[str, ReasonCount] = field(default_factory=dict)
    _errors: dict[tuple[str, str], ErrorCount] = field(default_factory=dict)

    @abstractmethod
    def __len__(self) -> int:
        """How many rows there are."""

    @abstractmethod
    def figures(self) -> tuple[float, float, float] | None:
        """The mean, the standard deviation and the share at the minimum; None of no scored row."""

    @abstractmethod
    def groups(self) -> GroupCounts:
        """The prompts with several scored responses."""

    @abstractmethod
    def repeated_ids(self) -> int:
        """How many rows have the id of a row before them."""

    def count(self, facts: RowFacts, message: str) -> None:
        """Count a row.

        Args:
            facts: of it.
            message: of its error, with its place; "" for a scored row.
        """
        if facts.signs:
            self.without_response += bool(facts.signs & EMPTY)
            self.no_samples += bool(facts.signs & NO_SAMPLE)
            self.unasked += bool(facts.signs & UNASKED)
        if facts.error:
            name, kind, whose, remedy = facts.error
            title = f"{name}: {kind}" if kind else name
            first = ErrorCount(title, message, remedy, data=whose == DATA)
            self._errors.setdefault((name, kind), first).rows += 1
            return
        tally = self._tally(facts.reason)
        tally.rows += 1
        if facts.value == self.scale.minimum:
            cut = bool(facts.signs & CUT)
            tally.low += 1
            tally.empty += bool(facts.signs & EMPTY)
            tally.cut += cut
            self.cut_off += cut

    def _tally(self, reason: str) -> ReasonCount:
        tally = self._reasons.get(reason)
        if tally is None:
            reason = reason if len(self._reasons) < MOST_REASONS else OTHER
            tally = self._reasons.setdefault(reason, ReasonCount(reason))
        return tally

    def merge_tallies(self, other: Tallies) -> None:
        """Count the rows of another, which come later: the first message of an error is kept."""
        for name in COUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for key, error in other._errors.items():
            mine = self._errors.setdefault(key, replace(error, rows=0))
            mine.rows += error.rows
        for each in other._reasons.values():
            tally = self._tally(each.reason)
            tally.rows += each.rows
            tally.low += each.low
            tally.empty += each.empty
            tally.cut += each.cut

    def tallies(self) -> dict[str, Any]:
        """As JSON has them."""
        return {
            **{name: getattr(self, name) for name in COUNTS},
            "reasons": [[e.reason, e.rows, e.low, e.empty, e.cut] for e in self._reasons.values()],
            "errors": [
                [*key, e.title, e.first, e.remedy, e.rows, e.data]
                for key, e in self._errors.items()
            ],
        }

    def take_tallies(self, item: Mapping[str, Any]) -> None:
        """Take over what `tallies` wrote, in place of what there is."""
        for name in COUNTS:
            setattr(self, name, int(item[name]))
        self._reasons = {each[0]: ReasonCount(*each) for each in item["reasons"]}
        self._errors = {(name, kind): ErrorCount(*rest) for name, kind, *rest in item["errors"]}

    def forget_ours(self) -> set[str]:
        """Forget the errors that are no row's own fault; returns their names."""
        data = {name for (name, _), error in self._errors.items() if error.data}
        ours = {name for name, _ in self._errors} - data
        self._errors = {key: each for key, each in self._errors.items() if key[0] in data}
        return ours

    @property
    def unscored(self) -> int:
        """How many rows have no score."""
        return sum(each.rows for each in self._errors.values())

    @property
    def measured(self) -> Measured:
        """How many rows have a score.

        A row that a judge decided without its model has one, and does not show that the model
        answers: where all other rows have none, nothing was measured.
        """
        scored, unscored = len(self) - self.unscored, self.unscored
        if not unscored:
            return Measured("rows", scored)
        return Measured("rows", scored - self.unasked, unscored, self.unasked)

    def kinds(self) -> list[tuple[str, int]]:
        """How many rows each type of error has, the most frequent first."""
        found: Counter[str] = Counter()
        for (name, _), error in self._errors.items():
            found[name] += error.rows
        return found.most_common()

    def errors(self) -> list[ErrorCount]:
        """The unscored rows by error, the most frequent first."""
        return sorted(self._errors.values(), key=lambda each: -each.rows)

    def reasons(self) -> list[ReasonCount]:
        """The scored rows by reason: first what most rows at the minimum have, then most of all."""
        samples = len(self) - self.no_samples
        empty = self.without_response > MOSTLY * samples
        found = list(self._reasons.values())
        for each in found:
            without = empty and each.empty > MOSTLY * each.low
            each.remedy = (
                HOLD_NO_RESPONSE
                if without
                else remedy_of(self.reward, each.reason, each.low, each.cut)
            )
        return sorted(found, key=lambda each: (-each.low, -each.rows))


COUNTS: Final = ("without_response", "cut_off", "no_samples", "unasked")
"""The fields of `Tallies` that are numbers."""


@dataclass(slots=True)
class Digest(Tallies):
    """The summary of the rows added so far, in the order of the file.

    Args:
        rewards: of each row; not a number where it has none.
        prompts_of: a number for the prompt of each row; 0 for none.
        ids: a number for the id of each row.
    """

    rewards: array[float] = field(default_factory=lambda: array("d"))
    prompts_of: array[int] = field(default_factory=lambda: array("Q"))
    ids: array[int] = field(default_factory=lambda: array("q"))

    def add(self, id: str, facts: RowFacts, message: str) -> None:  # noqa: A002 - the wire's own word
        """Count the next row.

        Args:
            id: the row's.
            facts: of it.
            message: of its error, with its place; "" for a scored row.
        """
        self.ids.append(hash(id))
        self.prompts_of.append(facts.prompt)
        self.rewards.append(nan if facts.value is None else facts.value)
        self.count(facts, message)

    def __len__(self) -> int:
        return len(self.rewards)

    @property
    def scored(self) -> array[float]:
        """The rewards of the scored rows."""
        return array("d", (value for value in self.rewards if value == value))  # noqa: PLR0124 - nan

    def figures(self) -> tuple[float, float, float] | None:
        """The mean, the standard deviation and the share at the minimum; None of no scored row."""
        values = self.scored
        if not values:
            return None
        return mean(values), std(values), values.count(self.scale.minimum) / len(values)

    def groups(self) -> GroupCounts:
        """The prompts with several scored responses."""
        counted = [0, 0, 0, 0]
        low, high = self.scale
        for rows in _dealt(self.prompts_of):
            groups: dict[int, tuple[int, float, bool]] = {}
            for at in rows:
                prompt, value = self.prompts_of[at], self.rewards[at]
                if prompt and value == value:  # noqa: PLR0124 - no nan
                    size, first, equal = groups.get(prompt, (0, value, True))
                    groups[prompt] = size + 1, first, equal and value == first
            for size, first, equal in groups.values():
                if size >= PAIR:
                    counted[0] += 1
                    if equal:
                        counted[1 if first == low else 2 if first == high else 3] += 1
        return GroupCounts(*counted)

    def repeated_ids(self) -> int:
        """How many rows have the id of a row before them."""
        found = 0
        for rows in _dealt(self.ids):
            ordered = sorted(self.ids[at] for at in rows)
            found += sum(one == other for one, other in pairwise(ordered))
        return found

    def prompts(self, rows: Iterable[int]) -> int:
        """How many prompts these rows have; a row without a prompt counts as one of its own."""
        chosen = [self.prompts_of[at] for at in rows]
        return len(set(chosen) - {0}) + chosen.count(0)


def _dealt(numbers: Sequence[int]) -> list[array[int]]:
    """The positions of numbers by their remainder, in which equal ones agree: four bytes each."""
    parts = [array("I") for _ in range(min(PARTS, len(numbers)))]
    for at, number in enumerate(numbers):
        parts[number % len(parts)].append(at)
    return parts
