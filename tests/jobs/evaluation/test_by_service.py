"""Rows of SageMaker's evaluation jobs, paired with the prompts that were sent."""

from __future__ import annotations

import pytest

from reward_functions.core.types import Message, Sample
from reward_functions.jobs.asking import chosen
from reward_functions.jobs.evaluation.by_service import UnknownRows, paired
from reward_functions.jobs.evaluation_jobs import EvaluatedRow


def prompts(count):
    samples = [
        Sample(id=str(at), messages=(Message("user", f"{at}?"),), reference="1")
        for at in range(count)
    ]
    return chosen(samples, [str(at) for at in range(count)], count, 0)


def results(ids):
    return [EvaluatedRow(name, float(at), {}) for at, name in enumerate(ids)]


def test_by_place_and_by_digest_in_any_order():
    asked = prompts(3)
    digests = [each.digest for each in asked]
    by_place = paired(results(["2", "0", "1"]), asked, "job")
    assert by_place == {digests[2]: 0.0, digests[0]: 1.0, digests[1]: 2.0}
    assert paired(results([digests[1]]), asked, "job") == {digests[1]: 0.0}


@pytest.mark.parametrize("ids", [[], ["0", "0"], ["3"], ["0", ""], ["00"], ["-1"], ["1", "x"]])
def test_rows_of_something_else_are_refused(ids):
    with pytest.raises(UnknownRows, match="are not of the rows that were sent"):
        paired(results(ids), prompts(3), "job")
