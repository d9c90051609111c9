"""Every row of the rule tables in docs/math.md holds, and names a function that is there."""

import re
from pathlib import Path

import pytest

from reward_functions import get
from reward_functions.testing import sample

PAGE = Path(__file__).parents[2] / "docs" / "math.md"
CELL = re.compile(r"(?<!\\)\|")


def rules():
    """The rows of every table that has a rule, as a mapping by its headings."""
    headings = []
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in CELL.split(line)[1:-1]]
        if "rule" in cells and "reference" in cells:
            headings = cells
        elif not cells:
            headings = []
        elif headings and not set(line) <= set("|- "):
            yield dict(zip(headings, cells, strict=True))


RULES = list(rules())


def code(cell):
    """The text between the backticks of a cell."""
    return cell.strip("`").replace("\\|", "|")


def test_the_tables_are_found():
    assert len(RULES) > 40
    assert len({rule["rule"] for rule in RULES}) == len(RULES), "each rule stands once"


@pytest.mark.parametrize("rule", RULES, ids=[ascii(rule["rule"]) for rule in RULES])
def test_the_example_of_a_rule_holds(rule):
    prompt = code(rule.get("prompt", ""))
    response, reference = code(rule["response"]), code(rule["reference"])
    score = get("math")(sample(response, reference, prompt=prompt))
    assert score.value == float(rule["score"]), score.reason


@pytest.mark.parametrize("place", sorted({rule["where"] for rule in RULES}))
def test_a_rule_lives_where_the_page_says(place):
    name, path = re.fullmatch(r"\[`(\w+)`\]\((\S+)\)", place).groups()
    assert f"def {name}(" in (PAGE.parent / path).read_text()
