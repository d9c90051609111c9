"""The card of a calibration: its verdict, origin, tables and charts; Markdown, a page, JSON.

A figure is followed by its interval. A dash is an unknown figure. A card may show a second judge on
the same cases. The page alone holds texts of the cases, where the judge and people disagree.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from reward_functions.calibration.beside import with_models
from reward_functions.calibration.disagreeing import (
    Disagreement,
    disagreeing_parts,
    disagreeing_sheet,
    disagreements,
)
from reward_functions.calibration.figures import AGREEMENT
from reward_functions.calibration.fitness import FEW_PROMPTS, Fitness, concerns, fitness
from reward_functions.core.means import mean
from reward_functions.judge_runtime.usage import dollars
from reward_functions.reports.pages.charts.drawing import SERIES
from reward_functions.reports.pages.charts.plots import Point, points
from reward_functions.reports.pages.charts.rows import Row, Span, matrix, spans, tallies
from reward_functions.reports.pages.page import Concern, Page, Section, worst_first
from reward_functions.reports.sheets import Sheet, escaped, markdown_document, quotes
from reward_functions.reports.statistics import LEVEL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from reward_functions.calibration.asking import Ratings, Tally
    from reward_functions.calibration.beside import BesideJudge
    from reward_functions.calibration.cases import LabelledCases
    from reward_functions.calibration.figures import CardFigure, Figures, Way
    from reward_functions.core.spec import RewardSpec
    from reward_functions.reports.pages.charts.drawing import Chart
    from reward_functions.reports.pages.page import Part

SHORT: Final = 12
"""Characters of a hash in the name of a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """Where the figures come from.

    Args:
        judge: the reward's name.
        version: of the reward.
        parameters: its settings.
        models: that answered.
        instructions: a hash of the judge's prompt, rubric and verdict fields; "" for recorded
            answers, whose instructions are unknown.
        digest: a hash of the cases.
        setup: a hash of everything a rating depends on: the judge, its instructions, its models,
            the cases. A run can be resumed where it is the same.
        day: on which the card was written.
        file: of the cases.
        seed: of the bootstrap.
        draws: of the bootstrap.
        calls: made in this run, without those of earlier runs in its ledger.
        usd: dollars they cost, as far as prices are known; None where none is.
        unpriced: those of a model whose price is unknown.
    """

    judge: str
    version: int
    parameters: Mapping[str, Any]
    models: Sequence[str]
    instructions: str
    digest: str
    setup: str
    day: str
    file: str = ""
    seed: int = 0
    draws: int = 0
    calls: int = 0
    usd: float | None = 0.0
    unpriced: int = 0

    @property
    def stem(self) -> str:
        """The name of the card's files, without the ending."""
        return f"{self.judge}-{self.setup[:SHORT]}"


def about(
    spec: RewardSpec,
    parameters: Mapping[str, Any],
    cases: LabelledCases,
    *,
    models: Sequence[str],
    instructions: str,
    answers: Any,
) -> About:
    """The origin of figures.

    Args:
        spec: the judge.
        parameters: its settings.
        cases: with labels by people.
        models: that answer.
        instructions: the hash of the judge's instructions; "" where they are unknown.
        answers: the settings that decide the models' answers, as JSON data.
    """
    decisive = [spec.name, spec.version, dict(parameters), instructions, answers, cases.digest]
    return About(
        judge=spec.name,
        version=spec.version,
        parameters=parameters,
        models=models,
        instructions=instructions,
        digest=cases.digest,
        setup=sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest(),
        day=datetime.now(UTC).date().isoformat(),
    )


NOTHING: Final = "–"

CONSISTENT: Final = {
    "both orders": "equal in both orders",
    "own orders": "equal in its own two orders",
    "asked again": "equal when asked again",
    "right where consistent": "right, where the order did not matter",
    "right where not": "right, where it did",
}
"""What a reader is told, by the name in the JSON."""


@dataclass(frozen=True, slots=True)
class Card:
    """A calibration.

    Args:
        about: the origin of the figures.
        cases: with the labels of people.
        ratings: of the judge.
        figures: of both.
        beside: a second judge on the same cases; None for none.
    """

    about: About
    cases: LabelledCases
    ratings: Ratings
    figures: Figures
    beside: BesideJudge | None = None

    @property
    def title(self) -> str:
        """The heading."""
        other = f" beside {self.beside.called}" if self.beside else ""
        return f"Calibration of {self.about.judge}{other}"

    @property
    def called(self) -> str:
        """The judge and its models."""
        return with_models(self.about.judge, self.about.models)

    @property
    def fitness(self) -> Fitness:
        """Whether the judge is fit to train on."""
        return fitness(self.figures, len(self.ratings.missing))

    @property
    def verdict(self) -> str:
        """The same as a sentence, and the same of a second judge."""
        mine = str(self.fitness)
        first = f"{mine[:1].upper()}{mine[1:]}."
        if self.beside is None:
            return first
        theirs = fitness(self.beside.figures, self.beside.missing)
        apart = self.beside.differences["kappa"]
        less = "" if apart.value is None else f"; the difference is {shown(apart, signed=True)}"
        return f"{first} Beside it, {self.beside.called} is {theirs}{less}."

    @property
    def disagreements(self) -> list[Disagreement]:
        """The cases in which the judge and people disagree, the furthest apart first."""
        return disagreements(self.cases, self.ratings)

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
    def concerns(self) -> list[Concern]:
        """Findings beside the verdict, and limits of the figures; the worst first."""
        found = []
        if self.ratings.missing:
            first = next(iter(self.ratings.missing.values()))
            count = len(self.ratings.missing)
            none = "trial has" if count == 1 else "trials have"
            words = f"{count} {none} no rating and count in no figure. The first: {first}"
            found.append(Concern("unscored", words))
        if self.figures.prompts < FEW_PROMPTS:
            count = self.figures.prompts
            narrow = f"Only {count} prompts: intervals are narrower than they should be."
            words = "Only 1 prompt: no figure has an interval." if count == 1 else narrow
            found.append(Concern("other", words))
        found += concerns(self.figures, pairs=self.cases.labels.kind == "pair")
        return worst_first(found)

    @property
    def warnings(self) -> list[str]:
        """The same as sentences."""
        return [each.words for each in self.concerns]

    @property
    def outcome(self) -> str:
        """The agreement with the label, in one sentence."""
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
                *(_two_judges(self, self.beside) if self.beside else ()),
                disagreeing_sheet(self.cases, self.disagreements, self.beside),
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
        rows = [
            row
            for name, share in self.figures.consistency.items()
            for row in of(CONSISTENT[name], share)
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


WHO_IS_RIGHT: Final = ("both", "the first alone", "the second alone", "neither")
"""As in the JSON."""

RIGHT: Final = ("both", "the judge alone", "the other judge alone", "neither")
"""The same in words for a reader: the judge and the other judge."""


def _two_judges(card: Card, other: BesideJudge) -> Iterator[Sheet]:
    """The figures of both, and who is right where."""
    rows = [
        [
            name,
            *(shown(each.agreement["wrong"][name]) for each in (other.first, other.figures)),
            shown(other.differences[name], signed=True) if name in other.differences else NOTHING,
        ]
        for name in AGREEMENT
        if name in other.first.agreement["wrong"]
    ]
    rows += [
        [name, *(shown(each, signed=True) for each in both), NOTHING]
        for name, both in {
            "bias": (other.first.bias, other.figures.bias),
            "length bias": (other.first.length_bias, other.figures.length_bias),
        }.items()
    ]
    yield Sheet(
        "Two judges",
        ["figure", "the judge", "the other judge", "difference"],
        rows,
        note=f"The judge is {card.called}; the other is {other.called}, from {other.file}. Over "
        f"the {other.first.cases:,} cases that both rated; invalid verdicts count as wrong.",
        spare=("difference",),
    )
    of = sum(other.counts)
    yield Sheet(
        "Who is right",
        ["right", "cases", "share"],
        [
            [name, f"{count:,}", f"{count / of:.1%}"]
            for name, count in zip(RIGHT, other.counts, strict=True)
        ],
        note=f"p = {other.p:.2g} (sign-flip test by prompt): the smaller, the less likely that "
        "both are right equally often.",
    )


def counted_as(way: Way) -> str:
    """How invalid verdicts count, in words."""
    return f"as {way}" if way == "wrong" else way


def of(name: str, share: Tally) -> Iterator[list[str]]:
    """A row for a share; none where its total is 0."""
    if share.whole:
        yield [name, f"{share.part} of {share.whole}", f"{share.part / share.whole:.1%}"]


def plain(value: float | None) -> str:
    """A figure from 0 to 1."""
    return NOTHING if value is None else f"{value:.3f}"


def shown(figure: CardFigure, *, signed: bool = False) -> str:
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
    """The whole card; strings from files are escaped and cannot leave their line."""
    paragraphs = [f"**{escaped(card.verdict)}**", escaped(card.outcome), *quotes(card.warnings)]
    return markdown_document(card.title, paragraphs, card.facts, card.sheets)


def record(card: Card) -> dict[str, Any]:
    """Everything on the card, as JSON data."""
    figures = card.figures
    names = [card.cases.labels.name(label) for label in card.cases.classes]
    return {
        **asdict(card.about),
        "verdict": card.fitness.fit,
        "why": card.fitness.why,
        "cases": figures.cases,
        "prompts": figures.prompts,
        "missing": len(card.ratings.missing),
        "measured": asdict(card.ratings.measured),
        "classes": names,
        "confusion": [list(row) for row in figures.table.rows],
        "agreement": {
            way: {name: figure._asdict() for name, figure in values.items()}
            for way, values in figures.agreement.items()
        },
        "invalid": dict(figures.invalid),
        "people": [person._asdict() for person in figures.people],
        "ceiling": dict(zip(("accuracy", "macro F1", "kappa"), figures.ceiling, strict=True))
        if figures.ceiling
        else None,
        "between people": _share(figures.between),
        "bias": figures.bias._asdict(),
        "length bias": figures.length_bias._asdict(),
        "consistency": {name: _share(share) for name, share in figures.consistency.items()},
        "confidence": {f"{level:g}": _share(share) for level, share in figures.confidence.items()},
        "beside": _beside(card.beside),
        "verdicts": [
            {"case": case.id, "label": case.label, "value": rating.value, "invalid": rating.invalid}
            for case in card.cases.items
            if (rating := card.ratings.first(case.id))
        ],
    }


def _beside(other: BesideJudge | None) -> dict[str, Any] | None:
    """A second judge as JSON data."""
    if other is None:
        return None
    theirs = fitness(other.figures, other.missing)
    return {
        "judge": other.called,
        "file": other.file,
        "verdict": theirs.fit,
        "why": theirs.why,
        "cases": other.first.cases,
        "missing": other.missing,
        "agreement": {
            name: figure._asdict() for name, figure in other.figures.agreement["wrong"].items()
        },
        "differences": {name: each._asdict() for name, each in other.differences.items()},
        "right": dict(zip(WHO_IS_RIGHT, other.counts, strict=True)),
        "p": other.p,
    }


def _share(share: Tally) -> dict[str, Any]:
    return share._asdict() | {"share": share.value}


BINS: Final = 8
"""Marks of the chart of length: each is the mean of as many cases as the others."""

LEAST_REACH: Final = 0.1
"""Of the difference between judge and people: a smaller one looks as small as it is."""


def agreement(figures: Figures) -> Chart:
    """A row for every figure; ways of counting invalid verdicts that agree are one series."""
    series = _series(figures)
    rows = [
        Row(
            name,
            [
                Span(figure.value, figure.interval, key)
                for key, (values, _) in series.items()
                if (figure := values[name]).value is not None
            ],
            dict(zip(("accuracy", "macro F1", "kappa"), figures.ceiling or (), strict=False)).get(
                name
            ),
        )
        for name in AGREEMENT
        if name in figures.agreement["wrong"]
    ]
    return spans(
        "Agreement of the judge with the label, with 95% intervals",
        rows,
        x="agreement with the label: 1 is perfect; kappa 0 is chance",
        names={key: name for key, (_, name) in series.items()},
        limit="a person, their own vote included" if figures.ceiling else "",
    )


def _series(figures: Figures) -> dict[str, tuple[Mapping[str, CardFigure], str]]:
    """The figures and the name of each series, by its key."""
    kinds: list[tuple[Mapping[str, CardFigure], list[Way]]] = []
    for way, values in figures.agreement.items():
        same = next((ways for known, ways in kinds if known == values), None)
        if same is None:
            kinds.append((values, [way]))
        else:
            same.append(way)
    if len(kinds) == 1:
        return {SERIES[0]: (kinds[0][0], "the judge")}
    return {
        key: (values, f"invalid {', '.join(map(counted_as, ways))}")
        for key, (values, ways) in zip(SERIES, kinds, strict=False)
    }


def both(cases: LabelledCases, figures: Figures) -> Chart:
    """Labels down, ratings across; a cell is darker the larger its share of the row."""
    names = [cases.labels.name(label) for label in cases.classes]
    return matrix(
        "Cases by the label of people and the verdict of the judge",
        names,
        [*names, "invalid"],
        figures.table.rows,
        down="people",
        across="judge",
    )


def length(figures: Figures) -> Chart | None:
    """Judge minus people against length: means of equally many cases, and the line of all.

    None where every case has one length, or none has a valid verdict.
    """
    slope = figures.length_bias.value
    if slope is None:
        return None
    listed = sorted(figures.points)
    bins = list(_bins(listed))
    reach = max(LEAST_REACH, *(abs(each.y) for each in bins))
    mean_x, mean_y = (mean(column) for column in zip(*listed, strict=True))
    ends = (bins[0].x, bins[-1].x)
    return points(
        "Judge minus people, by length: means of equally many cases, and the line of all cases",
        bins,
        x="length in doublings: +1 is twice as many characters",
        y="judge minus people; 0 is no bias",
        through=[(x, max(-reach, min(reach, mean_y + slope * (x - mean_x)))) for x in ends],
        includes=(-reach, reach),
    )


def _bins(listed: Sequence[tuple[float, float]]) -> Iterator[Point]:
    """The mean points of equally many neighbours."""
    count = min(BINS, len(listed))
    for at in range(count):
        some = listed[at * len(listed) // count : (at + 1) * len(listed) // count]
        x, y = (mean(column) for column in zip(*some, strict=True))
        yield Point(x, y, words=f"length {x:+.1f} doublings, {len(some)} cases: {y:+.3f}")


def two_judges(first: str, other: BesideJudge | None) -> Chart | None:
    """A row for every figure of agreement, both judges in it; None of a single judge."""
    if other is None:
        return None
    rows = [
        Row(
            name,
            [
                Span(figure.value, figure.interval, series)
                for series, each in zip(SERIES, (other.first, other.figures), strict=False)
                if (figure := each.agreement["wrong"][name]).value is not None
            ],
        )
        for name in AGREEMENT
        if name in other.first.agreement["wrong"]
    ]
    return spans(
        "Agreement of both judges with the label, with 95% intervals",
        rows,
        x="agreement with the label: 1 is perfect; kappa 0 is chance",
        names=dict(
            zip(SERIES, (f"the judge: {first}", f"the other: {other.called}"), strict=False)
        ),
    )


SETTINGS: Final = ("setting", "is")


def who_is_right(other: BesideJudge | None) -> Chart | None:
    """A bar for each way in which two judges are right; None of a single judge."""
    if other is None:
        return None
    counts = list(zip(RIGHT, other.counts, strict=True))
    return tallies("Cases by who of two judges is right", counts, x="cases")


CHARTS: Final[Mapping[str, Callable[[Card], Chart | None]]] = {
    "Agreement with the label": lambda card: agreement(card.figures),
    "Two judges": lambda card: two_judges(card.called, card.beside),
    "Who is right": lambda card: who_is_right(card.beside),
    "Labels and ratings": lambda card: both(card.cases, card.figures),
    "Bias": lambda card: length(card.figures),
}
"""By the title of the table that they show."""

WITHIN: Final[Mapping[str, str]] = {
    "Labels and ratings": "Agreement with the label",
    "Who is right": "Two judges",
    "Right answers by the judge's confidence": "Consistency",
    "Invalid verdicts": "Consistency",
}
"""Tables that stand in the section of another, by their title."""


KEY_FACTS: Final = ("Judge", "Parameters", "Models", "Cases", "Written")
"""Facts that stand in the page's head."""


def page(card: Card, failures: Sequence[str] = ()) -> Page:
    """The whole page: the verdict first, then what is wrong beside it.

    Args:
        card: what is shown.
        failures: why a gate does not hold, a sentence each.
    """
    known = {sheet.title for sheet in card.sheets}
    drawn: dict[str, list[Part]] = {}
    tables: dict[str, list[Part]] = {}
    for sheet in card.sheets:
        place = WITHIN.get(sheet.title, sheet.title)
        place = place if place in known else sheet.title
        chart = CHARTS[sheet.title](card) if sheet.title in CHARTS else None
        drawn.setdefault(place, []).extend([chart] if chart else [])
        tables.setdefault(place, []).append(sheet)
    sections = {title: [*drawn[title], *tables[title]] for title in tables}
    found = card.disagreements
    if found:
        of = f"{len(found):,} of {card.figures.cases:,} verdicts disagree with the label."
        sections["Where they disagree"] = [of, *disagreeing_parts(card.cases, found, card.beside)]
    sections["Settings"] = [Sheet("Settings", SETTINGS, card.facts, words=SETTINGS)]
    fit = card.fitness.fit == "fit"
    verdict = Concern("failed", card.verdict, "Agreement with the label")
    return Page(
        card.title,
        f"{card.verdict} {card.outcome}" if fit else card.outcome,
        card.warnings if fit else (),
        facts=[each for each in card.facts if each[0] in KEY_FACTS],
        failures=failures,
        sections=[Section(title, parts) for title, parts in sections.items()],
        concerns=() if fit else [verdict, *card.concerns],
    )
