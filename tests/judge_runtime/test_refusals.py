"""Whose fault a refusal is, what it costs, and secrets in settings."""

from __future__ import annotations

import json
from time import monotonic, sleep

import pytest

from reward_functions import Scored, get, sample, score_batch
from reward_functions.calibration.settings import load_judge_config
from reward_functions.core.errors import BadJudge, JudgeUnavailable, NoVerdict
from reward_functions.core.types import Usage
from reward_functions.judge_runtime.config import JudgeConfig, JudgeModel
from reward_functions.judge_runtime.panel import JudgePool
from reward_functions.judge_runtime.prompting import BLANK
from reward_functions.judge_runtime.usage import Account
from reward_functions.judge_runtime.wrappers.circuit_breaker import ENOUGH
from reward_functions.testing import FakeAsk

YES = {"same": "yes"}
BUSY = JudgeUnavailable("busy", "busy")
REFUSED = NoVerdict("", "refused")
CRIME = "JUDGMENT: Response 1\nREASONING: It is better.\nThe answer is a crime."
OPENAI = {"model": "m", "backend": "openai", "endpoint": "http://h/v1"}


def judge_of(ask, reward="reference", parameters=None, **settings):
    config = JudgeConfig(models=(JudgeModel(**OPENAI),), retries=0, **settings)
    return JudgePool(config, asks={"m": ask}).batch(get(reward), parameters or {})


def neutral_only(question):
    """Refuses whatever a policy wrote."""
    return {} if BLANK in question.text else REFUSED


def case(text="The answer is Sydney.", prompt="Capital?", id="s"):
    return sample(text, "Canberra", prompt=prompt, id=id)


@pytest.mark.parametrize("reward", ["reference", "rubric", "pairwise", "pandalm", "group"])
def test_a_refusal_that_the_response_caused_earns_the_minimum(reward):
    ask = FakeAsk(answer=neutral_only)
    judge = judge_of(ask, reward)
    references = {"pairwise": "Another.", "pandalm": 1}
    score = judge(sample(CRIME, references.get(reward, "Canberra"), prompt="Capital?"))
    assert score.value == 0.0
    assert "refuses" in score.reason
    assert {metric.name: metric.value for metric in score.metrics}["addressed"] == 0.0
    assert len(ask.asked) == 2
    assert judge.account["judge_refusals"] == 1


def test_a_refusal_that_the_prompt_caused_is_no_score():
    ask = FakeAsk(answer=lambda _: REFUSED)
    judge = judge_of(ask)
    with pytest.raises(NoVerdict) as caught:
        judge(case())
    assert caught.value.kind == "refused"
    assert judge.account["judge_refusals"] == len(ask.asked) == 2


def test_the_neutral_response_is_judged_once_a_prompt():
    ask = FakeAsk(answer=neutral_only)
    batch = [case(f"Crime {at}.", prompt=f"{at % 2}?", id=str(at)) for at in range(20)]
    results = score_batch(judge_of(ask, parameters={"answer": "whole"}), batch, workers=4)
    assert {result.score.value for result in results} == {0.0}
    assert sum(BLANK in question.text for question in ask.asked) == 2


@pytest.mark.parametrize("failure", [BUSY, NoVerdict(), JudgeUnavailable("", "deadline")])
def test_a_neutral_response_that_cannot_be_judged_leaves_a_refusal_to_nobody(failure):
    ask = FakeAsk(answer=lambda question: failure if BLANK in question.text else REFUSED)
    with pytest.raises(NoVerdict) as caught:
        judge_of(ask)(case())
    assert caught.value.kind == "refused"


def test_another_failure_than_a_refusal_is_never_the_responses():
    for failure in (BUSY, NoVerdict("", "cut"), NoVerdict("", "malformed")):
        ask = FakeAsk(answer=lambda _, failure=failure: failure)
        with pytest.raises(type(failure)):
            judge_of(ask)(case())
        assert not any(BLANK in question.text for question in ask.asked)


def test_a_refusal_of_several_responses_at_once_is_nobodys():
    batch = [case("Crime.", id="1"), case("An answer.", id="2")]
    results = score_batch(judge_of(FakeAsk(answer=neutral_only), "group"), batch, workers=1)
    assert {result.error.kind for result in results} == {"refused"}


def test_the_neutral_question_costs_within_the_limit():
    ask = FakeAsk(answer=neutral_only)
    judge = judge_of(ask, max_usd=0.003, prices={"m": (0.0, 1.0)})
    with pytest.raises(NoVerdict):
        judge(case())
    assert len(ask.asked) == 1


def test_a_refusal_is_no_confident_verdict():
    asks = {"m": FakeAsk(answer=neutral_only), "n": FakeAsk(YES)}
    models = tuple(JudgeModel(**(OPENAI | {"model": name})) for name in asks)
    config = JudgeConfig(models=models, escalate=True, aggregate="minimum")
    score = JudgePool(config, asks=asks).batch(get("reference"))(case())
    assert len(asks["n"].asked) == 1
    assert score.value == 0.0
    assert {metric.name: metric.value for metric in score.metrics}["confidence"] == 0.5


def test_verdicts_of_one_prompt_serve_no_other():
    judge = judge_of(FakeAsk(answer=lambda each: YES if "Capital?" in each.shared else {}))
    assert judge(case(prompt="Capital?")).value == 1.0
    assert judge(case(prompt="River?")).value == 0.0
    assert judge(case(prompt="Capital?")).value == 1.0


# --- a model that denies everything


def test_a_model_that_denies_a_batch_is_not_asked_all_of_it():
    ask = FakeAsk(answer=lambda _: JudgeUnavailable("m: 401", "denied"))
    batch = [case(f"Answer {at}.") for at in range(512)]
    results = score_batch(judge_of(ask, parameters={"answer": "whole"}), batch, workers=16)
    assert {(result.error.kind, str(result.error)) for result in results} == {("denied", "m: 401")}
    assert ENOUGH <= len(ask.asked) <= ENOUGH + 16


def test_questions_that_are_denied_one_by_one_stop_nobody():
    def firewall(question):
        return JudgeUnavailable("m: 403", "denied") if "Answer 1" in question.text else YES

    ask = FakeAsk(answer=firewall)
    batch = [case(f"Answer {at}.") for at in range(100)]
    results = score_batch(judge_of(ask, parameters={"answer": "whole"}), batch, workers=1)
    assert sum(isinstance(result, Scored) for result in results) == 89
    assert len(ask.asked) == 100


def test_the_fallback_of_a_model_that_denies_is_asked():
    asks = {"m": FakeAsk(answer=lambda _: JudgeUnavailable("", "denied")), "n": FakeAsk(YES)}
    first, second = (JudgeModel(**(OPENAI | {"model": name})) for name in asks)
    judge = JudgePool(JudgeConfig(models=(first,), fallback=second), asks=asks).batch(
        get("reference"), {"answer": "whole"}
    )
    results = score_batch(judge, [case(f"Answer {at}.") for at in range(20)], workers=1)
    assert all(isinstance(result, Scored) for result in results)
    assert len(asks["m"].asked) == ENOUGH


# --- what is not counted is spent


@pytest.mark.parametrize(
    ("answer", "calls"),
    [
        (YES, 24),
        (NoVerdict("", "cut"), 24),
        (JudgeUnavailable("cut off", "unreachable"), 24),
        (JudgeUnavailable("late", "timeout"), 24),
        (JudgeUnavailable("no completion", "busy"), 24),
        (JudgeUnavailable("nobody", "unreachable", unbilled=True), 40),
        (JudgeUnavailable("429", "throttled"), 40),
        (JudgeUnavailable("403", "denied"), ENOUGH),
    ],
)
def test_what_a_provider_does_not_count_costs_what_was_reserved(answer, calls):
    ask = FakeAsk(answer=lambda _: answer)
    judge = judge_of(ask, "reference", {"answer": "whole"}, max_usd=0.05, prices={"m": (0.0, 1.0)})
    score_batch(judge, [case(f"Answer {at}.") for at in range(40)], workers=1)
    assert len({question.key for question in ask.asked}) <= len(ask.asked) == calls
    assert judge.account.metrics()["judge_usd"] <= 0.05


@pytest.mark.parametrize("usage", [Usage(100, 0), Usage(0, 1), Usage()])
def test_an_answer_of_no_tokens_was_not_counted(usage):
    judge = judge_of(FakeAsk(YES, usage=usage), prices={"m": (0.0, 1.0)})
    judge(case())
    assert judge.account.metrics()["judge_usd"] == pytest.approx(2048 / 1e6)


def test_the_end_of_calls_in_flight_is_waited_for():
    def slow(_):
        sleep(0.01)
        return YES

    ask = FakeAsk(answer=slow, usage=Usage(1, 100))
    judge = judge_of(ask, "reference", {"answer": "whole"}, max_usd=0.01, prices={"m": (0.0, 1.0)})
    results = score_batch(judge, [case(f"Answer {at}.") for at in range(60)], workers=30)
    assert all(isinstance(result, Scored) for result in results)


def test_waiting_for_money_ends_at_the_deadline():
    account = Account(1.0)
    account.reserve(0.9)
    with pytest.raises(JudgeUnavailable) as caught:
        account.reserve(0.2, monotonic() + 0.01)
    assert caught.value.kind == "budget"


# --- secrets


@pytest.mark.parametrize(
    "settings",
    [
        {"endpoint": "http://user:SECRET@host/v1"},
        {"endpoint": "https://SECRET@host:8000/v1?x=1"},
        {"endpoint": "http://user:SECRET@host"},
        {"backend": "bedrock", "endpoint": "user:SECRET@host"},
        {"key": "env:sk-SECRET"},
        {"key": "env:"},
        {"key": "env:a b"},
        {"key": "env:NAME\n"},
        {"key": "SECRET"},
    ],
)
def test_a_secret_in_the_settings_is_refused_and_not_printed(settings):
    given = {**OPENAI, **settings}
    with pytest.raises(BadJudge) as caught:
        JudgeModel(**given)
    assert "SECRET" not in str(caught.value)
    with pytest.raises(BadJudge) as caught:
        load_judge_config(json.dumps({"models": [given]}))
    assert "SECRET" not in str(caught.value)


def test_an_at_sign_behind_the_host_is_no_user():
    for endpoint in ("http://host/v1/@me", "http://host?to=a@b", "http://host:8000/v1#a@b"):
        assert JudgeModel(**{**OPENAI, "endpoint": endpoint}).endpoint == endpoint


def test_a_variable_that_is_not_set_is_not_printed(monkeypatch):
    monkeypatch.delenv("sk_SECRET", raising=False)
    with pytest.raises(BadJudge) as caught:
        JudgePool(JudgeConfig(models=(JudgeModel(**OPENAI, key="env:sk_SECRET"),)))
    assert "SECRET" not in str(caught.value)
