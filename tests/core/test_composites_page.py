"""What docs/composites.md says of the commonest composites is what they are."""

import re
from ast import literal_eval
from pathlib import Path

import pytest

from reward_functions import weighted

PAGE = (Path(__file__).parents[2] / "docs/composites.md").read_text(encoding="utf-8")

ROWS = re.findall(r"(?m)^\| ([^|]+) \| `(\{[^|]+\})` \| ([\d.]+) \|$", PAGE)


@pytest.mark.parametrize(("what", "parts", "most"), ROWS, ids=[row[0] for row in ROWS])
def test_a_composite_of_the_page_is_proven_and_pays_an_incorrect_response_no_more(
    what, parts, most
):
    made = weighted(literal_eval(parts), name="made", version=1)
    assert made.partial_credit == pytest.approx(float(most)), what


def test_all_of_them_are_found():
    assert len(ROWS) == 3
