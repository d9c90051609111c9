"""Rows for a reader: which are worth a look, what each scored and why, its texts opened by a click.

A row is surprising where the reward says otherwise than what stands around it. A rule is a row of a
table and says what it found on the page. A row that several find is shown under the first.

All texts of a page share a fixed room, so that a page of long or hostile responses is as small as
any other.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from reward_functions.core.errors import BadReference
from reward_functions.core.references import reference_text
from reward_functions.core.types import Sample, Unscored
from reward_functions.reports.evidence import rendered
from reward_functions.reports.pages.page import Case, ending, excerpt, one_line
from reward_functions.reports.score_report.criteria import decisions
from reward_functions.reports.sheets import Sheet

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from reward_functions.reports.score_report.criteria import Decision
    from reward_functions.reports.score_report.figures import Batch

GROUP: Final = 3
"""Responses of the smallest group in which one can be the only one."""

SHORT: Final = 40
"""Characters of a reference that may be looked for in a response."""

END: Final = 400
"""Characters of the end of a response in which its answer is likely to stand."""

DISAGREES: Final = "The label says otherwise"
ONLY_SUCCESS: Final = "The only one of its group above the minimum"
ONLY_FAILURE: Final = "The only one of its group below the maximum"
REFERENCE_AT_END: Final = "At the minimum, with the reference in its last line"
CUT_AND_CORRECT: Final = "At the maximum, though it seems cut off"

_POINT_BETWEEN: Final = re.compile(r"[0-9][.,][0-9]")

RULES: Final = (DISAGREES, ONLY_SUCCESS, ONLY_FAILURE, REFERENCE_AT_END, CUT_AND_CORRECT)
"""In the order in which they are asked."""


def surprises(
    batch: Batch, cut: Collection[int], disagreements: Sequence[int] = ()
) -> dict[str, list[int]]:
    """The rows that each rule found and none before it, where there are any.

    Args:
        batch: of rows.
        cut: the rows that show a sign of truncation.
        disagreements: the rows whose label says otherwise.
    """
    low, high = batch.scale
    found = {
        DISAGREES: disagreements,
        ONLY_SUCCESS: _alone(batch, low),
        ONLY_FAILURE: _alone(batch, high),
        REFERENCE_AT_END: [
            at
            for at in batch.scored
            if batch.value(at) == low and _ends_with_reference(batch.sample(at))
        ],
        CUT_AND_CORRECT: [at for at in batch.scored if batch.value(at) == high and at in cut],
    }
    seen: set[int] = set()
    shown = {}
    for rule in RULES:
        rows = [at for at in found[rule] if at not in seen]
        seen.update(rows)
        if rows:
            shown[rule] = rows
    return shown


def _alone(batch: Batch, others: float) -> list[int]:
    """The rows that are the only one of their group with another reward than `others`."""
    found = []
    for rows in batch.groups:
        if len(rows) >= GROUP:
            apart = [at for at in rows if batch.value(at) != others]
            if len(apart) == 1:
                found += apart
    return found


def _ends_with_reference(sample: Sample) -> bool:
    """Whether the last line of a response holds the reference, as words of its own."""
    try:
        text = reference_text(sample.reference)
    except BadReference:
        return False
    wanted = text.rpartition("####")[2].strip().lower()
    if not 0 < len(wanted) <= SHORT:
        return False
    last = sample.response[-END:].rstrip().rpartition("\n")[2].lower()
    start = last.find(wanted)
    while start >= 0:
        if not _inside_a_word(last, start, start + len(wanted)):
            return True
        start = last.find(wanted, start + 1)
    return False


def _inside_a_word(text: str, start: int, end: int) -> bool:
    """Whether letters or digits go on at either end; a point between digits is part of a number."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    if before[-1:].isalnum() or after[:1].isalnum():
        return True
    joined = _POINT_BETWEEN.match
    return bool(joined(before + text[start]) or joined(text[end - 1] + after))


TOTAL: Final = 1_400_000
"""Bytes that the texts and the evidence of all cases of a page take together."""

LONGEST: Final = 6_000
"""Bytes of one text."""

SHARES: Final = 5
"""Of a case's room: its prompt, its response and its end, its reference, a judge's evidence."""

GROUP_LINK: Final = "the responses to its prompt, side by side"

ROW: Final = 160
"""Bytes of a row of evidence without what the judge wrote."""


@dataclass(frozen=True, slots=True)
class Cases:
    """Rows as cases of one page.

    Args:
        batch: of rows.
        reward: its name.
        count: how many cases the page has in all, for the room of each.
        labels: whether each row is labelled correct; None where there are no labels.
        groups: places of the groups that the page has side by side, to which a case leads.
        disagreements: the rows whose label says otherwise.
    """

    batch: Batch
    reward: str
    count: int
    labels: Sequence[bool | None] | None = None
    groups: Collection[int] = ()
    disagreements: Collection[int] = ()

    @property
    def room(self) -> int:
        """Bytes of each text."""
        return min(LONGEST, TOTAL // (SHARES * max(1, self.count)))

    def case(self, at: int, anchor: str = "") -> Case:
        """A scored or an unscored row.

        Args:
            at: its position.
            anchor: by which links find it; "" for none.
        """
        result = self.batch.results[at]
        case = self._unscored(at, result) if isinstance(result, Unscored) else self._scored(at)
        place = self.batch.group_of[at]
        links = [(GROUP_LINK, f"group-{place + 1}")] if place in self.groups else []
        return replace(case, anchor=anchor, links=links)

    def card(self, at: int) -> Case:
        """A scored row beside the other responses to its prompt."""
        score, sample = self.batch.score(at), self.batch.sample(at)
        facts = [("row", one_line(sample.id, 90)), *self._label(at)]
        facts.append(("reason", one_line(score.reason or "none is given")))
        if score.answer is not None:
            facts.append(("answer", one_line(score.answer)))
        texts = [text for text in self._texts(sample) if text[0].startswith("response")]
        title = f"reward {score.value:.6g}"
        if at in self.disagreements:
            title += ": the label says otherwise"
        return Case(title, facts, texts, quotations=self._end(sample.response))

    def _label(self, at: int) -> Iterator[tuple[str, str]]:
        if self.labels is not None and self.labels[at] is not None:
            yield "label", "correct" if self.labels[at] else "incorrect"

    def _scored(self, at: int) -> Case:
        score, sample = self.batch.score(at), self.batch.sample(at)
        facts = [("reason", one_line(score.reason or "none is given"))]
        if score.answer is not None:
            facts.append(("answer", one_line(score.answer)))
        facts.append(("reference", one_line(_reference(sample))))
        evidence = score.evidence
        decided = decisions(score, self.reward)
        if evidence and not decided:
            if evidence.outcome:
                facts.append(("outcome", evidence.outcome.value))
            facts.append(("rule", one_line(evidence.rule)))
            compared = {"answer": evidence.answer, "reference": evidence.reference}
            for name, form in compared.items():
                shown = one_line(rendered(form) or "")
                if shown and (name, shown) not in facts:
                    facts.append((f"{name}, as compared", shown))
        facts += self._label(at)
        return Case(
            f"{one_line(sample.id, 90)} · reward {score.value:.6g}",
            facts,
            list(self._texts(sample)),
            [self._evidence(decided)] if decided else (),
            self._end(sample.response),
        )

    def _unscored(self, at: int, result: Unscored) -> Case:
        sample = self.batch.samples[at]
        error = type(result.error).__name__
        facts = [
            ("row", f"{at + 1:,} of the file's rows"),
            ("message", one_line(str(result.error))),
        ]
        title = f"{one_line(result.id, 90)} · unscored, {one_line(error, 60)}"
        if not isinstance(sample, Sample):
            return Case(title, facts)
        return Case(title, facts, list(self._texts(sample)), quotations=self._end(sample.response))

    def _end(self, response: str) -> list[tuple[str, str]]:
        """What is read without a click."""
        shown = ending(response, self.room)
        if not shown.strip():
            return []
        return [("response" if shown == response else "end of the response", shown)]

    def _texts(self, sample: Sample) -> Iterator[tuple[str, str]]:
        """What a click opens; what is shown whole without one is not among it."""
        texts = {"prompt": sample.prompt}
        response, reference = sample.response, _reference(sample)
        if not response.strip() or ending(response, self.room) != response:
            texts["response"] = response
        if one_line(reference) != reference:
            texts["reference"] = reference
        for name, text in texts.items():
            if text.strip():
                yield f"{name}, {len(text):,} characters", excerpt(text, self.room)
            else:
                yield f"{name}: empty", "(nothing)"

    def _evidence(self, decided: Sequence[Decision]) -> Sheet:
        """A judge's decisions on one response, in the room of one text."""
        fitting = decided[: max(1, self.room // ROW)]
        room = max(16, (self.room - ROW * len(fitting)) // (2 * len(fitting)))
        rows = [
            [
                one_line(each.criterion, 60),
                one_line(each.choice, 60),
                one_line(each.reason, room),
                one_line(each.quotation, room),
            ]
            for each in fitting
        ]
        heads = ["criterion", "decision", "the judge's reason", "what it quotes"]
        left_out = len(decided) - len(fitting)
        note = f"{left_out} more decisions are left out." if left_out else ""
        return Sheet("Evidence", heads, rows, note, words=heads[1:])


def _reference(sample: Sample) -> str:
    """A reference as the row has it."""
    reference = sample.reference
    if isinstance(reference, str):
        return reference
    try:
        return "none" if reference is None else json.dumps(reference, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return f"a {type(reference).__name__}"
