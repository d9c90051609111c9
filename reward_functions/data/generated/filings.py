"""Records like FinQA's: a page of an invented annual report, a question, and its program.

The firms do not exist. Every page has as many questions as `QUESTIONS` has rows; the executed
answer is what the program computes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.finqa.program import execute, parse, rounded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from fractions import Fraction
    from random import Random

FIRMS: Final = {
    "QXNW": "northwind mills",
    "QXHB": "harbor light shipping",
    "QXGL": "glacier dairy",
    "QXOR": "orchard systems",
    "QXPL": "plateau rail",
    "QXTD": "tidewater power",
}
"""Invented, with invented tickers."""

ITEMS: Final = (
    "net sales",
    "cost of sales",
    "operating expenses",
    "interest expense",
    "income taxes",
    "store rent",
    "research and development",
    "depreciation",
    "capital expenditures",
    "cash from operations",
)

BEFORE: Final = (
    "the table presents data of {firm} for the years {new} and {old} ( in millions ) .",
    "selected data of {firm} are as follows for {new} and {old} ( dollars in millions ) .",
)

AFTER: Final = (
    "amounts of {old} were not restated .",
    "{firm} adopted no new accounting standard in {new} .",
    "the data should be read together with the notes of {firm} .",
)


class _Line(NamedTuple):
    """An item of a page in its two years."""

    item: str
    old: int
    new: int


class _Page(NamedTuple):
    old_year: int
    first: _Line
    second: _Line

    @property
    def years(self) -> dict[str, int]:
        return {"old": self.old_year, "new": self.old_year + 1}


class Question(NamedTuple):
    """A template: the question, its program, and how a person writes the answer."""

    text: str
    program: Callable[[_Page], str]
    written: Callable[[Fraction | str], str]


def _percent(value: Fraction | str) -> str:
    return f"{float(value) * 100:.1f}%"


def _figure(value: Fraction | str) -> str:
    return f"{float(value):.1f}".removesuffix(".0")


QUESTIONS: Final = (
    Question(
        "what was the percentage change in {item} from {old} to {new}?",
        lambda page: f"subtract({page.first.new}, {page.first.old}), divide(#0, {page.first.old})",
        _percent,
    ),
    Question(
        "what percent of {item} in {new} was {other}?",
        lambda page: f"divide({page.second.new}, {page.first.new})",
        _percent,
    ),
    Question(
        "what was the total of {item} and {other} in {new}, in millions?",
        lambda page: f"add({page.first.new}, {page.second.new})",
        _figure,
    ),
    Question(
        "what was the average {item} of {old} and {new}, in millions?",
        lambda page: f"add({page.first.old}, {page.first.new}), divide(#0, const_2)",
        _figure,
    ),
    Question(
        "was {item} greater in {new} than {other} in {old}?",
        lambda page: f"greater({page.first.new}, {page.second.old})",
        str,
    ),
)


def records(random: Random, page: int) -> Iterator[dict[str, Any]]:
    """The records of one page, in FinQA's shape.

    Args:
        random: draws.
        page: its number; no two pages share one.
    """
    ticker, firm = random.choice(list(FIRMS.items()))
    old = random.randint(2005, 2023)
    lines = [_line(item, random) for item in random.sample(ITEMS, 4)]
    content = _Page(old, *random.sample(lines, 2))
    filename = f"{ticker}/{old + 1}/page_{page}.pdf"
    words = {**content.years, "firm": firm}
    table = [["", str(old + 1), str(old)], *([x.item, f"$ {x.new:,}", f"{x.old:,}"] for x in lines)]
    for number, asked in enumerate(QUESTIONS, 1):
        text = asked.text.format(**words, item=content.first.item, other=content.second.item)
        program = asked.program(content)
        result = execute(parse(program), ())
        yield {
            "id": f"{filename}-{number}",
            "filename": filename,
            "pre_text": [random.choice(BEFORE).format(**words)],
            "post_text": [each.format(**words) for each in random.sample(AFTER, 2)],
            "table": table,
            "qa": {
                "question": text,
                "answer": asked.written(result),
                "exe_ans": rounded(result),
                "program": program,
            },
        }


def _line(item: str, random: Random) -> _Line:
    old = random.randint(150, 9000)
    return _Line(item, old, max(101, round(old * random.uniform(0.72, 1.38))))
