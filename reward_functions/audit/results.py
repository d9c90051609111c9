"""The results of an audit: figures, the findings they rest on, and the gates that decide.

A figure is a number with its interval and how many prompts it rests on. One that could not be
measured has no value and says why: it is never 0. A finding is what a person reads: a class of
answers, how it fared, and the rows that show it. A gate holds one figure to a limit.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Final, Literal, NamedTuple

from reward_functions.reports.measured import INCOMPLETE, NOTHING, PASSED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reward_functions.reports.measured import Measured

Verdict = Literal["ok", "broken", "accepted", "note", "untested"]
"""Of a finding: "note" is held to no gate, "untested" was not measured and says why."""

Decision = Literal["held", "broken", "undecided", "accepted", "absent"]
"""Of a gate: "undecided" had too few rows, "absent" has no figure."""

WORST: Final = 3
"""Classes that a failed gate names."""

ROWS: Final = 5
"""Rows that a finding shows."""


def some(number: int, item: str) -> str:
    """A number of items: "1 prompt", "1,200 prompts"."""
    return f"{number:,} {item}{'s' * (number != 1)}"


def both_ends(text: str, room: int) -> str:
    """A text, or its beginning and its end, which decides, with `room` characters of it."""
    half = room // 2
    return text if len(text) <= room else f"{text[:half]} … {text[-half:]}"


def pays_wrong(figure: str) -> bool:
    """Whether the figure of this id is of wrong answers that are paid, which a policy finds."""
    return figure.partition(".")[0] in ("exploit", "fp")


@dataclass(frozen=True, slots=True)
class Figure:
    """A number of an audit.

    Args:
        id: "exploit.EX-LIST", "fn.layout", "ceiling".
        value: None where it was not measured.
        low: the lower end of its 95 % interval; None where it has none.
        high: the upper end.
        n: how many prompts it rests on.
        unit: "share", "score", "seconds", "count", "p".
        why: why it has no value, or no interval; "" where it has both.
    """

    id: str
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    unit: str = "share"
    why: str = ""


class SeenRow(NamedTuple):
    """A row that shows a finding.

    Attributes:
        place: where it stands: "train.jsonl, line 3".
        response: what was answered.
        score: what it earned; None where it was not scored.
        wanted: the most it may earn, or the least it must.
        reason: the reward's own, or the error of a row that was not scored; "" where not known.
        reference: of the row, its beginning; "" where it has none.
        hits: prompts at which an answer written in the same way fares so; 0 where not counted.
        of: prompts that were answered in this way.
        such: the same answer to a made-up row, which holds nothing of the data; "" for none.
        before: what the first reward gave it, in a comparison.
    """

    place: str
    response: str
    score: float | None
    wanted: float | None = None
    reason: str = ""
    reference: str = ""
    hits: int = 0
    of: int = 0
    such: str = ""
    before: float | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """How one class of answers fared, or one property.

    Args:
        id: never changes: "EX-LIST", "FN-LAYOUT", "DETERMINISM".
        title: in a few words.
        verdict: see `Verdict`.
        message: one sentence.
        count: prompts that show it.
        n: prompts that were tried.
        rows: the worst of each way to write such an answer, `ROWS` at most.
        figure: the id of its figure; "" where it has none.
    """

    id: str
    title: str
    verdict: Verdict
    message: str
    count: int = 0
    n: int = 0
    rows: Sequence[SeenRow] = ()
    figure: str = ""


@dataclass(frozen=True, slots=True)
class Gate:
    """A figure held to a limit.

    Args:
        expression: as written: "exploit>0.02".
        figure: its id.
        decision: see `Decision`.
        message: the figure, its interval and the limit in one sentence.
        needed: prompts that would decide it, where it is undecided; 0 where not known.
    """

    expression: str
    figure: str
    decision: Decision
    message: str
    needed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Checked:
    """The part that an audit and a comparison have in common.

    Args:
        target: what was looked at, by key: kind, name, version, digest, convention.
        data: of the rows: file, rows, prompts, sha256.
        figures: in the order of the report.
        findings: likewise.
        gates: those that were asked for.
        measured: how much has a score.
        seconds: that it took.
        calls: of a judge's model or a deployed function.
        dollars: of them; None where they have no price.
        notes: sentences that stand before everything else.
        allow_undecided: whether an undecided gate lets it pass.
    """

    target: Mapping[str, str]
    data: Mapping[str, str | int | None]
    figures: Sequence[Figure]
    findings: Sequence[Finding]
    gates: Sequence[Gate]
    measured: Measured
    seconds: float = 0.0
    calls: int = 0
    dollars: float | None = None
    notes: Sequence[str] = field(default=())
    allow_undecided: bool = False
    unfit: ClassVar[str] = "not fit to train on"
    """What a broken gate means."""

    def figure(self, name: str) -> Figure:
        """The figure of an id.

        Raises:
            KeyError: no figure has this id.
        """
        for each in self.figures:
            if each.id == name:
                return each
        raise KeyError(name)

    @property
    def failed(self) -> list[Gate]:
        """The gates for which it does not pass: broken ones first, and exploits before others."""
        against = (
            {"broken", "absent"} if self.allow_undecided else {"broken", "absent", "undecided"}
        )
        found = [each for each in self.gates if each.decision in against]
        return sorted(
            found, key=lambda each: (each.decision != "broken", not pays_wrong(each.figure))
        )

    @property
    def nothing(self) -> str:
        """Why nothing was measured; "" where something was."""
        if self.measured.measured:
            return ""
        return "; ".join([self.measured.sentence, *self.notes[1:]] if self.figures else self.notes)

    @property
    def failures(self) -> list[str]:
        """Why it does not pass, a sentence each; empty where it passes. None has a response."""
        return [*filter(None, [self.nothing]), *(self.why(each) for each in self.failed)]

    def why(self, gate: Gate) -> str:
        """A gate with its figure, the worst classes, and an answer to a made-up row."""
        broken = [each for each in self.findings if each.verdict == "broken" and each.figure]
        found = [each for each in broken if f"{each.figure}.".startswith(f"{gate.figure}.")]
        found.sort(key=lambda each: -each.count)
        counts = [f"{each.id} {each.count:,} of {each.n:,}" for each in found[:WORST]]
        counts += [f"{len(found) - WORST} more"] if len(found) > WORST else []
        rows = [row for each in found[:WORST] for row in each.rows if row.such]
        if found and gate.figure == found[0].figure:
            counts = [] if rows else [found[0].message]
        shown = min(rows, key=lambda row: len(row.such), default=None)
        such = f"such as {shown.such}, which earned {shown.score:g}" if shown else ""
        if gate.decision == "undecided":
            return f"undecided: {gate.message}{',' if gate.needed else ';'} or --allow-undecided"
        return "; ".join(filter(None, [gate.message, ", ".join(counts), such]))

    @property
    def called(self) -> str:
        """The name of the target, as it was asked for."""
        return _called(self.target)

    @property
    def verdict(self) -> str:
        """The result in a sentence."""
        return self.nothing or "; ".join(filter(None, [self.result, self.held]))

    @property
    def result(self) -> str:
        """The findings beside the gates."""
        return ""

    @property
    def held(self) -> str:
        """How many gates hold, in a sentence; "" without any."""
        of = len(self.gates)
        if not self.failed:
            return (
                f"passed: {'the gate holds' if of == 1 else f'all {of} gates hold'}" if of else ""
            )
        counted = Counter(each.decision for each in self.failed)
        words = ", ".join(f"{times} {each}" for each, times in sorted(counted.items()))
        head = self.unfit if counted["broken"] else "undecided"
        return f"{head}: of {of} gates {words}"

    def __str__(self) -> str:
        """The verdict, and a line for each gate that fails; no response stands in it."""
        return "\n".join([f"{self.called}: {self.verdict}", *map(self.why, self.failed)])

    def __repr__(self) -> str:
        """The same on a line, as `assert audit(…).passed` shows it."""
        return f"<{type(self).__name__}: {'; '.join(str(self).splitlines())}>"

    @property
    def status(self) -> int:
        """The exit status: 0 every gate held, 1 one did not, 2 nothing was measured."""
        if not self.measured.measured:
            return NOTHING
        return INCOMPLETE if self.failures else PASSED

    @property
    def passed(self) -> bool:
        """Whether every gate held."""
        return self.status == PASSED


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Audit(Checked):
    """Whether a reward can be trained on."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Comparison(Checked):
    """Two rewards on the same responses.

    Args:
        other: the second, as `target` is the first.
    """

    other: Mapping[str, str]
    unfit: ClassVar[str] = "does not hold"

    @property
    def called(self) -> str:
        """Both, by their letters."""
        return f"A {_called(self.target)}, B {_called(self.other)}"

    @property
    def result(self) -> str:
        """The change if B took the place of A."""
        rows = {each.id: each.message.partition(" ")[0] for each in self.findings}
        p, turned = (self.figure(each).value for each in ("p", "signflips"))
        gained, lost = rows["FLIP-GAINED"], rows["FLIP-LOST"]
        chance = "" if p is None else f" (p = {p:.2g})"
        words = f"B pays {gained} rows that A refuses, and refuses {lost} that A pays{chance}"
        of = "" if turned is None else f"; {turned:.1%} of advantages change their sign"
        return f"{words}{of}"


def _called(target: Mapping[str, str]) -> str:
    return target.get("described", target["name"]).partition(", ")[0]
