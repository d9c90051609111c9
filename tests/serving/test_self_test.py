"""The self-test of a deployed function: every example, and who is to blame when one differs."""

from __future__ import annotations

import pytest

from reward_functions.core import registry
from reward_functions.core.asking import ScriptedAsk
from reward_functions.core.errors import (
    BadReference,
    EngineUnavailable,
    JudgeUnavailable,
    NoVerdict,
)
from reward_functions.core.spec import Example, reward_function
from reward_functions.core.types import Score
from reward_functions.serving.contract import BadEvent
from reward_functions.serving.handler import bind
from reward_functions.serving.self_test import self_test, self_test_of
from reward_functions.serving.settings import LambdaSettings

RECORDED = {"reward_functions": {"self_test": "recorded"}}


@pytest.mark.parametrize("name", registry.specs())
def test_every_reward_of_ours_passes_it(name):
    spec = registry.get(name)
    report = self_test(spec, {})
    assert report == {
        "reward": name,
        "version": spec.version,
        "examples": len(spec.examples),
        "failures": [],
        "unavailable": [],
    }
    assert report["examples"] >= 2


@pytest.mark.parametrize(
    "event",
    [
        [],
        [RECORDED],
        {},
        {"body": "[]"},
        {"reward_functions": None},
        {"reward_functions": "self_test"},
        {"reward_functions": {"self_test": "else"}},
        {"reward_functions": {"self_test": ["recorded"]}},
        {"reward_functions": {"self_test": {}}},
        {"reward_functions": {"self_test": "recorded", "more": 1}},
        RECORDED | {"batch": []},
        "self_test",
        None,
    ],
    ids=repr,
)
def test_no_other_event_is_one(event):
    assert self_test_of(event) is None


@pytest.mark.parametrize("how", ["recorded", "model"])
def test_it_is_asked_for_by_an_event_of_its_own(how):
    assert self_test_of({"reward_functions": {"self_test": how}}) == how


def test_the_handler_answers_it_in_either_response_mode():
    for mode in ("list", "envelope"):
        handler = bind(LambdaSettings(name="exact_match", response_mode=mode))
        assert handler(RECORDED)["failures"] == []


def test_an_event_that_misspells_it_is_a_clear_error():
    with pytest.raises(BadEvent):
        bind(LambdaSettings(name="exact_match"))({"reward_functions": {"self_test": "all"}})


def test_it_is_not_among_the_metrics_of_what_trainers_sent(capsys):
    bind(LambdaSettings(name="exact_match"))(RECORDED)
    assert "reward_mean" not in capsys.readouterr().out


def declared(*scores):
    """A reward that gives the score its response names, or raises what it names."""

    @reward_function(
        version=7,
        examples=[Example("positive", response=what, score=1.0, why=what) for what in scores],
    )
    def stern(sample):
        """What the response says."""
        match sample.response:
            case "engine":
                raise EngineUnavailable("no process")
            case "throttled":
                raise JudgeUnavailable("nova: ThrottlingException", "throttled")
            case "denied":
                raise JudgeUnavailable("nova: AccessDeniedException", "denied")
            case "mute":
                raise NoVerdict("no object")
            case "bug":
                raise KeyError("lost")
        return Score(float(sample.response))

    return stern


@pytest.mark.parametrize(
    ("response", "found", "sentence"),
    [
        ("1", None, ""),
        ("0", "failures", "example 1 (positive) earns 0 in place of 1"),
        ("0.5", "failures", "example 1 (positive) earns 0.5 in place of 1"),
        ("2", "failures", "example 1 (positive) was not scored: InvalidScore: "),
        ("bug", "failures", "example 1 (positive) was not scored: KeyError: 'lost'"),
        ("mute", "failures", "example 1 (positive) was not scored: NoVerdict: no object"),
        ("denied", "failures", "example 1 (positive) was not scored: JudgeUnavailable: nova"),
        ("engine", "unavailable", "example 1 (positive) was not scored: EngineUnavailable: "),
        ("throttled", "unavailable", "example 1 (positive) was not scored: JudgeUnavailable: "),
    ],
)
def test_what_a_retry_can_cure_is_told_from_what_it_cannot(response, found, sentence):
    report = self_test(declared("1", response, "1"), {})
    assert (report["version"], report["examples"]) == (7, 3)
    for kind in ("failures", "unavailable"):
        own = [each for each in report[kind] if "as it is deployed" not in each]
        assert len(own) == (kind == found)
        assert all(each.startswith(sentence) for each in own)


@reward_function(
    version=2,
    examples=[
        Example("positive", response="4", reference="2", score=1.0, parameters={"divisor": 2}),
        Example("negative", response="5", reference="2", score=0.0, parameters={"divisor": 2}),
        Example("negative", response="5", reference=None, score=0.0, parameters={"any": True}),
    ],
)
def divided(sample, *, divisor: int = 1, any: bool = False):
    """The quotient."""
    if sample.reference is None and not any:
        raise BadReference("none")
    return Score(float(any is False and int(sample.response) / divisor == int(sample.reference)))


@pytest.mark.parametrize(
    ("parameters", "failures"),
    [
        ({"divisor": 2}, 0),
        ({"divisor": 3}, 0),  # other scores than the examples', and scores
        ({}, 0),  # the third example has no reference for these, which is the example's affair
        ({"any": True}, 0),
        ({"divisor": 0}, 2),
    ],
)
def test_what_is_deployed_is_scored_with_its_own_parameters_too(parameters, failures):
    report = self_test(divided, parameters)
    assert len(report["failures"]) == failures
    assert all(
        each.endswith("as it is deployed, was not scored: ZeroDivisionError: division by zero")
        for each in report["failures"]
    )


def test_the_handler_scores_with_what_it_was_deployed_with():
    handler = bind(LambdaSettings(name="divided", parameters={"divisor": 0}), divided)
    assert len(handler(RECORDED)["failures"]) == 2


def test_a_real_judge_may_say_anything_as_long_as_it_says_it():
    """Of a model's own verdict nothing is known beforehand but that it has to be one."""
    spec = registry.get("reference")
    worst = spec.bind({}, ask=ScriptedAsk(({},)))
    assert self_test(spec, {}, worst)["failures"] == []

    denied = JudgeUnavailable("nova: AccessDeniedException", "denied")
    report = self_test(spec, {}, spec.bind({}, ask=ScriptedAsk((denied,))))
    asking = [each for each in spec.examples if each.verdicts]
    assert len(report["failures"]) == len(asking) > 0
    assert report["unavailable"] == []
