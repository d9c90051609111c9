"""How much was measured, and the exit status that follows."""

import pytest

from reward_functions.reports.measured import INCOMPLETE, NOTHING, PASSED, Measured


@pytest.mark.parametrize(
    ("measured", "failed", "status", "sentence"),
    [
        (Measured("rows", 2), False, PASSED, "2 of 2 rows measured"),
        (Measured("rows", 2), True, INCOMPLETE, "2 of 2 rows measured"),
        (Measured("rows", 1, 1), False, INCOMPLETE, "1 of 2 rows measured"),
        (Measured("rows", 1, 1), True, INCOMPLETE, "1 of 2 rows measured"),
        (Measured("rows", 1_000, 0, 1_234), False, PASSED,
         "1,000 of 1,000 rows measured, 1,234 decided without a model"),
        (Measured("rows", 0, 3), True, NOTHING, "nothing was measured: 0 of 3 rows measured"),
        (Measured("rows", 0, 0, 5), False, NOTHING,
         "nothing was measured: 5 decided without a model"),
        (Measured("rows", 0), False, NOTHING, "nothing was measured: there are no rows"),
    ],
)  # fmt: skip
def test_the_status_follows_from_what_was_measured(measured, failed, status, sentence):
    assert measured.status(failed=failed) == status
    assert measured.sentence == sentence


def test_two_checks_of_a_kind_are_added():
    both = Measured("rows", 7, 5, 3) + Measured("rows", 40, 20, 10)
    assert both == Measured("rows", 47, 25, 13)
