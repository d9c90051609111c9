"""Why rewards are as they are: like reasons counted together, and what is likely wrong.

A reason names the case at hand: "choice 'B' is not 'A'", "graded 0.5 among 4". Its normal form
leaves out numbers, quotations, and what follows a semicolon. A remedy is a row of a table: where a
policy's responses score the minimum for a reason, what the cause is likely to be, and what to try.
Some low scores are right, and have none.

Signs that a response was cut off are an estimate, sign by sign. A service that says so is certain;
what a text shows is likely. A response that stops between two words without a sign is not found.

Rows that could not be scored are never low scores: the table of `reward_functions.core.errors`
attributes them.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.core.errors import DatasetError, RewardError
from reward_functions.core.types import Scored, Unscored
from reward_functions.extraction.truncation import holds_fence, in_fence, in_reasoning

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from reward_functions.core.types import Sample, Score
    from reward_functions.reports.score_report.figures import Batch

STOPPED: Final = frozenset({"length", "max_tokens", "max_output_tokens", "max_completion_tokens"})
"""What services call the end that a limit of tokens sets, in lower case."""

STOP_FIELDS: Final = ("finish_reason", "stop_reason", "stopReason", "finishReason")
"""Where a row says why its response ended: OpenAI's, Anthropic's, Bedrock's and Google's names."""

BOX: Final = "\\boxed{"
LAST: Final = 2_000
"""Characters from a box on that are read for its end."""


class Signal(NamedTuple):
    """A sign.

    Args:
        name: what it is, as the page has it.
        shown: whether a sample has it.
    """

    name: str
    shown: Callable[[Sample], bool]


def _stopped(sample: Sample) -> bool:
    metadata = sample.metadata
    for name in STOP_FIELDS:
        reason = metadata.get(name)
        if isinstance(reason, str) and reason.lower() in STOPPED:
            return True
    return False


def _reasoning(sample: Sample) -> bool:
    return in_reasoning(sample.response)


def _box(sample: Sample) -> bool:
    response = sample.response
    start = response.rfind(BOX)
    if start < 0:
        return False
    behind = response[start : start + LAST + 1].replace("\\{", "").replace("\\}", "")
    return len(response) - start <= LAST and _never_closed(behind)


def _never_closed(text: str) -> bool:
    depth = 0
    for char in text:
        depth += (char == "{") - (char == "}")
        if char == "}" and not depth:
            return False
    return True


def _fence(sample: Sample) -> bool:
    response = sample.response
    return holds_fence(response) and in_fence(response)


SIGNALS: Final = (
    Signal("the row says that a limit of tokens ended it", _stopped),
    Signal("a reasoning section is never closed", _reasoning),
    Signal("a box is never closed", _box),
    Signal("a code fence is never closed", _fence),
)


def is_cut_off(sample: Sample) -> bool:
    """Whether a sample shows any sign."""
    for signal in SIGNALS:  # noqa: SIM110 - half the price of `any`, for every row at the minimum
        if signal.shown(sample):
            return True
    return False


def truncated(batch: Batch) -> dict[str, list[int]]:
    """The scored rows that show each sign; one may show several."""
    found: dict[str, list[int]] = {signal.name: [] for signal in SIGNALS}
    for at in batch.scored:
        sample = batch.sample(at)
        for signal in SIGNALS:
            if signal.shown(sample):
                found[signal.name].append(at)
    return found


LONGEST: Final = 300
"""Characters of a reason that are compared."""

KEPT: Final = 64
"""Reasons whose normal form is kept: most rows have one of a few."""

NO_REASON: Final = "no reason is given"

MOSTLY: Final = 0.5
"""The share of a reason's responses from which what they have in common is its likely cause."""

CRITERIA: Final = "the weighted mean of the criteria"
"""The normal form of a rubric's reason, which lists all decisions, where no gate is failed."""

_SINGULAR: Final = re.compile(r"'[^']{0,300}'|\"[^\"]{0,300}\"|“[^”]{0,300}”|[-+−]?\d[\d.,:/%]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """The advice for many responses that score the minimum for a reason.

    Args:
        reward: whose reason it is; "" for every reward's.
        reason: the beginning of its normal form.
        cause: what is likely wrong.
        attempt: what to try, as one clause that begins with an option or a verb.
    """

    reward: str = ""
    reason: str = ""
    cause: str
    attempt: str


CUT: Final = Remedy(
    cause="the responses are cut off",
    attempt="raise the limit of tokens, or ask for shorter reasoning",
)
"""Where most responses of a reason show a sign of truncation, whatever the reason is."""

EMPTY: Final = Remedy(
    cause="the rows hold no response",
    attempt='put the response into a last message whose role is "assistant"',
)
"""Where most responses of the batch are empty, and most of a reason: one is the policy's own."""


@cache
def remedy_rows() -> tuple[Remedy, ...]:
    """The rows of `remedies.toml`, of which the first that fits a reason is taken."""
    text = Path(__file__).with_name("remedies.toml").read_text(encoding="utf-8")
    return tuple(Remedy(**row) for row in tomllib.loads(text)["remedy"])


@dataclass(slots=True)
class ReasonFigures:
    """The rows of one reason.

    Args:
        reason: its normal form.
        rows: that have it.
        at_minimum: those of them whose reward is the minimum.
        remedy: what to try; None where nothing is likely to be wrong, or nothing is known.
    """

    reason: str
    rows: list[int] = field(default_factory=list)
    at_minimum: list[int] = field(default_factory=list)
    remedy: Remedy | None = None

    @property
    def low(self) -> int:
        """How many of its rows have the minimum."""
        return len(self.at_minimum)


@dataclass(slots=True)
class ReasonCount:
    """How many rows have a reason, how many of these at the minimum, and what to try.

    Of those at the minimum it counts the rows without a response, and those that seem cut off.
    """

    reason: str
    rows: int = 0
    low: int = 0
    empty: int = 0
    cut: int = 0
    remedy: Remedy | None = None


@lru_cache(KEPT)
def normal_form(reason: str) -> str:
    """A reason without what is particular to a row, on one line. Linear."""
    short = " ".join(reason[:LONGEST].partition("; ")[0].split())
    return _SINGULAR.sub("…", short) or NO_REASON


def reason_of(reward: str, score: Score) -> str:
    """The normal form of a score's reason; a rubric's lists its decisions, and is one."""
    listed = reward == "rubric" and score.evidence and ";" not in score.reason
    return CRITERIA if listed else normal_form(score.reason)


def tallied(batch: Batch, reward: str, cut: Collection[int] | None = None) -> list[ReasonFigures]:
    """The scored rows by reason: first what most rows at the minimum have, then most of all rows.

    Args:
        batch: of rows.
        reward: its name.
        cut: rows that show a sign of truncation; None where nobody has looked.
    """
    by_reason: dict[str, ReasonFigures] = {}
    found: dict[str, ReasonFigures] = {}
    minimum, rewards = batch.scale.minimum, batch.rewards
    for at, result in enumerate(batch.results):
        if not isinstance(result, Scored):
            continue
        score = result.score
        figures = by_reason.get(score.reason)
        if figures is None:
            form = reason_of(reward, score)
            figures = by_reason[score.reason] = found.setdefault(form, ReasonFigures(form))
        figures.rows.append(at)
        if rewards[at] == minimum:
            figures.at_minimum.append(at)
    without_response = _mostly_empty(batch, range(len(batch.samples)))
    for figures in found.values():
        empty = without_response and _mostly_empty(batch, figures.at_minimum)
        low = figures.at_minimum
        shown = sum(at in cut for at in low) if cut else 0
        figures.remedy = EMPTY if empty else remedy_of(reward, figures.reason, len(low), shown)
    return sorted(found.values(), key=lambda each: (-len(each.at_minimum), -len(each.rows)))


def sentence(reasons: Iterable[ReasonFigures | ReasonCount], most: int = 3) -> str:
    """The most frequent reasons at the minimum and the first remedy, as one line; "" for none."""
    low = [each for each in reasons if each.low]
    if not low:
        return ""
    counted = ", ".join(f"{each.reason} ({each.low:,})" for each in low[:most])
    rest = sum(each.low for each in low[most:])
    remedy = next((each.remedy for each in low[:most] if each.remedy), None)
    line = f"at the minimum: {counted}" + (f", other reasons ({rest:,})" if rest else "")
    return f"{line} · perhaps {remedy.cause}; try: {remedy.attempt}" if remedy else line


def remedy_of(reward: str, reason: str, low: int, cut: int) -> Remedy | None:
    """The advice for responses that earn the minimum for a reason; None where nothing is known.

    Args:
        reward: its name.
        reason: in its normal form.
        low: responses at the minimum that have it.
        cut: those of them that show a sign of truncation.
    """
    if not low:
        return None
    if cut >= MOSTLY * low:
        return CUT
    for remedy in remedy_rows():
        if remedy.reward in ("", reward) and reason.startswith(remedy.reason):
            return remedy
    return None


def _mostly_empty(batch: Batch, rows: Sequence[int]) -> bool:
    """Whether more than half of these rows hold no response; a row that is no sample is passed."""
    samples = [each for at in rows if not isinstance(each := batch.samples[at], Unscored)]
    empty = sum(not (each.response.strip() or each.tool_calls) for each in samples)
    return empty > MOSTLY * len(samples)


DATA: Final = "the data set"
JUDGE: Final = "the judge model"
SETTINGS: Final = "the settings"
REWARD: Final = "the reward's code"
PROGRAM: Final = "this program"


class Attribution(NamedTuple):
    """Whose failure an error is, and what to do."""

    whose: str
    remedy: str


ATTRIBUTIONS: Final = {
    "BadSample": Attribution(DATA, "write each row as a sample: an id, messages, reference_answer"),
    "BadReference": Attribution(
        DATA, "mend these references, which `reward data lint FILE --reward NAME --param …` lists"
    ),
    "NoJudge": Attribution(SETTINGS, "name a judge model: --judge FILE"),
    "JudgeUnavailable throttled": Attribution(JUDGE, "lower max_concurrency, or set rpm and tpm"),
    "JudgeUnavailable denied": Attribution(JUDGE, "ask `reward judge probe` what is denied"),
    "JudgeUnavailable unrecorded": Attribution(
        SETTINGS, "add a line with the row's id to the recorded answers"
    ),
    "JudgeUnavailable budget": Attribution(SETTINGS, "raise max_usd, or score fewer rows"),
    "JudgeUnavailable unreachable": Attribution(JUDGE, "check the endpoint: `reward judge probe`"),
    "JudgeUnavailable": Attribution(JUDGE, "score these rows again, or name a fallback model"),
    "NoVerdict cut": Attribution(JUDGE, "raise max_tokens of the judge model"),
    "NoVerdict refused": Attribution(JUDGE, "read these rows; a fallback model may answer"),
    "NoVerdict": Attribution(JUDGE, "set output_mode, or name a fallback model"),
    "NoOtherResponse": Attribution(DATA, "give several responses to each prompt, or a reference"),
    "DeadlineReached": Attribution(PROGRAM, "score fewer rows at a time"),
    "AlgebraOutOfTime": Attribution(PROGRAM, "score fewer rows at a time, or give them more time"),
    "SampleBlocked": Attribution(REWARD, "bound its time: it did not return from these rows"),
    "ProcessEnded": Attribution(REWARD, "mend the reward: its process ends at these rows"),
    "EngineUnavailable": Attribution(PROGRAM, "read the message: the algebra's process cannot run"),
    "EngineFailed": Attribution(PROGRAM, "report the message: our algebra has a bug"),
    "InvalidScore": Attribution(REWARD, "mend the reward: `reward audit` names what it breaks"),
}
"""By the name of the error, and its kind where it has one."""

OTHER_DATA: Final = Attribution(DATA, "mend these rows")
OTHER: Final = Attribution(REWARD, "mend the reward: the error left its code")
OTHER_OURS: Final = Attribution(PROGRAM, "read the message")


@dataclass(slots=True)
class ErrorFigures:
    """The rows of one error.

    Args:
        name: of its type.
        kind: of a judge's failure; "" for the others.
        rows: that have it.
        messages: how often each normal form of its message occurs.
        attribution: whose failure it is.
    """

    name: str
    kind: str
    attribution: Attribution
    rows: list[int] = field(default_factory=list)
    messages: Counter[str] = field(default_factory=Counter)

    @property
    def title(self) -> str:
        """Its name, and its kind where it has one."""
        return f"{self.name}: {self.kind}" if self.kind else self.name

    @property
    def message(self) -> str:
        """The most frequent message."""
        return self.messages.most_common(1)[0][0]


def errors(batch: Batch) -> list[ErrorFigures]:
    """The unscored rows by error, the most frequent first."""
    found: dict[tuple[str, str], ErrorFigures] = {}
    for at in batch.unscored:
        result = batch.results[at]
        if not isinstance(result, Unscored):
            continue
        name, kind = type(result.error).__name__, str(getattr(result.error, "kind", ""))
        if (name, kind) not in found:
            found[name, kind] = ErrorFigures(name, kind, attribution(result.error))
        figures = found[name, kind]
        figures.rows.append(at)
        figures.messages[normal_form(str(result.error) or name)] += 1
    return sorted(found.values(), key=lambda each: -len(each.rows))


def attribution(error: Exception) -> Attribution:
    """Whose failure an error is. An error that no reward raises on purpose left its code."""
    name, kind = type(error).__name__, getattr(error, "kind", "")
    known = ATTRIBUTIONS.get(f"{name} {kind}") or ATTRIBUTIONS.get(name)
    if known:
        return known
    if isinstance(error, DatasetError):
        return OTHER_DATA
    return OTHER_OURS if isinstance(error, RewardError) else OTHER
