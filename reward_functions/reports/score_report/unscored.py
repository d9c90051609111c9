"""Rows that could not be scored, by their error: whose failure each is, and what to do about it.

They are never low scores: the table of `reward_functions.core.errors` attributes them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.core.errors import DatasetError, RewardError
from reward_functions.core.types import Unscored
from reward_functions.reports.score_report.reasons import normal_form

if TYPE_CHECKING:
    from reward_functions.reports.score_report.batch import Batch

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
    "BadReference": Attribution(DATA, "mend these references, which `reward data lint` lists"),
    "NoJudge": Attribution(SETTINGS, "name a judge model: --judge FILE"),
    "JudgeUnavailable throttled": Attribution(JUDGE, "lower max_concurrency, or set rpm and tpm"),
    "JudgeUnavailable denied": Attribution(JUDGE, "ask `reward judge probe` what is denied"),
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
    "InvalidScore": Attribution(REWARD, "mend the reward: `reward check` names what it breaks"),
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
    """Whose failure an error is. What no reward raises on purpose left its code."""
    name, kind = type(error).__name__, getattr(error, "kind", "")
    known = ATTRIBUTIONS.get(f"{name} {kind}") or ATTRIBUTIONS.get(name)
    if known:
        return known
    if isinstance(error, DatasetError):
        return OTHER_DATA
    return OTHER_OURS if isinstance(error, RewardError) else OTHER
