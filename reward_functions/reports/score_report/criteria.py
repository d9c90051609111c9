"""A judge's decisions, criterion by criterion, over the rows that it judged.

A decision is "met" with the best choice of its criterion. A reward of another package says what it
decided, and not which choice is best: its decisions are counted, and none is called met. A panel
keeps the evidence of the first member that answered.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.core.asking import CANARY
from reward_functions.judge_runtime.prompting import RESERVED
from reward_functions.judge_runtime.rubric_file import rubric_of
from reward_functions.judge_runtime.scores import VERDICT
from reward_functions.judges.group import GRADES
from reward_functions.judges.pairwise import ORDERS
from reward_functions.judges.pandalm import FIELDS as PANDALM
from reward_functions.judges.reference import FIELDS as REFERENCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from reward_functions.core.asking import VerdictField
    from reward_functions.core.types import Score
    from reward_functions.reports.score_report.figures import Batch

REASON: Final = "reason"
FREE: Final = ("_reason", "_quote")
"""Endings of the fields that hold free text about the field before them."""

CHOICE: Final = 60
"""Characters of a choice; what is longer is free text."""

MAX_CRITERIA: Final = 60
"""Criteria that are counted: twice those of the longest rubric."""

COMPARED: Final = {0: "better, shown first", 1: "better, shown second"}


class Decision(NamedTuple):
    """One decision of a judge on one response.

    Args:
        criterion: what was decided.
        choice: the decision.
        reason: the judge's; "" where it gives none.
        quotation: the words of the response it points at; "" for none.
    """

    criterion: str
    choice: str
    reason: str
    quotation: str


@dataclass(slots=True)
class CriterionFigures:
    """The decisions on one criterion.

    Args:
        name: of it.
        best: the choice that meets it; None where that is not known.
        choices: how often each was decided.
        rows: of the decisions.
        met: those of them that have the best choice.
        unmet_reason: the judge's reason for the first that has not.
    """

    name: str
    best: str | None
    choices: Counter[str] = field(default_factory=Counter)
    rows: list[int] = field(default_factory=list)
    met: list[int] = field(default_factory=list)
    unmet_reason: str = ""


def decisions(score: Score, reward: str = "") -> list[Decision]:
    """The decisions that led to a score; empty where no judge was asked."""
    evidence = score.evidence
    if evidence is None or evidence.rule != VERDICT or not isinstance(evidence.answer, list):
        return []
    if reward == "group":  # the letters of its verdicts are those of all responses
        return [Decision("grade", _grade(score), "", "")]
    return [
        decision
        for turn, values in enumerate(evidence.answer)
        if isinstance(values, dict)
        for decision in _decided(values, turn, reward)
    ]


def criteria(batch: Batch, reward: str, parameters: Mapping[str, Any]) -> list[CriterionFigures]:
    """The decisions of a batch by criterion, in the order of the verdicts.

    Args:
        batch: of rows.
        reward: its name.
        parameters: of the reward, defaults included.
    """
    best = _BEST[reward](parameters) if reward in _BEST else {}
    found: dict[str, CriterionFigures] = {}
    for at in batch.scored:
        for decision in decisions(batch.score(at), reward):
            name = decision.criterion
            if name not in found:
                if len(found) == MAX_CRITERIA:
                    continue
                found[name] = CriterionFigures(name, best.get(name))
            figures = found[name]
            figures.rows.append(at)
            figures.choices[decision.choice] += 1
            if decision.choice == figures.best:
                figures.met.append(at)
            elif not figures.unmet_reason:
                figures.unmet_reason = decision.reason
    return sorted(found.values(), key=lambda each: each.name in RESERVED)


def _decided(values: dict[str, Any], turn: int, reward: str) -> Iterator[Decision]:
    for name, choice in values.items():
        free = name in (CANARY, REASON) or name.endswith(FREE)
        if free or not isinstance(choice, str) or len(choice) > CHOICE:
            continue
        criterion = COMPARED[turn] if (reward, name) == ("pairwise", "better") else name
        alone = "" if name in RESERVED else values.get(REASON, "")
        reason = values.get(f"{name}_reason", alone)
        yield Decision(criterion, choice, str(reason), str(values.get(f"{name}_quote", "")))


def _grade(score: Score) -> str:
    """The grade in a word; the mean of two orders may lie between two words."""
    grade = next((metric.value for metric in score.metrics if metric.name == "grade"), 0.0)
    place = grade * (len(GRADES) - 1)
    return GRADES[int(place)] if place == int(place) else f"{grade:g}"


def _last(fields: tuple[VerdictField, ...]) -> dict[str, str]:
    return {each.name: each.choices[-1] for each in fields if each.choices}


_BEST: Final[dict[str, Callable[[Mapping[str, Any]], dict[str, str]]]] = {
    "rubric": lambda parameters: {
        each.id: each.choices[-1] for each in rubric_of(parameters["criteria"]).criteria
    },
    "pandalm": lambda _: _last(PANDALM),
    "reference": lambda _: _last(REFERENCE),
    "pairwise": lambda _: {name: ORDERS[turn][-1] for turn, name in COMPARED.items()},
    "group": lambda _: {"grade": GRADES[-1]},
}
"""The best choice of each criterion, by reward and its parameters."""
