"""Records like GSM8K's: a story with small numbers, worked out in two or three steps.

A template is a row: the story, the range of each number, and the steps, which are computed. What is
drawn is drawn again until every result is a whole number above zero.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from random import Random

WHO: Final = "Ana Bilal Carmen Dimitri Esi Farah Goran Hana Ivo Jun Kemal Lucia Maya Nils".split()


class SumStep(NamedTuple):
    """One step: `result = left operator right`, and the sentence it is written in."""

    result: str
    left: str
    operator: str
    right: str
    sentence: str


class Story(NamedTuple):
    """A template. The result of its last step is the answer."""

    text: str
    ranges: Mapping[str, tuple[int, int]]
    steps: tuple[SumStep, ...]


STORIES: Final = (
    Story(
        "{who} bakes {a} trays of {b} rolls each and sells {c} of the rolls. How many rolls are "
        "left?",
        {"a": (6, 40), "b": (6, 24), "c": (15, 300)},
        (
            SumStep("made", "a", "*", "b", "{who} bakes {work} rolls."),
            SumStep("left", "made", "-", "c", "After the sale, {work} are left."),
        ),
    ),
    Story(
        "A ticket costs ${a}. {who} buys {b} of them and pays with {c} notes of $100. How many "
        "dollars does {who} get back?",
        {"a": (7, 60), "b": (2, 12), "c": (1, 8)},
        (
            SumStep("price", "a", "*", "b", "The tickets cost ${work}."),
            SumStep("paid", "c", "*", "hundred", "{who} pays ${work}."),
            SumStep("back", "paid", "-", "price", "So ${work} come back."),
        ),
    ),
    Story(
        "{who} reads {a} pages on Monday and {b} pages on each of the next {c} days. How many "
        "pages are that in all?",
        {"a": (10, 90), "b": (8, 70), "c": (2, 6)},
        (
            SumStep("later", "b", "*", "c", "On the later days {who} reads {work} pages."),
            SumStep("all", "later", "+", "a", "With Monday that makes {work} pages."),
        ),
    ),
    Story(
        "{a} apples are shared equally among {b} baskets, and {who} then takes {c} apples out of "
        "one basket. How many apples are left in that basket?",
        {"a": (24, 900), "b": (3, 30), "c": (1, 25)},
        (
            SumStep("each", "a", "/", "b", "Each basket gets {work} apples."),
            SumStep("left", "each", "-", "c", "In that basket {work} are left."),
        ),
    ),
    Story(
        "{who} earns ${a} an hour and works {b} hours a day. How many dollars does {who} earn in "
        "{c} days?",
        {"a": (9, 48), "b": (3, 9), "c": (2, 24)},
        (
            SumStep("day", "a", "*", "b", "A day earns ${work}."),
            SumStep("all", "day", "*", "c", "All days together earn ${work}."),
        ),
    ),
    Story(
        "A train has {a} coaches with {b} seats each. {c} seats are taken. How many are free?",
        {"a": (3, 16), "b": (40, 96), "c": (50, 900)},
        (
            SumStep("seats", "a", "*", "b", "The train has {work} seats."),
            SumStep("free", "seats", "-", "c", "Of these, {work} are free."),
        ),
    ),
    Story(
        "{who} saves ${a} a week for {b} weeks and then gets ${c} as a present. How many dollars "
        "does {who} have?",
        {"a": (4, 75), "b": (3, 40), "c": (5, 150)},
        (
            SumStep("saved", "a", "*", "b", "{who} saves ${work}."),
            SumStep("all", "saved", "+", "c", "With the present that is ${work}."),
        ),
    ),
    Story(
        "A tank holds {a} litres. {b} litres are added, and the whole is filled into cans of {c} "
        "litres. How many cans are filled?",
        {"a": (40, 900), "b": (10, 300), "c": (4, 25)},
        (
            SumStep("whole", "a", "+", "b", "There are {work} litres."),
            SumStep("cans", "whole", "/", "c", "They fill {work} cans."),
        ),
    ),
    Story(
        "{who} has {a} stamps, {b} fewer than a friend. How many stamps do the two have together?",
        {"a": (12, 800), "b": (3, 250)},
        (
            SumStep("friend", "a", "+", "b", "The friend has {work} stamps."),
            SumStep("both", "friend", "+", "a", "Together they have {work}."),
        ),
    ),
    Story(
        "A garden has {a} rows of {b} tulips and {c} rows of {d} roses. How many flowers is that?",
        {"a": (4, 30), "b": (5, 40), "c": (3, 25), "d": (4, 30)},
        (
            SumStep("tulips", "a", "*", "b", "There are {work} tulips."),
            SumStep("roses", "c", "*", "d", "There are {work} roses."),
            SumStep("all", "tulips", "+", "roses", "That makes {work} flowers."),
        ),
    ),
    Story(
        "{who} drives {a} km at {b} km an hour and then rests for {c} hours. How many hours does "
        "the journey take?",
        {"a": (60, 960), "b": (30, 120), "c": (1, 6)},
        (
            SumStep("drive", "a", "/", "b", "The drive takes {work} hours."),
            SumStep("all", "drive", "+", "c", "With the rest it is {work} hours."),
        ),
    ),
    Story(
        "A school orders {a} boxes of {b} pencils and gives {c} pencils to each of {d} classes. "
        "How many pencils are left?",
        {"a": (6, 40), "b": (12, 60), "c": (10, 60), "d": (3, 18)},
        (
            SumStep("ordered", "a", "*", "b", "{work} pencils are ordered."),
            SumStep("given", "c", "*", "d", "{work} are given away."),
            SumStep("left", "ordered", "-", "given", "{work} are left."),
        ),
    ),
)


def record(random: Random) -> dict[str, Any]:
    """A record of GSM8K's shape: `question` and `answer`, the solution ending in `#### n`."""
    while True:
        story = random.choice(STORIES)
        values = {name: random.randint(*ends) for name, ends in story.ranges.items()}
        worked = _worked(story, values | {"hundred": 100}, random.choice(WHO))
        if worked:
            return worked


def _worked(story: Story, values: dict[str, int], who: str) -> dict[str, Any] | None:
    """The record; None where a result is not a whole number above zero."""
    question = story.text.format(who=who, **values)
    lines = []
    for step in story.steps:
        left, right = values[step.left], values[step.right]
        result = _computed(left, step.operator, right)
        if result is None:
            return None
        sum_ = f"{left}{step.operator}{right}"
        lines.append(step.sentence.format(who=who, work=f"{sum_}=<<{sum_}={result}>>{result}"))
        values[step.result] = result
    solution = "\n".join(lines)
    return {"question": question, "answer": f"{solution}\n#### {values[story.steps[-1].result]}"}


def _computed(left: int, operator: str, right: int) -> int | None:
    if operator == "/":
        return left // right if left % right == 0 else None
    result = {"+": left + right, "-": left - right, "*": left * right}[operator]
    return result if result > 0 else None
