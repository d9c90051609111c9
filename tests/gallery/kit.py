"""The page kit itself: every part and every chart once, with plain words and with an enemy's."""

from dataclasses import replace
from random import Random

from reward_functions.reports.pages.charts.plots import Bin, Course, Point, histogram, lines, points
from reward_functions.reports.pages.charts.rows import (
    Row,
    Span,
    matrix,
    spans,
    strips,
    tallies,
)
from reward_functions.reports.pages.page import (
    Case,
    Concern,
    Listed,
    Page,
    Section,
    SideBySide,
    Warned,
)
from reward_functions.reports.sheets import Sheet
from tests.gallery.hostile import NAME, UNBROKEN

PLAIN = "a group of responses"
ANSWER = "The train needs 3 hours.\n\n    120 / 40 = 3\n\n#### 3"


def plain():
    """As its callers use it."""
    return _page(PLAIN, ANSWER)


def hostile():
    """Every string an enemy's, one of them without a place to break a line."""
    return _page(f"{NAME} {UNBROKEN}", f"{NAME}\n{UNBROKEN}\n" * 200)


def _page(name, text):
    sheet = Sheet(
        f"Table of {name}",
        [name, "responses", "mean reward", "what to do"],
        [[f"{name} {at}", f"{at * 1234:,}", f"{at / 7:.3f}", name] for at in range(5)],
        note=f"A note on {name}.",
        words=["what to do"],
    )
    case = Case(
        f"Case of {name}",
        facts=[("reward", "0.00"), ("reason", name)],
        texts=[("prompt", text), ("response", text)],
        tables=[sheet],
        links=[(f"The group of {name}", "group")],
    )
    found = replace(case, title=f"Found {name}", anchor="case")
    answers = [
        Case(f"{name} {at}", [("reward", f"{at % 2}")], quotations=[("response", text)])
        for at in range(6)
    ]
    group = SideBySide(f"Group of {name}", answers, "group", f"6 of {name}.", [("prompt", text)])
    return Page(
        f"Kit: {name}",
        lead=f"Every part and every chart of {name}.",
        warnings=[f"Only 3 prompts of {name}: intervals are wide."],
        facts=[("reward", "gsm8k, version 3"), (name, text)],
        sections=[
            Section("Counts", [f"A paragraph on {name}.", *_counts(name)]),
            Section("Courses", _courses(name)),
            Section("Comparisons", _comparisons(name)),
            Section("A table", [Warned(name), sheet, Listed(sheet, "rows", ["case", *[""] * 4])]),
            Section("Side by side", [group]),
            Section("Cases", [case, found, *[case] * 4]),
        ],
        concerns=[
            Concern("truncation", f"Much of {name} seems cut off."),
            Concern("labels", f"The labels say otherwise: {name}.", "A table"),
        ],
    ).html()


def _counts(name):
    bins = [
        Bin(at / 10, (at + 1) / 10, [5, 0, 0, 1, 4, 9, 200, 31, 0, 1200][at]) for at in range(10)
    ]
    two = [Bin(0.0, 0.0, 4521), Bin(1.0, 1.0, 95_479)]
    return [
        histogram(f"Rewards of {name}", bins, x="reward", y="responses", links=["rows"] * 10),
        histogram(f"Two rewards of {name}", two, x="reward", y="responses"),
        tallies(
            f"Reasons of {name}",
            [(name, 120), ("it differs", 7), ("cut", 0)],
            x="responses",
            links=["rows", "rows", ""],
        ),
        tallies("One reason", [(name, 1)], x="responses").captioned(f"One of {name}."),
    ]


def _courses(name):
    draws = Random(14)
    climb = [(step, min(1.0, step / 60 + draws.random() / 5)) for step in range(1, 61)]
    courses = [Course("training", climb), Course(name, climb[::10], "b")]
    return [
        lines(f"Course of {name}", courses, x="step", y="reward", includes=(0, 1), title=name),
        lines("One value", [Course("training", climb[:1])], x="step", y="reward"),
        lines("Huge values", [Course(name, [(1, -1e100), (2, 1e100)])], x="step", y="loss"),
    ]


def _comparisons(name):
    draws = Random(15)
    marks = [Point(2.0**at, draws.random(), at % 5 + 1, f"{name} {at}") for at in range(12)]
    groups = [
        (f"{name} {at}", [draws.choice([0.0, 0.5, 1.0]) for _ in range(8)]) for at in range(6)
    ]
    figures = [
        Row(name, [Span(0.7, (0.6, 0.8)), Span(0.75, (0.6, 0.9), "b")], 0.9),
        Row("kappa", [Span(-0.1, (-0.3, 0.2)), Span(0.1, (0.0, 0.2), "b")], 0.8),
    ]
    names = [name, "tie", "second"]
    grades = [str(grade) for grade in range(11)]
    table = [[abs(5 - abs(row - column)) for column in range(11)] for row in range(11)]
    return [
        points(
            f"Length of {name}", marks, x="characters", y="reward", through=[(1, 0.2), (2048, 0.9)]
        ),
        spans(
            f"Agreement of {name}",
            figures,
            x="agreement",
            names={"a": name, "b": "left out"},
            limit="a person",
        ),
        matrix(
            f"Labels of {name}",
            names,
            names,
            [[9, 1, 0], [2, 12, 1], [0, 0, 0]],
            down="label",
            across="judge",
            links=[["rows"] * 3, ["rows", "", "rows"], [""] * 3],
        ),
        matrix("Grades", grades, grades, table, down="label", across="judge"),
        strips(f"Groups of {name}", groups, x="reward", includes=(0, 1)),
    ]
