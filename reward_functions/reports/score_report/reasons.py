"""Like reasons counted together, and what is likely wrong where many responses share one.

A reason names the case at hand: "choice 'B' is not 'A'", "graded 0.5 among 4". Its normal form
leaves out numbers, quotations, and what stands behind a semicolon. A remedy is a row of a table:
where a policy's responses score the minimum for a reason, what the cause is likely to be, and what
to try. Some low scores are right, and have none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

from reward_functions.core.types import Scored, Unscored

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from reward_functions.core.types import Score
    from reward_functions.reports.score_report.batch import Batch

LONGEST: Final = 300
"""Characters of a reason that are compared."""

NO_REASON: Final = "no reason is given"

MOSTLY: Final = 0.5
"""The share of a reason's responses from which what they have in common is its likely cause."""

CRITERIA: Final = "the weighted mean of the criteria"
"""The normal form of a rubric's reason, which lists all decisions, where no gate is failed."""

_SINGULAR: Final = re.compile(r"'[^']{0,300}'|\"[^\"]{0,300}\"|“[^”]{0,300}”|[-+−]?\d[\d.,:/%]*")


@dataclass(frozen=True, slots=True)
class Remedy:
    """What to try where many responses score the minimum for a reason.

    Args:
        reward: whose reason it is; "" for every reward's.
        reason: the beginning of its normal form.
        cause: what is likely wrong.
        attempt: what to try, as one clause that begins with an option or a verb.
    """

    reward: str
    reason: str
    cause: str
    attempt: str


CUT: Final = Remedy(
    "", "", "the responses are cut off", "raise the limit of tokens, or ask for shorter reasoning"
)
"""Where most responses of a reason show a sign of truncation, whatever the reason is."""

EMPTY: Final = Remedy(
    "",
    "",
    "the rows hold no response",
    'put the response into a last message whose role is "assistant"',
)
"""Where most responses of the batch are empty, and most of a reason: one is the policy's own."""

REMEDIES: Final = (
    Remedy(
        "gsm8k",
        "there is no ####",
        "the responses mark their answer in another way",
        "-p flexible=true, or ask in the prompt for a last line #### NUMBER",
    ),
    Remedy(
        "gsm8k",
        "the last #### does not show one number",
        "an expression, several numbers or words stand behind ####",
        "the reward math for expressions, or ask in the prompt for one number behind ####",
    ),
    Remedy(
        "gsm8k",
        "nothing follows the last ####",
        "the number is missing, or more than it stands below",
        "ask in the prompt for the number on the line of the ####",
    ),
    Remedy(
        "gsm8k",
        "there is no final answer",
        "the answer is nowhere marked",
        "ask in the prompt for a last line #### NUMBER",
    ),
    Remedy(
        "math",
        "there is no final answer",
        "the answer is nowhere marked",
        "ask in the prompt for the final answer in \\boxed{}",
    ),
    Remedy(
        "math",
        "another number",
        "the answers are incorrect, or exact values were rounded",
        "-p rounded=3, where they were rounded",
    ),
    Remedy(
        "math",
        "the words differ",
        "the answers are words and not mathematics",
        "the reward exact_match, or the judge reference",
    ),
    Remedy(
        "math",
        "the answer restates the question",
        "the responses repeat the expression to be worked out",
        "ask in the prompt for the value",
    ),
    Remedy(
        "math",
        "the answer is not worked out",
        "the parameter evaluated asks for a value, and the responses stop before it",
        "-p evaluated=false, or ask in the prompt for the value",
    ),
    Remedy(
        "math",
        "the last box is never closed",
        CUT.cause,
        CUT.attempt,
    ),
    Remedy(
        "math",
        "the answer names several values",
        "the responses hedge, or put steps into boxes as well",
        "ask in the prompt for one final answer in one \\boxed{}",
    ),
    Remedy(
        "math",
        "a later statement of the answer contradicts it",
        "the responses go on behind their answer",
        "ask in the prompt to end with the final answer",
    ),
    Remedy(
        "math",
        "the response goes on behind its last formula",
        "the answer is not marked, or is given up",
        "ask in the prompt for the final answer in \\boxed{}",
    ),
    Remedy(
        "exact_match",
        "the response is another text",
        "the answer stands inside a longer response",
        "math, multiple_choice or the judge reference, or ask for nothing but the answer",
    ),
    Remedy(
        "multiple_choice",
        "the whole response does not pick one option",
        "the answer is nowhere marked, or the options are not known",
        'ask in the prompt for "Answer: LETTER", and give the options in the prompt or as choices',
    ),
    Remedy(
        "multiple_choice",
        "there is no final answer",
        "the answer is nowhere marked",
        'ask in the prompt for a last line "Answer: LETTER"',
    ),
    Remedy(
        "finqa",
        "no answer is marked",
        "the parameter marked asks for an ANSWER line or a box",
        "-p marked=false, or ask in the prompt for a last line ANSWER: VALUE",
    ),
    Remedy(
        "finqa",
        "the answer has no number",
        "the last sentence is not the answer",
        "ask in the prompt for a last line ANSWER: VALUE",
    ),
    Remedy(
        "finqa",
        "the stated answer has another unit",
        "percentages and numbers are confused",
        "ask in the prompt for the unit that the question means",
    ),
    Remedy(
        "finqa",
        "the stated answer differs from the reference by a power of ten",
        "millions and single dollars are confused",
        "ask in the prompt for the scale of the table",
    ),
    Remedy(
        "finqa",
        "the stated answer agrees with the reference, but has too few digits",
        "the responses round too early",
        "ask in the prompt for two decimals",
    ),
    Remedy(
        "pandalm",
        "there is no judgment",
        "the responses have no line JUDGMENT",
        "ask in the prompt for a line JUDGMENT: Response 1, Response 2 or Tie",
    ),
    Remedy(
        "reference",
        "there is no final answer",
        "the answer is nowhere marked",
        "-p answer=whole, or ask in the prompt for the final answer in \\boxed{}",
    ),
    Remedy(
        "",
        "the response is a copy of the prompt",
        "the policy repeats its prompt, or the file holds the prompt twice",
        "put what the policy wrote, and not the prompt before it, into the last message",
    ),
)


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


class Counted(Protocol):
    """A reason with the number of its rows at the minimum, and what to try."""

    @property
    def reason(self) -> str:
        """Its normal form."""

    @property
    def low(self) -> int:
        """How many of its rows have the minimum."""

    @property
    def remedy(self) -> Remedy | None:
        """What to try; None where nothing is likely to be wrong, or nothing is known."""


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


def sentence(reasons: Iterable[Counted], most: int = 3) -> str:
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
    """What to try where responses earn the minimum for a reason; None where nothing is known.

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
    for remedy in REMEDIES:
        if remedy.reward in ("", reward) and reason.startswith(remedy.reason):
            return remedy
    return None


def _mostly_empty(batch: Batch, rows: Sequence[int]) -> bool:
    """Whether more than half of these rows hold no response; a row that is no sample is passed."""
    samples = [each for at in rows if not isinstance(each := batch.samples[at], Unscored)]
    empty = sum(not each.response or each.response.isspace() for each in samples)
    return empty > MOSTLY * len(samples)
