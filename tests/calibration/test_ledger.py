"""The ledger: what was paid for is read back, and nothing that belongs to another run is."""

import json

import pytest

from reward_functions.calibration.asking import AnswerLedger, Rating, Trial
from reward_functions.core.errors import ConfigurationError

RATINGS = [
    Rating(trial=Trial("a"), value=0.25, confidence=0.5, inconsistent=True),
    Rating(trial=Trial("a", swapped=True), value=1.0),
    Rating(trial=Trial("a", repeat=2), value=0.0, confidence=0.0, inconsistent=False),
    Rating(trial=Trial("b"), value=None, invalid="cut"),
]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.jsonl"


def written(path, ratings=RATINGS):
    with AnswerLedger(path, "setup", resume=False) as ledger:
        ledger.keep(ratings)


def given(path, setup="setup"):
    with AnswerLedger(path, setup, resume=True) as ledger:
        return list(ledger.given.values())


def test_readings_come_back_as_they_were(path):
    written(path)
    assert given(path) == RATINGS


def test_a_ledger_is_continued(path):
    written(path, RATINGS[:1])
    with AnswerLedger(path, "setup", resume=True) as ledger:
        ledger.keep(RATINGS[1:])
    assert given(path) == RATINGS


def test_a_ledger_that_is_there_is_not_overwritten(path):
    written(path)
    with pytest.raises(ConfigurationError, match="--resume"):
        AnswerLedger(path, "setup", resume=False)
    assert given(path) == RATINGS


def test_there_may_be_nothing_to_resume(path):
    assert given(path) == []
    assert json.loads(path.read_text())["setup"] == "setup"


@pytest.mark.parametrize("lost", range(1, 60))
def test_a_line_that_was_cut_off_is_asked_again(path, lost):
    written(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-lost])
    kept = given(path)
    assert kept == RATINGS[: len(kept)]
    assert len(kept) < len(RATINGS)
    with AnswerLedger(path, "setup", resume=True) as ledger:
        ledger.keep(RATINGS[len(kept) :])
    assert path.read_bytes() == whole


def test_a_file_whose_first_line_was_cut_off_is_begun_again(path):
    path.write_text('{"ledger": 1, "set')
    assert given(path) == []
    assert given(path) == []


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("[]", "line 6: not a rating"),
        ("not JSON", "line 6: not a rating"),
        ('{"case": "c", "swapped": false, "repeat": 0}', "line 6: not a rating"),
        ('{"case": "c", "swapped": false, "repeat": 0, "value": 2}', "line 6: not a rating"),
        ('{"case": "c", "swapped": false, "repeat": 0, "value": true}', "line 6: not a rating"),
        ('{"case": "c", "swapped": false, "repeat": 0, "value": NaN}', "line 6: not a rating"),
    ],
)
def test_a_line_that_is_no_rating_is_named(path, line, problem):
    written(path)
    with path.open("a") as file:
        file.write(f"{line}\n")
    with pytest.raises(ConfigurationError, match=problem):
        given(path)


def test_another_run_is_not_continued(path):
    written(path)
    with pytest.raises(ConfigurationError, match="belongs to another run"):
        given(path, "another")


def test_any_other_file_is_no_ledger(path):
    path.write_text('{"id": 1}\n')
    with pytest.raises(ConfigurationError, match="not the ledger"):
        given(path)
    assert path.read_text() == '{"id": 1}\n'
