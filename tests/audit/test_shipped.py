"""Every reward that ships can be trained on, or what it means is written down."""

import os

import pytest

from reward_functions import get, sample
from reward_functions.audit.engine import audit
from tests.audit.shipped import MEANT, RECORD, ROWS, SHIPPED, audited, committed, json

NIGHTLY = bool(os.environ.get("REWARD_TESTS_NIGHTLY"))

TRIED = dict.fromkeys(SHIPPED, ROWS) if NIGHTLY else {"exact_match": 200, "tag_count": ROWS}
"""Every night all of them; together they take minutes."""


@pytest.mark.parametrize("name", TRIED)
def test_every_gate_is_held_or_accepted_with_a_reason(name):
    done = audited(name, TRIED[name])
    accepted = {each.figure for each in done.gates if each.decision == "accepted"}
    assert (done.failures, done.status) == ([], 0)
    assert accepted == {each.id for each in MEANT if each.reward == name}


def test_the_record_holds_every_reward_at_its_version_with_exit_0():
    record = {each["reward"]: each for each in json.loads(RECORD.read_text())}
    assert list(record) == list(SHIPPED)
    assert {each["exit"] for each in record.values()} == {0}
    assert all(each["rows"] >= ROWS for each in record.values())
    for name, each in record.items():
        if SHIPPED[name].reward is None:
            assert each["version"] == str(get(name).version), f"{name}: audit it again"
        assert [*each["accepted"]] == [one.id for one in MEANT if one.reward == name]


def test_the_page_says_every_reason():
    page = committed()
    assert all(each.reason in page for each in MEANT)


def test_what_the_project_means_is_not_accepted_for_you():
    rows = [sample("", str(at), prompt=f"What is {at}?", id=f"r{at}") for at in range(1000, 1060)]
    done = audit("exact_match", rows, rows=60)
    decided = {each.figure: each.decision for each in done.gates}
    assert (decided["fn.layout"], decided["fn.value"], done.status) == ("broken", "broken", 1)
