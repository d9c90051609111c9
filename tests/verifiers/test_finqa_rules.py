"""Every row of the rule tables in docs/finqa.md holds, and names a function that is there."""

import re
from pathlib import Path

import pytest

from reward_functions import get
from reward_functions.testing import sample

PAGE = Path(__file__).parents[2] / "docs" / "finqa.md"


def rules():
    """The rows of every table of rules, as a mapping by its headings."""
    headings = []
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if cells and cells[0] == "rule":
            headings = cells
        elif not cells:
            headings = []
        elif headings and not set(line) <= set("|- "):
            yield dict(zip(headings, cells, strict=True))


RULES = list(rules())


def test_the_tables_are_found():
    assert len(RULES) > 35
    assert len({rule["rule"] for rule in RULES}) == len(RULES), "each rule stands once"


@pytest.mark.parametrize("rule", RULES, ids=[ascii(rule["rule"]) for rule in RULES])
def test_the_example_of_a_rule_holds(rule):
    answer, value, question, response = (
        rule[column].strip("`") for column in ("answer", "value", "question", "response")
    )
    reference = {"answer": answer, "exe_ans": value, "question": question}
    score = get("finqa")(sample(response, reference))
    assert score.value == float(rule["score"]), score.reason


@pytest.mark.parametrize("place", sorted({rule["where"] for rule in RULES}))
def test_a_rule_lives_where_the_page_says(place):
    name, path = re.fullmatch(r"\[`(\w+)`\]\((\S+)\)", place).groups()
    assert f"def {name}(" in (PAGE.parent / path).read_text()
