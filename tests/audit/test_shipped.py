"""Every reward that ships can be trained on, or what it means is written down."""

import os

import pytest

from reward_functions import get, sample
from reward_functions.audit.engine import audit
from reward_functions.audit.gates import SHIPPED as FILE
from reward_functions.audit.gates import acceptances
from tests.audit.shipped import RECORD, ROWS, SHIPPED, audited, committed, json

NIGHTLY = bool(os.environ.get("REWARD_TESTS_NIGHTLY"))

TRIED = dict.fromkeys(SHIPPED, ROWS) if NIGHTLY else {"exact_match": 200, "tag_count": ROWS}
"""Every night all of them; together they take minutes."""

MEANT = acceptances(FILE)


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


def test_a_reward_of_yours_with_the_name_of_a_shipped_one_is_accepted_nothing(tmp_path):
    file = tmp_path / "exact_match.py"
    file.write_text(
        "from reward_functions import Example, reward_function\n"
        "def right(sample):\n"
        "    return sample.reference\n"
        "@reward_function(version=1, gold_response=right, examples=[\n"
        "    Example('positive', response='1', reference='1', score=1.0),\n"
        "    Example('negative', response='2', reference='1', score=0.0),\n"
        "    Example('attack', response='1 or 2', reference='1', score=0.0)])\n"
        "def exact_match(sample):\n"
        "    '''Equal texts. Reference: a text. Scale: 0 or 1.'''\n"
        "    return sample.response == sample.reference\n"
    )
    rows = [sample("", str(at), prompt=f"Write {at}.", id=f"r{at}") for at in range(10, 30)]
    done = audit(str(file), rows, classes=["FN-LAYOUT"])
    assert {each.figure: each.decision for each in done.gates}["fn.layout"] == "broken"


def test_nobody_is_told_to_remove_what_ships():
    rows = [sample("", name, prompt="Who?", id=name) for name in ("Ada", "Emmy", "Sofya")]
    done = audit("exact_match", rows, classes=["FN-VALUE"], allow_undecided=True)
    assert [each for each in done.findings if each.id == "STALE"] == []
