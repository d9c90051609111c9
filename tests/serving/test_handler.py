"""The handler: decode, score, encode, and nothing lost whatever the batch holds."""

from __future__ import annotations

import json
import random
import sys
import tempfile
from dataclasses import replace
from types import SimpleNamespace

import pytest
from botocore.exceptions import ClientError

from reward_functions import symbolic
from reward_functions.core.batch import score_batch
from reward_functions.core.errors import (
    BadParameter,
    BadReference,
    EngineUnavailable,
    NoJudge,
    UnknownReward,
)
from reward_functions.core.registry import get
from reward_functions.core.spec import Example, Needs, reward_function
from reward_functions.core.types import Metric, Score
from reward_functions.serving import contract, handler
from reward_functions.serving.contract import (
    BadEvent,
    ResponseTooLarge,
    TooManySamples,
    decode,
    result_object,
)
from reward_functions.serving.handler import FailedStart, FailedWarmUp, bind
from reward_functions.serving.imputation import BatchFailed
from reward_functions.serving.settings import BadSettings, LambdaSettings


def row(name, response="Paris", reference="Paris", prompt="Capital?"):
    turns = [{"role": "user", "content": prompt}, {"role": "assistant", "content": response}]
    return {"id": name, "messages": turns, "reference_answer": reference}


def serve(spec=None, **settings):
    name = spec.name if spec else "exact_match"
    return bind(LambdaSettings(name=name, **settings), spec)


def context(milliseconds):
    return SimpleNamespace(aws_request_id="r-1", get_remaining_time_in_millis=lambda: milliseconds)


def value(result):
    return result["aggregate_reward_score"]


def metric(result, name):
    return {metric["name"]: metric["value"] for metric in result["metrics_list"]}[name]


def reject(code):
    """Scores 1.0, or fails in the way the response names."""
    if code == "bug":
        raise ZeroDivisionError("secret")
    if code == "nan":
        return Score(float("nan"))
    if code == "scale":
        return Score(2.0)
    if code == "type":
        return 1.0
    if code == "reference":
        raise BadReference("none")
    return Score(float(code), (Metric("length", len(code)),))


@reward_function(version=3, scale=(-1.0, 1.0), metrics=["length"])
def moody(sample):
    """What the response says."""
    return reject(sample.response)


def test_a_batch_is_scored_in_order_under_its_own_ids():
    results = serve()([row("b"), row("a", "Lyon"), row("b", "paris")], context(30_000))
    assert [(result["id"], value(result)) for result in results] == [
        ("b", 1.0),
        ("a", 0.0),
        ("b", 1.0),
    ]


def test_the_result_objects_are_those_of_a_direct_call():
    rows = [row(str(at), "Paris" if at % 3 else "Lyon") for at in range(50)]
    direct = [result_object(result) for result in score_batch(get("exact_match"), decode(rows))]
    assert json.dumps(serve()(rows)) == json.dumps(direct)


@pytest.mark.parametrize("size", [1, 7])
def test_the_size_of_the_batch_changes_nothing(size):
    rows = [row(str(at), "Paris" if at % 3 else "Lyon") for at in range(512)]
    serving = serve()
    parts = [serving(rows[at : at + size]) for at in range(0, 512, size)]
    assert json.dumps([result for part in parts for result in part]) == json.dumps(serving(rows))


def test_both_response_modes_say_the_same():
    rows = [row("a"), row("b", "Lyon")]
    envelope = serve(response_mode="envelope")(rows)
    assert envelope["statusCode"] == 200
    assert json.loads(envelope["body"]) == serve()(rows)


@pytest.mark.parametrize("mode", ["list", "envelope"])
def test_an_empty_batch_is_answered(mode):
    response = serve(response_mode=mode)([])
    assert response == [] or response["body"] == "[]"


@pytest.mark.parametrize("mode", ["list", "envelope"])
def test_an_event_that_is_no_batch_fails_the_invocation(mode):
    with pytest.raises(BadEvent):
        serve(response_mode=mode)({"statusCode": 200})
    with pytest.raises(TooManySamples):
        serve(response_mode=mode, max_samples=1)([row("a"), row("b")])


def test_parameters_are_bound():
    assert value(serve(parameters={"ignore_case": False})([row("a", "paris")])[0]) == 0.0


BROKEN_ROWS = [
    None,
    "text",
    7,
    True,
    [],
    {},
    {"id": "x1"},
    {"id": "x2", "messages": None},
    {"id": "x3", "messages": "hello"},
    {"id": "x4", "messages": {"role": "user"}},
    {"id": "x5", "messages": [None]},
    {"id": "x6", "messages": ["hello"]},
    {"id": "x7", "messages": [{}]},
    {"id": "x8", "messages": [{"role": 1, "content": "a"}]},
    {"id": "x9", "messages": [{"role": "assistant", "content": 1}]},
    {"id": "x10", "messages": [{"role": "assistant", "content": True}]},
    {"id": "x11", "messages": [{"role": "assistant", "content": [1]}]},
    {"id": "x12", "messages": [{"role": "assistant", "content": [{"text": 1}]}]},
    {**row("x13"), "reference_answer": None},
    {**row("x14"), "reference_answer": {"nothing": 1}},
]


def test_twenty_malformed_rows_in_512_lose_nothing_and_change_nothing():
    good = [row(f"g{at}", "Paris" if at % 3 else "Lyon") for at in range(492)]
    rows = list(good)
    for at, broken in enumerate(BROKEN_ROWS):
        rows.insert(at * 25, broken)
    results = serve()(rows)
    expected = [
        (isinstance(sent, dict) and sent.get("id")) or f"sample-{at}"
        for at, sent in enumerate(rows)
    ]
    assert len(rows) == 512
    assert [result["id"] for result in results] == expected
    flagged = [result for result in results if metric(result, "bad_reference")]
    assert len(flagged) == 20
    assert all(value(result) == 0.0 for result in flagged)
    unchanged = [result for result in results if not metric(result, "bad_reference")]
    assert json.dumps(unchanged) == json.dumps(serve()(good))


@pytest.mark.parametrize("text", ["nul\0", "\ud800", "{" * 100_000, "[" * 100_000, "p" * 5_000_000])
def test_hostile_texts_are_ordinary_low_scores(text):
    results = serve()([row("a", text), row("b")])
    assert [value(result) for result in results] == [0.0, 1.0]
    assert value(serve()([row("a", text, text)])[0]) == 1.0


def test_a_nested_body_is_a_clear_error():
    with pytest.raises(BadEvent, match="nested too deeply"):
        serve()({"body": '{"a":' * 100_000})


@pytest.mark.parametrize("code", ["bug", "nan", "scale", "type"])
def test_our_failures_become_the_mean_of_their_siblings(code):
    rows = [row("a", "1"), row("b", code), row("c", "0.50"), row("d", "-1", prompt="other")]
    imputed = serve(moody, max_unscored=0.25)(rows)[1]
    assert (imputed["id"], value(imputed)) == ("b", 0.75)
    assert metric(imputed, "length") == 2.5
    assert metric(imputed, "unscored") == metric(imputed, "imputed") == 1.0


def test_the_data_sets_failures_are_the_floor():
    (result,) = serve(moody)([row("a", "reference")])
    assert value(result) == -1.0
    assert metric(result, "length") == 0.0
    assert metric(result, "bad_reference") == 1.0


@pytest.mark.parametrize("codes", [["bug"], ["bug", "nan"], ["1", "bug"]])
def test_a_batch_that_mostly_failed_by_us_raises(codes):
    with pytest.raises(BatchFailed) as raised:
        serve(moody)([row(str(at), code) for at, code in enumerate(codes)])
    assert "secret" not in str(raised.value)


def test_every_row_has_the_same_metrics_in_the_same_order():
    codes = ["1", "bug", "reference", "0", "0", "0"]
    rows = [row(str(at), code) for at, code in enumerate(codes)] + [None]
    names = {
        tuple(metric["name"] for metric in result["metrics_list"]) for result in serve(moody)(rows)
    }
    assert names == {("length", "bad_reference", "unscored", "imputed", "out_of_time")}


def test_the_floor_and_failing_are_settings():
    rows = [row("a", "1"), row("b", "bug")]
    result = serve(moody, on_unscored="minimum", max_unscored=1.0)(rows)[1]
    assert (value(result), metric(result, "unscored"), metric(result, "imputed")) == (
        -1.0,
        1.0,
        0.0,
    )
    with pytest.raises(BatchFailed):
        serve(moody, on_unscored="fail", max_unscored=1.0)(rows)


def test_a_worker_that_fails_leaves_the_others_their_scores():
    threaded = reward_function(version=1, scale=(-1, 1), metrics=["length"], name="threaded")(
        moody.function
    )
    rows = [row(str(at), "bug" if at == 5 else "1") for at in range(20)]
    for workers in (None, 4):
        assert [value(result) for result in serve(threaded, workers=workers)(rows)] == [1.0] * 20
    assert threaded.needs == Needs()


def test_a_deadline_that_has_passed_fails_the_batch():
    with pytest.raises(BatchFailed, match="DeadlineReached 2"):
        serve()([row("a"), row("b")], context(0))
    with pytest.raises(BatchFailed):
        serve(deadline_margin_ms=5000)([row("a")], context(5000))
    assert serve(deadline_margin_ms=0)([], context(0)) == []


def test_what_the_deadline_cuts_off_of_a_reward_of_ours_earns_the_minimum(monkeypatch):
    """A mean would pay for how busy the machine is, and a failed batch would meet it again."""
    clock = iter(range(1000))
    monkeypatch.setattr("reward_functions.core.batch.monotonic", lambda: next(clock))
    monkeypatch.setattr(handler, "monotonic", lambda: 0)
    rows = [row(str(at)) for at in range(20)]
    results = serve(max_unscored=0.0)(rows, context(10_000))  # the margin leaves nine, one a sample
    assert [value(result) for result in results] == [1.0] * 9 + [0.0] * 11
    assert [metric(result, "out_of_time") for result in results] == [0.0] * 9 + [1.0] * 11
    assert [metric(result, "imputed") for result in results] == [0.0] * 20


def test_a_response_over_the_limit_drops_its_metrics_and_then_fails(monkeypatch):
    rows = [row("i" * 100 + str(at)) for at in range(20)]
    full = serve()(rows)
    monkeypatch.setattr(contract, "MAX_RESPONSE_BYTES", len(json.dumps(full)) - 1)
    assert [set(result) for result in serve()(rows)] == [{"id", "aggregate_reward_score"}] * 20
    monkeypatch.setattr(contract, "MAX_RESPONSE_BYTES", 100)
    with pytest.raises(ResponseTooLarge):
        serve()(rows)


def declared(function, *examples):
    return reward_function(version=1, name="declared", examples=examples)(function)


def test_binding_replays_the_first_example_only():
    full = Example("positive", response="1", score=1.0)
    wrong = Example("negative", response="0", score=0.0)
    assert serve(declared(lambda sample: Score(1.0), full, wrong))
    with pytest.raises(FailedWarmUp, match="gives its first example 1, not 0"):
        serve(declared(lambda sample: Score(1.0), wrong, full))


def test_a_reward_that_cannot_score_its_first_example_does_not_start():
    broken = declared(lambda sample: sample.nothing, Example("positive", response="", score=1.0))
    with pytest.raises(FailedWarmUp, match="fails on its first example: AttributeError") as raised:
        serve(broken)
    assert isinstance(raised.value.__cause__, AttributeError)


def reject_with(error):
    raise error


def wrapped(error):
    """As Powertools raises what an SDK raised."""
    try:
        raise error
    except type(error):
        raise LookupError("of hunter2")  # noqa: B904 - without its cause, as many do


@pytest.mark.parametrize("fails", [wrapped, reject_with])
def test_a_start_that_aws_refuses_names_the_operation_and_the_code_and_no_more(fails):
    given = {"Error": {"Code": "AccessDeniedException", "Message": "of hunter2"}}
    refused = ClientError(given, "GetSecretValue")
    broken = declared(lambda _: fails(refused), Example("positive", response="", score=1.0))
    with pytest.raises(FailedWarmUp, match=r"\(GetSecretValue: AccessDeniedException\)$") as raised:
        serve(broken)
    assert "hunter2" not in str(raised.value)


def algebraic(function=lambda sample: Score(1.0)):
    return reward_function(version=1, name="algebraic", needs=Needs(symbolic=True))(function)


def test_binding_starts_the_process_that_algebra_needs_and_no_other(monkeypatch):
    warmed = []
    monkeypatch.setattr(symbolic, "warm", lambda *, wait: warmed.append(wait))
    serve()
    assert not warmed
    assert value(serve(algebraic())([row("a")])[0]) == 1.0
    assert warmed == [False], "a start does not wait for it"


def test_without_that_process_the_answers_that_need_it_are_unscored(monkeypatch, capsys):
    def unavailable(**_):
        raise EngineUnavailable("no process")

    def score(sample):
        return unavailable() if sample.response == "hard" else Score(0.5)

    monkeypatch.setattr(symbolic, "warm", unavailable)
    results = serve(algebraic(score), max_unscored=0.5)([row("a", "easy"), row("b", "hard")])
    assert [metric(result, "unscored") for result in results] == [0.0, 1.0]
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    (warning,) = [line for line in told if line.get("message") == "warm-up incomplete"]
    assert warning["error"] == "EngineUnavailable: no process"


def test_what_does_not_exist_is_not_served():
    with pytest.raises(UnknownReward, match="exact_match"):
        bind(LambdaSettings(name="exact_mach"))
    with pytest.raises(BadParameter, match="ignore_case"):
        serve(parameters={"ignore_cas": False})
    with pytest.raises(BadParameter):
        serve(parameters={"ignore_case": "yes"})


def test_a_composite_of_the_settings_is_served_under_their_name():
    serving = bind(LambdaSettings(name="acme.place", composite={"weighted": {"exact_match": 1}}))
    assert serving.spec.name == "acme.place"
    results = serving([row("a"), row("b", "Lyon")])
    assert [value(result) for result in results] == [1.0, 0.0]
    assert metric(results[0], "exact_match") == 1.0


@pytest.fixture
def fresh():
    """The module as a starting function finds it: nothing bound yet."""
    vars(handler).pop("handler", None)
    yield handler
    vars(handler).pop("handler", None)


def test_the_entry_point_is_bound_once_from_the_environment(monkeypatch, fresh):
    for key, text in LambdaSettings(name="exact_match").to_env().items():
        monkeypatch.setenv(key, text)
    entry = fresh.handler
    assert entry is fresh.handler
    assert value(entry([row("a")])[0]) == 1.0


def test_importing_the_module_reads_no_environment(monkeypatch, fresh):
    monkeypatch.setenv("REWARD_NAME", "exact_match")
    monkeypatch.setenv("REWARD_NOB", "{}")
    with pytest.raises(BadSettings, match="REWARD_NOB"):
        _ = fresh.handler
    with pytest.raises(AttributeError, match="'handle'"):
        _ = fresh.handle


def test_a_missing_attribute_at_start_is_not_taken_for_a_missing_handler(monkeypatch, fresh):
    def broken(_):
        raise AttributeError("module 'x' has no attribute 'y'")

    monkeypatch.setenv("REWARD_NAME", "exact_match")
    monkeypatch.setattr(fresh, "bind", broken)
    with pytest.raises(FailedStart, match="'y'"):
        _ = fresh.handler


class Noted:
    """Notes what it is asked to do."""

    def __init__(self, done, name):
        self.done, self.name = done, name

    def __getattr__(self, what):
        return lambda: self.done.append(f"{self.name} {what}")


@pytest.mark.parametrize("symbolic_too", [False, True])
@pytest.mark.parametrize("judged", [False, True])
@pytest.mark.parametrize("isolated", [False, True])
def test_a_snapshot_holds_no_connection_and_no_process_and_what_is_restored_has_its_own(
    judged, isolated, symbolic_too, monkeypatch
):
    done = []
    monkeypatch.setattr(symbolic, "warm", lambda *, wait: done.append("algebra warm"))
    monkeypatch.setattr(symbolic, "end", lambda: done.append("algebra end"))
    serving = replace(
        serve(algebraic() if symbolic_too else None),
        judge_pool=Noted(done, "pool") if judged else None,
        isolation=Noted(done, "child") if isolated else None,
    )
    done.clear()
    serving.suspend()
    ends = [(judged, "pool close"), (isolated, "child end"), (symbolic_too, "algebra end")]
    assert done == [what for there, what in ends if there]
    done.clear()
    serving.resume()
    begins = [(judged, "pool reopen"), (symbolic_too and not isolated, "algebra warm")]
    assert done == [what for there, what in begins if there]


@pytest.mark.parametrize("kind", [None, "on-demand", handler.SNAP_START])
def test_hooks_are_registered_for_a_snapshot_alone(kind, monkeypatch, fresh):
    hooks, seeded = {}, []
    runtime = SimpleNamespace(
        register_before_snapshot=lambda *given: hooks.update(before=given),
        register_after_restore=lambda *given: hooks.update(after=given),
    )
    monkeypatch.setitem(sys.modules, "snapshot_restore_py", runtime)
    monkeypatch.setitem(
        sys.modules, "numpy.random", SimpleNamespace(seed=lambda: seeded.append("numpy"))
    )
    monkeypatch.setattr(random, "seed", lambda: seeded.append("random"))
    monkeypatch.setattr(tempfile, "_name_sequence", "of the snapshot")
    monkeypatch.setenv("REWARD_NAME", "exact_match")
    if kind:
        monkeypatch.setenv(handler.INITIALIZATION, kind)
    bound = fresh.handler
    if kind != handler.SNAP_START:
        assert hooks == {}
        return
    assert hooks["before"] == (bound.suspend,)
    renew, *given = hooks["after"]
    assert seeded == []
    renew(*given)
    assert seeded == ["random", "numpy"]
    assert tempfile._name_sequence is None


def test_a_reward_that_asks_a_judge_is_served_with_one_alone():
    with pytest.raises(NoJudge, match=r"reference asks a judge model.*name one in REWARD_JUDGE$"):
        bind(LambdaSettings(name="reference"))
