"""The tables and sentences of a card; Markdown and the page show the same.

A figure is followed by its interval. A dash is an unknown figure.

The card as Markdown. Strings from files are escaped and cannot leave their line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reward_functions.calibration.figures import AGREEMENT
from reward_functions.judge_runtime.usage import dollars
from reward_functions.reports.sheets import Sheet, escaped
from reward_functions.reports.statistics import LEVEL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.calibration.about import About
    from reward_functions.calibration.cases import LabelledCases
    from reward_functions.calibration.confusion import Way
    from reward_functions.calibration.figures import Figure, Figures
    from reward_functions.calibration.ratings import Ratings, Share


NOTHING: Final = "–"

FEW_PROMPTS: Final = 30
"""Prompts below which an interval by prompt is too narrow to be trusted."""


@dataclass(frozen=True, slots=True)
class Card:
    """A calibration.

    Args:
        about: the origin of the figures.
        cases: with the labels of people.
        ratings: of the judge.
        figures: of both.
    """

    about: About
    cases: LabelledCases
    ratings: Ratings
    figures: Figures

    @property
    def title(self) -> str:
        """The heading."""
        return f"Calibration of {self.about.judge}"

    @property
    def facts(self) -> list[tuple[str, str]]:
        """The settings of the measurement."""
        about = self.about
        parameters = ", ".join(f"{name}={value}" for name, value in about.parameters.items())
        return [
            ("Judge", f"{about.judge}, version {about.version}"),
            ("Parameters", parameters or "the defaults"),
            ("Models", ", ".join(about.models)),
            ("Instructions", about.instructions or "not known: the answers were recorded"),
            ("Cases", f"{self.figures.cases} of {len(self.cases.items)} in {about.file}"),
            ("Verdicts", self.ratings.measured.sentence),
            ("Prompts", str(self.figures.prompts)),
            ("Cases' hash", about.digest),
            ("Intervals", f"{LEVEL:.0%}, {about.draws} draws of prompts, seed {about.seed}"),
            ("Asked now", _asked(about)),
            ("Written", about.day),
        ]

    @property
    def warnings(self) -> list[str]:
        """Limits of the figures, in sentences."""
        warnings = []
        if self.ratings.missing:
            first = next(iter(self.ratings.missing.values()))
            count = len(self.ratings.missing)
            none = "trial has" if count == 1 else "trials have"
            warnings.append(f"{count} {none} no rating and count in no figure. The first: {first}")
        if self.figures.prompts < FEW_PROMPTS:
            count = self.figures.prompts
            narrow = f"Only {count} prompts: intervals are narrower than they should be."
            warnings.append("Only 1 prompt: no figure has an interval." if count == 1 else narrow)
        return warnings

    @property
    def outcome(self) -> str:
        """What came out, in one sentence."""
        found = self.figures.agreement["wrong"]["accuracy"]
        person = self.figures.ceiling
        beside = f"; a person does in {plain(person[0])}" if person else ""
        return (
            f"The judge agrees with the label in {shown(found)} of {self.figures.cases} cases"
            f"{beside}."
        )

    @property
    def sheets(self) -> list[Sheet]:
        """The tables, most important first."""
        return [
            sheet
            for sheet in (
                self._agreement(),
                self._people(),
                self._classes(),
                self._invalid(),
                self._consistency(),
                self._bias(),
                self._confidence(),
            )
            if sheet.rows
        ]

    def _agreement(self) -> Sheet:
        invalid, ways = self.figures.table.invalid, self.figures.agreement
        if not invalid:  # all ways are one
            ways = {"wrong": ways["wrong"]}
        rows = [
            [name, *[shown(values[name]) for values in ways.values()]]
            for name in AGREEMENT
            if name in ways["wrong"]
        ]
        rows.append(["cases", *[str(self._counted(way)) for way in ways]])
        heads = ["invalid verdicts", *map(counted_as, ways)]
        note = (
            f"{invalid} of {self.figures.cases} verdicts are invalid. How "
            "they count is a decision that moves every figure: wrong, as a class of their own; "
            "left out; or imputed, as "
            f"{'a tie' if self.cases.labels.kind == 'pair' else 'the worst class'}."
        )
        if not invalid:
            heads, note = ["figure", "the judge"], "No verdict is invalid."
        return Sheet("Agreement with the label", heads, rows, note)

    def _counted(self, way: str) -> int:
        left_out = self.figures.table.invalid if way == "left out" else 0
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
                f"agree on a case {plain(self.figures.between.value)} of the time. An invalid "
                "verdict of the judge agrees with nobody."
            )
        heads = ["person", "accuracy", "macro F1", "kappa", "judge's accuracy", "judge's kappa"]
        return Sheet("People against the label, and the judge against people", heads, rows, note)

    def _classes(self) -> Sheet:
        names = [self.cases.labels.name(label) for label in self.cases.classes]
        rows = [
            [f"people: {name}", *map(str, counts)]
            for name, counts in zip(names, self.figures.table.rows, strict=True)
        ]
        return Sheet(
            "Labels and ratings", ["label", *[f"judge: {name}" for name in names], "invalid"], rows
        )

    def _invalid(self) -> Sheet:
        rows = [
            [kind, str(count), f"{count / self.figures.cases:.1%}"]
            for kind, count in sorted(self.figures.invalid.items())
        ]
        return Sheet("Invalid verdicts", ["kind", "verdicts", "share"], rows)

    def _consistency(self) -> Sheet:
        consistency = self.figures.consistency
        rows = [
            row
            for name, share in (
                ("equal in both orders", consistency.orders),
                ("equal in its own two orders", consistency.own),
                ("equal when asked again", consistency.repeats),
                ("right, where the order did not matter", consistency.right_consistent),
                ("right, where it did", consistency.right_inconsistent),
            )
            for row in of(name, share)
        ]
        return Sheet("Consistency", ["answers", "of", "share"], rows)

    def _bias(self) -> Sheet:
        pairs = self.cases.labels.kind == "pair"
        rows = [
            [
                "position: towards the first response" if pairs else "leniency",
                shown(self.figures.bias, signed=True),
            ],
            ["length: for each doubling", shown(self.figures.length_bias, signed=True)],
        ]
        note = (
            "Both are judge minus people, on a scale from 0 to 1: the reward of position or length "
            "alone. An interval around 0 shows no bias."
        )
        return Sheet("Bias", ["bias", "judge minus people"], rows, note)

    def _confidence(self) -> Sheet:
        rows = [
            row
            for level, share in self.figures.confidence.items()
            for row in of(f"{level:g}", share)
        ]
        return Sheet("Right answers by the judge's confidence", ["confidence", "of", "share"], rows)


def counted_as(way: Way) -> str:
    """How invalid verdicts count, in words."""
    return f"as {way}" if way == "wrong" else way


def of(name: str, share: Share) -> Iterator[list[str]]:
    """A row for a share; none where its total is 0."""
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
    value = f"{figure.value:{sign}.3f}"
    if figure.interval is None:
        return value
    low, high = (f"{end:{sign}.3f}" for end in figure.interval)
    between = "–" if figure.interval.low >= 0 and not signed else " to "
    return f"{value} ({low}{between}{high})"


def _asked(about: About) -> str:
    """The calls of a run, and what they cost as far as that is known."""
    calls = "1 call" if about.calls == 1 else f"{about.calls:,} calls"
    cost = dollars(about.usd or 0.0, about.unpriced, "$")
    return f"{calls}, the cost is unknown" if cost == "unknown" else f"{calls}, {cost}"


def markdown(card: Card) -> str:
    """The whole card."""
    return "\n".join(_lines(card)) + "\n"


def _lines(card: Card) -> Iterator[str]:
    yield f"# {escaped(card.title)}"
    yield ""
    for warning in card.warnings:
        yield f"> {escaped(warning)}"
        yield ""
    for name, value in card.facts:
        yield f"- {name}: {escaped(value)}"
    for sheet in card.sheets:
        yield ""
        yield from sheet.markdown()
