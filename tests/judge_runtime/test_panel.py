"""The pool: retries, fallback, panels, rate limit, cache, cost."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from time import monotonic, sleep, time

import pytest
from botocore.exceptions import ClientError

from reward_functions import Message, Sample, Scored, get, sample, score_batch
from reward_functions.core.errors import BadJudge, JudgeUnavailable, NoVerdict
from reward_functions.core.types import Usage
from reward_functions.judge_runtime import pipeline
from reward_functions.judge_runtime.cache import DynamoDBCache, LRUCache, TieredCache
from reward_functions.judge_runtime.config import JudgeConfig, JudgeModel
from reward_functions.judge_runtime.panel import JudgePool
from reward_functions.judge_runtime.rate_limit import GROWTH, RateLimit, TokenBucket
from reward_functions.judge_runtime.usage import Account, price_of
from reward_functions.judge_runtime.wrappers import retrying
from reward_functions.testing import FakeAsk

YES, NO = {"same": "yes"}, {"same": "no"}
BUSY = JudgeUnavailable("busy", "busy")


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch):
    monkeypatch.setattr(retrying, "FIRST_PAUSE", 0.001)


def model(name="a", **settings):
    return JudgeModel(model=name, backend="openai", endpoint="http://localhost:1/v1", **settings)


def in_turn(*answers, usage=None):
    """A fake that gives one answer after the other, whatever is asked, and then the last."""
    left = list(answers)
    return FakeAsk(answer=lambda _: left.pop(0) if len(left) > 1 else left[0], usage=usage)


def judge_of(asks, parameters=None, *, deadline=float("inf"), reward="reference", **settings):
    """The judge of one batch, with models that give these answers."""
    models = tuple(model(name) for name in asks if name != "fallback")
    if "fallback" in asks:
        settings["fallback"] = model("fallback")
    pool = JudgePool(JudgeConfig(models=models, **settings), asks=asks)
    return pool.batch(get(reward), parameters or {"answer": "whole"}, deadline=deadline)


def case(text="It is Canberra.", prompt="Capital?", id="s"):
    return sample(text, "Canberra", prompt=prompt, id=id)


def test_an_outage_is_asked_again():
    ask = in_turn(BUSY, JudgeUnavailable("", "throttled"), YES)
    judge = judge_of({"a": ask})
    assert judge(case()).value == 1.0
    assert len(ask.asked) == 3
    assert judge.account["judge_retries"] == 2
    assert judge.account["judge_throttles"] == 1


def test_retries_have_an_end():
    ask = in_turn(BUSY)
    with pytest.raises(JudgeUnavailable):
        judge_of({"a": ask}, retries=3)(case())
    assert len(ask.asked) == 4


@pytest.mark.parametrize("kind", ["denied", "budget", "deadline"])
def test_what_cannot_change_is_not_asked_again(kind):
    ask = in_turn(JudgeUnavailable("", kind))
    with pytest.raises(JudgeUnavailable):
        judge_of({"a": ask})(case())
    assert len(ask.asked) == 1


def test_a_malformed_answer_is_asked_about_once_with_a_reminder():
    ask = in_turn(NoVerdict("", "malformed"), YES)
    judge = judge_of({"a": ask})
    assert judge(case()).value == 1.0
    assert "not of the form" in ask.asked[1].text
    assert ask.asked[0].key == ask.asked[1].key
    with pytest.raises(NoVerdict):
        judge_of({"a": (always := in_turn(NoVerdict("", "malformed")))})(case())
    assert len(always.asked) == 2


def test_a_refusal_goes_to_the_fallback_at_once():
    first, second = in_turn(NoVerdict("", "refused")), in_turn(YES)
    judge = judge_of({"a": first, "fallback": second})
    assert judge(case()).value == 1.0
    assert len(first.asked) == 1
    assert judge.account["judge_fallbacks"] == 1


def test_when_the_fallback_fails_too_there_is_no_score():
    judge = judge_of({"a": in_turn(BUSY), "fallback": in_turn(NoVerdict("", "cut"))}, retries=0)
    with pytest.raises(NoVerdict):
        judge(case())
    assert judge.account["judge_failures"] == 1


@pytest.fixture
def passing(monkeypatch):
    """Let time pass where somebody sleeps, and nowhere else; what `monotonic()` reads is first."""
    now = [monotonic()]

    def sleep(seconds):
        now[0] += seconds

    monkeypatch.setattr(retrying, "sleep", sleep)
    for module in (retrying, pipeline):
        monkeypatch.setattr(module, "monotonic", lambda: now[0])
    return now, sleep


def test_no_pause_outlasts_the_deadline(passing):
    now, _ = passing
    began = now[0]
    ask = in_turn(JudgeUnavailable("", "throttled", 60.0))
    with pytest.raises(JudgeUnavailable):
        judge_of({"a": ask}, deadline=began + 5)(case())
    assert now[0] == began


def test_the_fallback_has_time_left_when_the_first_took_its_own(passing):
    now, sleep = passing
    ends, seen = now[0] + 400, []

    def slow(_, /, *, deadline):
        seen.append(deadline)
        sleep(50)
        raise BUSY

    asks = {"a": slow, "fallback": in_turn(YES)}
    judge = judge_of(asks, deadline=ends, retries=100)
    assert judge(case()).value == 1.0
    assert len(seen) > 1
    assert seen[0] <= ends - 100
    assert now[0] < ends


@pytest.mark.parametrize(
    ("aggregate", "answers", "value"),
    [
        ("mean", [YES, YES, NO], 2 / 3),
        ("median", [YES, NO, YES], 1.0),
        ("majority", [NO, YES, NO], 0.0),
        ("majority", [YES, NO], 0.5),
        ("minimum", [YES, YES, NO], 0.0),
        ("minimum", [YES, YES, YES], 1.0),
    ],
)
def test_a_panel_comes_to_one_score(aggregate, answers, value):
    asks = {f"member-{at}": in_turn(answer) for at, answer in enumerate(answers)}
    assert judge_of(asks, aggregate=aggregate)(case()).value == pytest.approx(value)


def test_a_failed_member_does_not_count_while_there_are_min_votes():
    asks = {"a": in_turn(YES), "b": in_turn(NoVerdict("", "refused")), "c": in_turn(YES)}
    assert judge_of(asks, min_votes=2)(case()).value == 1.0
    with pytest.raises(NoVerdict):
        judge_of(asks, min_votes=3)(case())
    with pytest.raises(NoVerdict):
        judge_of(asks)(case())


def test_a_second_member_is_asked_only_on_low_confidence():
    for confidence, asked, value in (("high", 0, 1.0), ("medium", 0, 1.0), ("low", 1, 0.5)):
        second = in_turn(NO)
        asks = {"a": in_turn({**YES, "confidence": confidence}), "b": second}
        assert judge_of(asks, escalate=True)(case()).value == value
        assert len(second.asked) == asked


def test_siblings_have_the_same_judge_when_judges_rotate():
    asks = {"a": FakeAsk(answer=lambda _: YES), "b": FakeAsk(answer=lambda _: NO)}
    judge = judge_of(asks, aggregate="rotate")
    batch = [case(f"Answer {at}.", prompt=f"Question {at % 20}?", id=str(at)) for at in range(100)]
    values = {}
    for result in score_batch(judge, batch, workers=4):
        assert isinstance(result, Scored)
        values.setdefault(int(result.id) % 20, set()).add(result.score.value)
    assert all(len(each) == 1 for each in values.values())
    assert {0.0, 1.0} == set.union(*values.values())


def test_equal_questions_share_an_answer_or_a_failure():
    for answer, kind in ((YES, Scored), (JudgeUnavailable("", "denied"), JudgeUnavailable)):
        barrier = Barrier(8)

        def slow(_, answer=answer):
            sleep(0.05)
            return answer

        ask = FakeAsk(answer=slow)
        judge = judge_of({"a": ask})
        with ThreadPoolExecutor(8) as pool:

            def together(at, judge=judge, barrier=barrier):
                barrier.wait()
                (result,) = score_batch(judge, [case(id=str(at))], workers=1)
                return result

            results = list(pool.map(together, range(8)))
        assert len(ask.asked) == 1
        assert {type(getattr(result, "error", result)) for result in results} == {kind}


def test_a_bug_in_a_model_leaves_nobody_waiting():
    def broken(_):
        raise ZeroDivisionError

    results = score_batch(judge_of({"a": FakeAsk(answer=broken)}), [case()] * 4, workers=4)
    kinds = {type(result.error) for result in results}
    assert kinds <= {ZeroDivisionError, JudgeUnavailable}


def test_tokens_and_dollars_add_up():
    ask = FakeAsk(YES, usage=Usage(1000, 100, 500, 200))
    judge = judge_of({"a": ask}, prices={"a": (2.0, 10.0, 0.5, 4.0)})
    score_batch(judge, [case(f"Answer {at}.") for at in range(10)], workers=2)
    told = judge.account.metrics()
    assert told["judge_input_tokens"] == 10_000
    assert told["judge_output_tokens"] == 1_000
    assert told["judge_usd"] == pytest.approx(10 * (2000 + 1000 + 250 + 800) / 1e6)


def test_tokens_of_an_invalid_verdict_are_paid_for():
    ask = in_turn(NoVerdict("", "refused", Usage(1000, 50)))
    judge = judge_of({"a": ask}, prices={"a": (1.0, 1.0)})
    with pytest.raises(NoVerdict):
        judge(case())
    assert len(ask.asked) == 2  # the second about a neutral response
    assert judge.account.metrics()["judge_usd"] == pytest.approx(2 * 1050 / 1e6)


def test_the_dollars_of_a_batch_have_a_limit():
    ask = FakeAsk(YES, usage=Usage(100, 2048))
    judge = judge_of({"a": ask}, max_usd=0.05, prices={"a": (0.0, 1.0)}, max_concurrency=32)
    results = score_batch(judge, [case(f"Answer {at}.") for at in range(100)], workers=16)
    spent = judge.account.metrics()["judge_usd"]
    assert 0.03 < spent <= 0.05
    failed = [result for result in results if not isinstance(result, Scored)]
    assert {result.error.kind for result in failed} == {"budget"}


def test_a_limit_in_dollars_takes_a_price():
    with pytest.raises(BadJudge, match="has no price"):
        judge_of({"a": FakeAsk(YES)}, max_usd=1.0)


@pytest.mark.parametrize(
    ("name", "listed"),
    [
        ("us.anthropic.claude-haiku-4-5-20251001-v1:0", (1.0, 5.0)),
        ("amazon.nova-lite-v1:0", (0.06, 0.24)),
        ("some-model", None),
    ],
)
def test_prices_are_looked_up_by_the_family(name, listed):
    price = price_of(model(name), JudgeConfig(models=(model(name),)))
    assert (price and tuple(price[:2])) == listed


def test_throttling_halves_once_for_calls_of_one_speed_and_success_adds_one():
    limit = RateLimit(16, 18)
    with limit.slot(1, float("inf")) as one, limit.slot(1, float("inf")) as two:
        limit.throttled(one)
        limit.throttled(two)
    assert limit.allowed == 8
    for _ in range(GROWTH):
        limit.answered(0)
    assert limit.allowed == 9
    for _ in range(GROWTH * 30):
        limit.answered(0)
    assert limit.allowed == 18


def test_one_call_at_a_time_is_always_allowed():
    limit = RateLimit(1, 4)
    with limit.slot(1, float("inf")) as began:
        limit.throttled(began)
    assert limit.allowed == 1


def test_a_bucket_lets_a_burst_pass_and_then_its_rate():
    bucket = TokenBucket(60)
    now = bucket.refilled_at
    taken = 0
    while not bucket.wait(now):
        bucket.take(1)
        taken += 1
    assert taken == 10
    wait = bucket.wait(now)
    assert 0 < wait < 1.1
    assert bucket.wait(now + wait) == 0


def test_a_call_larger_than_the_burst_is_let_through_and_paid_off():
    bucket = TokenBucket(600)
    now = bucket.refilled_at
    assert bucket.wait(now) == 0
    bucket.take(1000)
    assert bucket.wait(now) == pytest.approx(90, abs=1)


def test_waiting_for_a_turn_ends_at_the_deadline_and_is_not_the_calls_time():
    limit = RateLimit(1, 1)
    waiting = limit.slot(1, monotonic() + 0.05)
    with limit.slot(1, float("inf")), pytest.raises(JudgeUnavailable) as caught, waiting:
        pass
    assert caught.value.kind == "deadline"

    left = []

    def ask(question, /, *, deadline):
        left.append(deadline - monotonic())
        sleep(0.1)
        return FakeAsk(YES)(question)

    pool = JudgePool(
        JudgeConfig(models=(model(timeout=0.3),), concurrency=1, max_concurrency=4), asks={"a": ask}
    )
    judge = pool.batch(get("reference"), {"answer": "whole"})
    score_batch(judge, [case(f"Answer {at}.") for at in range(4)], workers=4)
    assert min(left) > 0.25


class Dynamo:
    """A DynamoDB table, or one that is out of reach."""

    def __init__(self, *, broken=False):
        self.items = {}
        self.broken = broken

    def get_item(self, *, TableName, Key):  # noqa: N803 - the service's own names
        if self.broken:
            raise ClientError({"Error": {"Code": "ThrottlingException"}}, "GetItem")
        found = self.items.get(Key["key"]["S"])
        return {"Item": found} if found else {}

    def put_item(self, *, TableName, Item):  # noqa: N803
        if self.broken:
            raise ClientError({"Error": {"Code": "ThrottlingException"}}, "PutItem")
        self.items[Item["key"]["S"]] = Item


def asked_of(ask, text="It is Canberra."):
    get("reference").bind({"answer": "whole"}, ask=ask)(case(text))
    return ask.asked[0]


def test_a_table_holds_hashes_and_choices_and_no_text():
    dynamo = Dynamo()
    memory = TieredCache([DynamoDBCache(dynamo, "verdicts", 7)])
    question = asked_of(FakeAsk())
    values = question.filled({"same": "yes", "reason": "It says Canberra."})
    assert memory.get(question, model()) is None
    memory.put(question, model(), values)
    (item,) = dynamo.items.values()
    assert item.keys() == {"key", "verdict", "expires"}
    assert "Canberra" not in json.dumps(item)
    assert time() + 6.9 * 86_400 < float(item["expires"]["N"]) < time() + 7.1 * 86_400
    found = memory.get(question, model())
    assert found["same"] == "yes"
    assert found["checksum"] == question.canary
    assert memory.get(question, model("b")) is None
    assert memory.get(asked_of(FakeAsk(), "It is Perth."), model()) is None


@pytest.mark.parametrize(
    "verdict", ['{"same": "very"}', "[]", "no JSON", '{"same": "yes", "other": "x"}']
)
def test_a_table_can_hold_anything_and_is_not_believed(verdict):
    dynamo = Dynamo()
    memory = TieredCache([DynamoDBCache(dynamo, "verdicts", 7)])
    question = asked_of(FakeAsk())
    memory.put(question, model(), question.filled(YES))
    (item,) = dynamo.items.values()
    item["verdict"]["S"] = verdict
    assert memory.get(question, model()) is None


def test_an_expired_verdict_is_none():
    dynamo = Dynamo()
    memory = TieredCache([DynamoDBCache(dynamo, "verdicts", 7)])
    question = asked_of(FakeAsk())
    memory.put(question, model(), question.filled(YES))
    (item,) = dynamo.items.values()
    item["expires"]["N"] = str(int(time()) - 1)
    assert memory.get(question, model()) is None


def test_a_table_out_of_reach_is_an_empty_one():
    memory = TieredCache([LRUCache(2), DynamoDBCache(Dynamo(broken=True), "verdicts", 7)])
    question = asked_of(FakeAsk())
    assert memory.get(question, model()) is None
    memory.put(question, model(), question.filled(YES))
    assert memory.get(question, model())["same"] == "yes"


def test_what_a_far_shelf_knows_moves_near():
    far, near = DynamoDBCache(Dynamo(), "verdicts", 7), LRUCache(2)
    question = asked_of(FakeAsk())
    TieredCache([far]).put(question, model(), question.filled(YES))
    assert TieredCache([near, far]).get(question, model())
    assert TieredCache([near]).get(question, model())


def test_the_lru_cache_evicts_the_least_recently_used():
    cache = LRUCache(2)
    for key in "ab":
        cache.put(key, {})
    cache.get("a")
    cache.put("c", {})
    assert [key for key in "abc" if cache.get(key) is not None] == ["a", "c"]


def test_failures_are_never_remembered():
    pool = JudgePool(
        JudgeConfig(models=(model(),), retries=0),
        asks={"a": in_turn(JudgeUnavailable("", "denied"), YES)},
    )
    with pytest.raises(JudgeUnavailable):
        pool.batch(get("reference"), {"answer": "whole"})(case())
    assert pool.batch(get("reference"), {"answer": "whole"})(case()).value == 1.0


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"models": ()}, "none is the default"),
        ({"min_votes": 2}, "min_votes"),
        ({"escalate": True}, "second panel member"),
        ({"concurrency": 0}, "concurrency"),
        ({"concurrency": 64, "max_concurrency": 32}, "concurrency"),
        ({"prices": {"a": (1.0,)}}, "prices"),
        ({"retries": -1}, "range"),
        ({"max_usd": float("nan")}, "range"),
        ({"max_usd": float("inf")}, "range"),
        ({"cache_days": float("nan")}, "range"),
    ],
)
def test_a_bench_that_cannot_sit_is_refused(settings, said):
    with pytest.raises(BadJudge, match=said):
        JudgeConfig(**{"models": (model(),), **settings})


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"model": " "}, "none is the default"),
        ({"backend": "openai"}, "URL"),
        ({"backend": "openai", "endpoint": "localhost"}, "URL"),
        ({"backend": "replay"}, "file"),
        ({"key": "sk-abcdef"}, "not given"),
        ({"temperature": 2.0}, "temperature"),
        ({"max_tokens": 0}, "range"),
        ({"timeout": float("nan")}, "range"),
        ({"timeout": float("inf")}, "range"),
        ({"timeout": 0.5}, "second"),
    ],
)
def test_a_model_that_cannot_be_asked_is_refused(settings, said):
    with pytest.raises(BadJudge, match=said):
        JudgeModel(**{"model": "a", **settings})


def test_a_table_without_a_region_is_a_failed_start(monkeypatch):
    monkeypatch.setattr("boto3.DEFAULT_SESSION", None)
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", os.devnull)
    with pytest.raises(BadJudge, match=r"the table verdicts.*region"):
        JudgePool(JudgeConfig(models=(model(),), cache_table="verdicts"), asks={"a": in_turn(YES)})


def test_an_account_does_not_lose_what_threads_count():
    account = Account()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: account.count("judge_calls"), range(2000)))
    assert account["judge_calls"] == 2000


def test_messages_may_hold_half_a_character():
    turns = (
        Message(role="user", content="\ud800?"),
        Message(role="assistant", content="It is \udfff."),
    )
    judge = judge_of({"a": in_turn(YES), "b": in_turn(YES)}, aggregate="rotate")
    assert judge(Sample(id="s", messages=turns, reference="x")).value == 1.0
