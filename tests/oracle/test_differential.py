"""`math` beside math-verify: every kind of disagreement has a verdict, every miss a reason."""

import logging
from collections import Counter

import pytest

from tests.oracle import suites
from tests.oracle.verdicts import (
    MISSES,
    VERDICTS,
    Departure,
    departures,
    family_of,
    miss_of,
    misses,
    rows_of,
)

ADVICE = "python -m tests.oracle prints what to change"


@pytest.fixture(scope="module")
def found():
    """Every departure of one run over our own cases."""
    logging.disable()
    try:
        return list(departures())
    finally:
        logging.disable(logging.NOTSET)


def departure_of(row):
    """The row without the sentence that explains it."""
    return Departure(**{name: row[name] for name in Departure.__annotations__})


def test_there_are_cases_of_many_kinds():
    cases = suites.differential()
    assert len(cases) >= 150
    assert len({case.kind for case in cases}) >= 20
    assert len({(case.gold, case.response) for case in cases}) == len(cases)


def test_every_kind_of_disagreement_has_a_verdict(found):
    listed = {family_of(row) for row in rows_of(VERDICTS)}
    for departure in found:
        print(departure)
    assert [each for each in found if each.family not in listed] == [], ADVICE


def test_every_verdict_is_still_needed_and_its_example_true(found):
    listed = map(departure_of, rows_of(VERDICTS))
    assert [each for each in listed if each not in found] == [], ADVICE


@pytest.mark.parametrize(("table", "key"), [(VERDICTS, family_of), (MISSES, miss_of)])
def test_every_row_stands_once_and_gives_its_reason(table, key):
    rows = rows_of(table)
    assert set(Counter(map(key, rows)).values()) <= {1}
    for row in rows:
        assert row["verdict"] in ("rule", "gap", "label")
        assert row["why"]
        assert row["source"]


def test_every_miss_on_other_projects_labels_is_explained(shared):
    listed, missed = {miss_of(row) for row in rows_of(MISSES)}, set(misses())
    assert missed - listed == set(), ADVICE
    assert listed - missed == set(), f"these are no misses any more; {ADVICE}"
