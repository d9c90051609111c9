r"""Test a reward the way this project tests its own. Works under any test runner.

    from reward_functions.testing import assert_contract, assert_score

    def test_the_last_line_counts():
        assert_score(last_line, response="Hm.\nParis", reference="Paris", expected=1.0)

    def test_it_can_be_trusted():
        assert_contract(last_line)

`assert_contract` checks every property of `CONTRACT`; to see each as a test of its own, parametrise
over that mapping. All of it is deterministic.
"""

from reward_functions.testing.assertions import assert_score, wire_row
from reward_functions.testing.contract import CONTRACT, assert_contract
from reward_functions.testing.hostile import hostile_responses
from reward_functions.testing.models import CredulousAsk, FakeAsk

__all__ = [
    "CONTRACT",
    "CredulousAsk",
    "FakeAsk",
    "assert_contract",
    "assert_score",
    "hostile_responses",
    "wire_row",
]
