"""inspect_ai's call expression, recorded, with doubles of its `scorer` module and threads."""

import asyncio
import sys
from math import isnan
from types import ModuleType
from types import SimpleNamespace as Fields

import pytest

from reward_functions import Score, reward_function
from reward_functions.adapters.inspect_ai import scorer
from reward_functions.core.errors import JudgeUnavailable
from reward_functions.core.types import Sample
from tests.adapters.recorded import inspect_ai


class HostScore(Fields):
    @classmethod
    def unscored(cls, *, reason, explanation):
        return cls(value=float("nan"), reason=reason, explanation=explanation)


@pytest.fixture(autouse=True)
def declared(monkeypatch):
    """What `@scorer` was told."""
    told = {}

    def declare(metrics, name):
        told.update(metrics=metrics, name=name)

        def factory(make):
            def made(**arguments):
                told["recorded"] = arguments
                return make(**arguments)

            return made

        return factory

    async def run_sync(fn, *arguments, limiter):
        told["threads"] = limiter
        return fn(*arguments)

    host, threads = ModuleType("inspect_ai"), ModuleType("anyio")
    host.scorer = Fields(scorer=declare, Score=HostScore)
    for metric in ("accuracy", "mean", "stderr"):
        setattr(host.scorer, metric, lambda metric=metric: metric)
    threads.CapacityLimiter, threads.to_thread = int, Fields(run_sync=run_sync)
    monkeypatch.setitem(sys.modules, "inspect_ai", host)
    monkeypatch.setitem(sys.modules, "anyio", threads)
    return told


def scored(score, call):
    return asyncio.run(score(*call))


@pytest.mark.parametrize(
    ("usage", "value"),
    [
        ({"usage": Fields(output_tokens=1)}, 0.0),
        ({"usage": Fields(output_tokens=5)}, -1.0),
        ({"usage": None}, None),
        ({}, None),
    ],
)
def test_the_tokens_that_the_model_reports_are_those_of_the_response(usage, value):
    output = Fields(completion="42", **usage)
    found = scored(scorer("overlong", limit=4, buffer=1), inspect_ai(output=output))
    assert found.value == value if value is not None else isnan(found.value)


def test_the_recorded_call_is_scored(declared):
    found = scored(scorer("math"), inspect_ai())
    assert (found.value, found.answer, found.explanation) == (1.0, "42", "the same number")
    assert found.metadata["answered"] == 1.0
    assert declared["name"] == "math"
    assert declared["metrics"] == ["accuracy", "stderr"]


def test_the_log_records_what_was_given_and_no_more(declared):
    scorer("math", rounded=2)
    assert declared["recorded"] == {"rounded": 2}
    scorer("math", reference="gold", name="exact")
    assert (declared["recorded"], declared["name"]) == ({"reference": "gold"}, "exact")


def test_a_scale_that_is_not_0_to_1_has_a_mean_and_no_accuracy(declared):
    @reward_function(version=1, scale=(-1, 1))
    def sign(sample: Sample) -> Score:
        """Minus one, always."""
        return Score(-1.0)

    assert scored(scorer(sign), inspect_ai()).value == -1.0
    assert declared["metrics"] == ["mean", "stderr"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (inspect_ai(target=("",)), "BadReference: there is no reference"),
        (inspect_ai(target=()), "BadReference: there is no reference"),
        (inspect_ai(messages=[Fields(role=None, content="x")]), "BadSample: a message"),
        (inspect_ai(output=Fields(completion=7)), "BadSample: a message's content holds int"),
    ],
)
def test_what_cannot_be_scored_is_unscored_and_says_why(call, message):
    found = scored(scorer("math"), call)
    assert isnan(found.value)
    assert found.reason == "scoring_failed"
    assert found.explanation.startswith(message)


def test_a_judge_without_a_verdict_is_the_graders_failure(declared):
    def nobody(question):
        raise JudgeUnavailable("nothing answers", "unreachable")

    pool = Fields(batch=lambda spec, parameters: spec.bind(parameters, ask=nobody))
    found = scored(scorer("reference", judge=pool), inspect_ai("The half of 84, I think."))
    assert (found.reason, found.explanation) == (
        "grader_failed",
        "JudgeUnavailable: nothing answers",
    )
    assert declared["threads"] > 1


@pytest.mark.parametrize(
    ("target", "reference"),
    [
        (["42"], "42"),
        (["42", "forty-two"], ["42", "forty-two"]),
        ([""], None),
        (["{1, 2}"], "{1, 2}"),
    ],
)
def test_several_targets_are_a_list_and_one_is_itself(target, reference):
    seen = []

    def spy(sample):
        seen.append(sample)
        return Score(1.0)

    scored(scorer(spy), inspect_ai(target=target, choices=[Fields(value="red")]))
    assert seen[0].reference == reference
    assert seen[0].metadata == {"choices": ["red"]}
    assert seen[0].prompt == "What is 6 × 7?"
