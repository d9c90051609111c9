"""What a card says, as tables and sentences: Markdown and the page show the same.

A figure is written with the interval behind it. What is not known is a dash.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reward_functions.tools.calibration.cases import TIE
from reward_functions.tools.calibration.figures import AGREEMENT
from reward_functions.tools.calibration.resampling import LEVEL
from reward_functions.tools.sheets import Sheet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.tools.calibration.about import About
    from reward_functions.tools.calibration.cases import Cases
    from reward_functions.tools.calibration.figures import Figure, Figures
    from reward_functions.tools.calibration.readings import Readings, Share

NOTHING: Final = "–"

FEW_PROMPTS: Final = 30
"""Prompts below which an interval by prompt is too narrow to be trusted."""


@dataclass(frozen=True, slots=True)
class Card:
    """All there is to say.

    Args:
        about: where it comes from.
        cases: what people said.
        readings: what the judge said.
        figures: of both.
    """

    about: About
    cases: Cases
    readings: Readings
    figures: Figures

    @property
    def title(self) -> str:
        """In a few words."""
        return f"Calibration of {self.about.judge}"

    @property
    def facts(self) -> list[tuple[str, str]]:
        """What was measured, with what."""
        about = self.about
        parameters = ", ".join(f"{name}={value}" for name, value in about.parameters.items())
        return [
            ("Judge", f"{about.judge}, version {about.version}"),
            ("Parameters", parameters or "the defaults"),
            ("Models", ", ".join(about.models)),
            ("Instructions", about.instructions or "not known: the answers were recorded"),
            ("Cases", f"{self.figures.cases} of {len(self.cases.items)} in {about.file}"),
            ("Prompts", str(self.figures.prompts)),
            ("Cases' hash", about.digest),
            ("Intervals", f"{LEVEL:.0%}, {about.draws} draws of prompts, seed {about.seed}"),
            ("Asked now", f"{about.calls} calls, ${about.usd:.4f}"),
            ("Written", about.day),
        ]

    @property
    def warnings(self) -> list[str]:
        """What the reader must know before the figures."""
        told = []
        if self.readings.missing:
            first = next(iter(self.readings.missing.values()))
            told.append(
                f"{len(self.readings.missing)} turns have no reading and are in no figure. The "
                f"first: {first}"
            )
        if self.figures.prompts < FEW_PROMPTS:
            told.append(
                f"Only {self.figures.prompts} prompts: intervals are narrower than they should be."
            )
        return told

    @property
    def sheets(self) -> list[Sheet]:
        """The tables, most important first."""
        return [
            sheet
            for sheet in (
                self._agreement(),
                self._people(),
                self._classes(),
                self._unusable(),
                self._steadiness(),
                self._leanings(),
                self._confidence(),
            )
            if sheet.rows
        ]

    def _agreement(self) -> Sheet:
        ways = self.figures.agreement
        rows = [
            [name, *[shown(told[name]) for told in ways.values()]]
            for name in AGREEMENT
            if name in ways["wrong"]
        ]
        rows.append(["cases", *[str(self._counted(way)) for way in ways]])
        note = (
            f"{self.figures.table.unusable} of {self.figures.cases} answers were not usable. How "
            "they are counted is a decision, and moves every figure: wrong, as a class of their "
            "own; left out; or imputed, as "
            f"{'a tie' if TIE in self.cases.classes else 'the worst class'}."
        )
        heads = ["unusable", *[f"as {way}" if way == "wrong" else way for way in ways]]
        return Sheet("Agreement with the label", heads, rows, note)

    def _counted(self, way: str) -> int:
        left_out = self.figures.table.unusable if way == "left out" else 0
        return self.figures.cases - left_out

    def _people(self) -> Sheet:
        rows = [
            [
                f"person {at}",
                *map(plain, (each.accuracy, each.macro_f1, each.kappa)),
                *map(plain, (each.judge_accuracy, each.judge_kappa)),
            ]
            for at, each in enumerate(self.figures.people, 1)
        ]
        note = ""
        if self.figures.ceiling:
            rows.append(["the ceiling", *map(plain, self.figures.ceiling), NOTHING, NOTHING])
            note = (
                "A person's own vote is in the label, so that the ceiling is high: two people "
                f"say the same of a case {plain(self.figures.between.value)} of the time. "
                "An unusable answer of the judge agrees with nobody."
            )
        heads = ["", "accuracy", "macro F1", "kappa", "judge's accuracy", "judge's kappa"]
        return Sheet("People against the label, and the judge against people", heads, rows, note)

    def _classes(self) -> Sheet:
        names = [self.cases.labels.name(label) for label in self.cases.classes]
        rows = [
            [f"people: {name}", *map(str, counts)]
            for name, counts in zip(names, self.figures.table.rows, strict=True)
        ]
        return Sheet(
            "What both said", ["", *[f"judge: {name}" for name in names], "unusable"], rows
        )

    def _unusable(self) -> Sheet:
        rows = [
            [why, str(count), f"{count / self.figures.cases:.1%}"]
            for why, count in sorted(self.figures.unusable.items())
        ]
        return Sheet("Answers that were not usable", ["why", "answers", "share"], rows)

    def _steadiness(self) -> Sheet:
        steady = self.figures.steadiness
        rows = [
            row
            for name, share in (
                ("the same in both orders", steady.orders),
                ("the same in its own two orders", steady.own),
                ("the same when asked again", steady.repeats),
                ("right, where the order did not matter", steady.right_steady),
                ("right, where it did", steady.right_unsteady),
            )
            for row in of(name, share)
        ]
        return Sheet("Steadiness", ["answers", "of", "share"], rows)

    def _leanings(self) -> Sheet:
        pairs = self.cases.labels.kind == "pair"
        rows = [
            [
                "towards the first response" if pairs else "towards leniency",
                shown(self.figures.lean, signed=True),
            ],
            ["for each doubling of length", shown(self.figures.length, signed=True)],
        ]
        note = (
            "Both are judge minus people, on a scale from 0 to 1: what a response gains by its "
            "place or its length and not by being better. An interval around 0 shows no leaning."
        )
        return Sheet("Leanings", ["", "judge minus people"], rows, note)

    def _confidence(self) -> Sheet:
        rows = [
            row
            for sure, share in self.figures.confidence.items()
            for row in of(f"confidence {sure:g}", share)
        ]
        return Sheet("Right answers by the judge's own confidence", ["", "of", "share"], rows)


def of(name: str, share: Share) -> Iterator[list[str]]:
    """A row for a share; none for a share of nothing."""
    if share.whole:
        yield [name, f"{share.part} of {share.whole}", f"{share.part / share.whole:.1%}"]


def plain(value: float | None) -> str:
    """A figure from 0 to 1."""
    return NOTHING if value is None else f"{value:.3f}"


def shown(figure: Figure, *, signed: bool = False) -> str:
    """A figure with its interval."""
    if figure.value is None:
        return NOTHING
    sign = "+" if signed else ""
    told = f"{figure.value:{sign}.3f}"
    if figure.interval is None:
        return told
    low, high = (f"{end:{sign}.3f}" for end in figure.interval)
    between = "–" if figure.interval.low >= 0 and not signed else " to "
    return f"{told} ({low}{between}{high})"
