"""A deployed version as a scorer: its batches, its scale, its failures, and reasons from here."""

import json

import pytest

from reward_functions import sample, score_batch
from reward_functions.aws.arn import FunctionArn
from reward_functions.aws.deployed import scorer
from reward_functions.aws.deployed.function import BrokenContract, FunctionError
from reward_functions.aws.deployed.scorer import VersionScorer, scorer_named
from reward_functions.core.registry import get
from reward_functions.core.types import Scored, Unscored
from reward_functions.testing import wire_row
from tests.aws.deployed.test_versions import ARN, RECORD

GSM8K = get("gsm8k")
HERE = RECORD.model_copy(update={"version": GSM8K.version})
VERSION = FunctionArn.parse(f"{ARN}:7")
SAMPLES = [sample(f"#### {at}", f"{at % 3}", id=f"own {at}") for at in range(6)]


class Function:
    """The deployed version, which fails on some batches."""

    def __init__(self, *failures):
        self.failures, self.asked = list(failures), []

    def score(self, samples):
        self.asked.append([each.id for each in samples])
        failure = self.failures.pop(0) if self.failures else None
        if failure:
            raise failure
        return score_batch(GSM8K, samples)


def made(function=None, deployed=HERE):
    found = VersionScorer(VERSION, deployed)
    vars(found)["function"] = function or Function()
    return found


def test_samples_are_scored_in_batches_under_ids_of_their_place(monkeypatch):
    monkeypatch.setattr(scorer, "BATCH", 4)
    function, steps = Function(), []
    found = made(function).score(SAMPLES, steps.append)
    assert [each.id for each in found] == [each.id for each in SAMPLES]
    assert [each.score.value for each in found] == [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    assert function.asked == [["000000", "000001", "000002", "000003"], ["000000", "000001"]]
    assert steps == [4, 2]
    assert made().score([]) == []


@pytest.mark.parametrize("more", [0, 1])
def test_a_batch_has_so_many_bytes(more, monkeypatch):
    function = Function()
    (size,) = {len(json.dumps(wire_row(each))) for each in SAMPLES}
    monkeypatch.setattr(scorer, "BATCH_BYTES", 3 * size - more)
    made(function).score(SAMPLES)
    assert [len(each) for each in function.asked] == ([2, 2, 2] if more else [3, 3])


def test_a_judge_is_asked_in_smaller_batches(monkeypatch):
    monkeypatch.setattr(scorer, "JUDGED_BATCH", 1)
    function = Function()
    judge = made(function, RECORD.model_copy(update={"reward": "reference"}))
    assert (judge.judges, made().judges, made(deployed=None).judges) == (True, False, False)
    judge.score(SAMPLES[:2])
    assert [len(each) for each in function.asked] == [1, 1]


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (FunctionError("KeyError", "'a'"), "the function fails: KeyError: 'a'"),
        (BrokenContract("ids: they are others"), "ids: they are others"),
    ],
)
def test_an_invocation_that_fails_leaves_its_samples_without_a_score(failure, words, monkeypatch):
    monkeypatch.setattr(scorer, "BATCH", 4)
    found = made(Function(failure)).score(SAMPLES)
    assert [isinstance(each, Unscored) for each in found] == [True] * 4 + [False] * 2
    assert [each.id for each in found] == [each.id for each in SAMPLES]
    assert {str(each.error) for each in found[:4]} == {words}
    assert all(isinstance(each, Scored) for each in found[4:])


def test_a_scale_is_the_declared_one_or_what_was_returned():
    assert tuple(made().scale([7.0])) == tuple(GSM8K.scale)
    unknown = made(deployed=RECORD.model_copy(update={"reward": "acme.unknown"}))
    assert (unknown.spec, unknown.judges, unknown.same_here) == (None, False, False)
    assert tuple(unknown.scale()) == (0.0, 1.0)
    assert tuple(unknown.scale([-2.0, 0.5])) == (-2.0, 1.0)
    assert tuple(made(deployed=None).scale([3.0])) == (0.0, 3.0)


@pytest.mark.parametrize(
    ("deployed", "known"),
    [
        (HERE, True),
        (None, False),
        (HERE.model_copy(update={"version": GSM8K.version + 1}), False),
        (HERE.model_copy(update={"parameters": {"unknown": 1}}), False),
        (
            HERE.model_copy(update={"reward": "reference", "version": get("reference").version}),
            False,
        ),
    ],
)
def test_reasons_are_those_of_the_same_version_here(deployed, known):
    given = [SAMPLES[0], sample("no", "7"), sample("#### 7", "no number")]
    found = made(deployed=deployed).reasons(given)
    if known:
        assert found[2] is None
        assert [bool(each) for each in found] == [True, True, False]
        assert found[1] != found[0]
    else:
        assert found == [None] * 3


def test_a_scorer_of_another_version_knows_no_record(monkeypatch):
    for arn, record, known in (
        (f"{ARN}:7", RECORD, True),
        (f"{ARN}:6", RECORD, False),
        (f"{ARN}:7", None, False),
    ):
        named = (FunctionArn.parse(arn), record)
        monkeypatch.setattr(scorer, "deployment_named", lambda *_, named=named: named)
        found = scorer_named("gsm8k", "dev")
        assert (str(found.arn), found.deployed is not None) == (arn, known)
