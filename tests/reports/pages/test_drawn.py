"""Each chart as it was drawn when somebody last looked at it: nothing moves unseen.

A change of the drawing is looked at, and then kept:

    python -m tests.reports.pages.test_drawn
"""

import re
from pathlib import Path

import pytest

from reward_functions import Scored, sample
from reward_functions.core.spec import Scale
from reward_functions.core.types import Score
from reward_functions.reports.pages.charts.drawing import side_by_side
from reward_functions.reports.pages.charts.plots import Bin, Course, Point, histogram, lines, points
from reward_functions.reports.pages.charts.rows import (
    Row,
    Span,
    matrix,
    spans,
    strips,
    tallies,
)
from reward_functions.reports.score_report import figures, tables
from reward_functions.reports.score_report.figures import Batch

DRAWN = Path(__file__).with_name("drawn")

STEPS = [(step, (step * 7 % 11) / 10) for step in range(1, 12)]
LATER = [(step + 20, value / 3) for step, value in STEPS[:4]]


def scored(values, lengths):
    """A batch of these rewards, each of a response of a length."""
    rows = [
        sample("x" * length, prompt=str(at % 5), id=str(at)) for at, length in enumerate(lengths)
    ]
    results = [Scored(str(at), Score(value)) for at, value in enumerate(values)]
    return Batch.of(rows, results, Scale(-1, 2))


def by_length(*lengths):
    """The chart of rewards by length."""
    batch = scored([(at * 7 % 13) / 13 for at in range(60)], [*lengths] * (60 // len(lengths)))
    return tables.length_chart(batch, figures.by_length(batch))


def narrow():
    """Bins of a value each, of which the counts of some have no room."""
    return [Bin(at / 40, at / 40, 1_000 * (at % 5)) for at in range(40)]


CHARTS = {
    "histogram": lambda: histogram(
        "Rewards.", [Bin(0, 0.25, 3), Bin(0.25, 0.5, 0), Bin(0.5, 1, 12)], x="reward", y="rows"
    ),
    "histogram-of-values": lambda: histogram("Rewards.", narrow(), x="reward", y="rows"),
    "histogram-of-two": lambda: histogram(
        "Rewards.", [Bin(-1, -1, 1), Bin(2, 2, 1)], x="reward", y="rows"
    ),
    "tallies": lambda: tallies(
        "Reasons.", [("the answer differs", 1_234), ("a very long reason " * 9, 40), ("none", 0)],
        x="rows",
    ),
    "lines": lambda: lines(
        "The reward.",
        [Course("tuned", STEPS), Course("base", LATER, "b")],
        x="step",
        y="reward",
        includes=(0, 1),
        title="reward by step",
    ),
    "lines-of-one": lambda: lines(
        "The loss.", [Course("loss", [(0.5, 2e-7), (1.5, 3e-7)])], x="epoch", y="loss"
    ),
    "points": lambda: points(
        "Lengths.",
        [Point(10, 0.5, 1, "one"), Point(40_000, 1.0, 9, "nine"), Point(900, 0.25, 4, "four")],
        x="characters",
        y="reward",
        through=[(10, 0.5), (40_000, 0.9)],
        includes=(0, 1),
        logarithmic=True,
    ),
    "points-of-one": lambda: points(
        "Lengths.", [Point(10, 0.5, 1, "one"), Point(12, 0.7, 1, "two")], x="characters", y="reward"
    ),
    "points-of-two": lambda: points(
        "Lengths.", [Point(10, 0.5, 1, "one"), Point(12, 0.7, 2, "two")], x="characters", y="reward"
    ),
    "spans": lambda: spans(
        "Agreement.",
        [
            Row("kappa", [Span(0.7, (0.5, 0.8)), Span(0.4, None, "b")], 0.6),
            Row("a very long name of a figure", [Span(0.1, (-0.2, 0.3), "b")]),
            Row("nothing", []),
        ],
        x="share",
        names={"a": "judge", "b": "people"},
        limit="the gate",
    ),
    "spans-alone": lambda: spans("Agreement.", [Row("kappa", [Span(0.7, (0.5, 0.8))])], x="share"),
    "spans-with-a-limit": lambda: spans(
        "Agreement.", [Row("kappa", [Span(0.7)], 0.6)], x="share", limit="the gate"
    ),
    "matrix": lambda: matrix(
        "Grades.", ["1", "2"], ["1", "2", "3"], [[9, 1, 0], [2, 1_000, 3]], down="judge",
        across="people",
    ),
    "matrix-wide": lambda: matrix(
        "Grades.", ["1"], [str(at) for at in range(20)], [list(range(20))], down="judge",
        across="people",
    ),
    "matrix-of-long-names": lambda: matrix(
        "Grades.", ["a very long name of a row " * 4, "b"], ["a very long name of a column " * 4],
        [[1], [0]], down="the judge of a very long name", across="people of a long name " * 20,
    ),
    "strips": lambda: strips(
        "Groups.", [("p", [0, 0, 0.5, 1]), ("q", []), ("r", [0.5])], x="reward", includes=(0, 1)
    ),
    "lengths": lambda: by_length(4, 5, 6),
    "lengths-of-all-sizes": lambda: by_length(4, 50, 4_000),
    "few-rewards": lambda: tables.rewards_chart(scored([0, 0.5, 0.5, 2], [1] * 4)),
    "many-rewards": lambda: tables.rewards_chart(scored([at / 40 for at in range(40)], [1] * 40)),
    "nothing": lambda: tallies("Reasons.", [], x="rows"),
    "side-by-side": lambda: side_by_side(
        "Two.",
        [
            histogram("One.", [Bin(0, 1, 3)], x="reward", y="rows"),
            tallies("Other.", [("a", 1)], x="rows"),
            strips("Third.", [("p", [0, 1])], x="reward"),
        ],
        columns=2,
    ),
}  # fmt: skip


def drawing(name):
    """A chart, an element a line."""
    return re.sub(r">\s*<", ">\n<", CHARTS[name]().html()) + "\n"


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_is_drawn_as_it_was(name):
    assert drawing(name) == (DRAWN / f"{name}.svg").read_text(encoding="utf-8")


def test_no_drawing_is_left_of_a_chart_that_is_gone():
    assert {path.stem for path in DRAWN.iterdir()} == {*CHARTS}


if __name__ == "__main__":
    DRAWN.mkdir(exist_ok=True)
    for each in CHARTS:
        (DRAWN / f"{each}.svg").write_text(drawing(each), encoding="utf-8")
