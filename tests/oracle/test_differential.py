"""`math` beside math-verify: every kind of disagreement has a verdict, every miss a reason."""

import json
import logging
from collections import Counter

import pytest

from tests.oracle import suites
from tests.oracle.verdicts import (
    MISSES,
    VERDICTS,
    departures,
    explained_misses,
    misses,
    verdicts,
)


@pytest.fixture(scope="module")
def found():
    """Every departure of one run over our own cases."""
    logging.disable()
    try:
        return list(departures())
    finally:
        logging.disable(logging.NOTSET)


def test_there_are_cases_of_many_kinds():
    cases = suites.differential()
    assert len(cases) >= 150
    assert len({case.kind for case in cases}) >= 20
    assert len({(case.gold, case.response) for case in cases}) == len(cases)


def test_every_kind_of_disagreement_has_a_verdict(found):
    listed = {departure.family for departure, _ in verdicts()}
    for departure in found:
        print(departure)
    missing = [departure for departure in found if departure.family not in listed]
    assert not missing, "see python -m tests.oracle"


def test_every_verdict_is_still_needed_and_its_example_true(found):
    stale = [departure for departure, _ in verdicts() if departure not in found]
    assert not stale, "see python -m tests.oracle"


def test_one_row_speaks_for_each_kind():
    families = Counter(departure.family for departure, _ in verdicts())
    assert set(families.values()) <= {1}


@pytest.mark.parametrize("table", [VERDICTS, MISSES], ids=lambda path: path.stem)
def test_every_verdict_gives_its_reason(table):
    for row in map(json.loads, table.read_text().splitlines()):
        assert row["verdict"] in ("rule", "gap", "label")
        assert row["why"]
        assert row["source"]


def test_every_miss_on_other_projects_labels_is_explained(shared):
    told, missed = explained_misses(), set(misses())
    assert missed - told.keys() == set(), "see python -m tests.oracle"
    assert told.keys() - missed == set(), "these are no misses any more"
