"""The local Lambda: AWS's own runtime client in a child process, and nothing left behind."""

from __future__ import annotations

import json
import os
import re
import threading
import time
from contextlib import contextmanager
from importlib.util import find_spec

import pytest

from reward_functions.aws.deployed.function import FunctionEnded, FunctionError, InitError
from reward_functions.core import extras
from reward_functions.core.batch import score_batch
from reward_functions.core.extras import MissingExtra
from reward_functions.core.registry import get
from reward_functions.local.function_runtime import FOLDER, LocalRuntime
from reward_functions.serving.contract import decode, result_object
from reward_functions.serving.settings import LambdaSettings

needs_client = pytest.mark.skipif(
    find_spec("awslambdaric") is None, reason="awslambdaric has wheels for Linux only"
)

SETTINGS = LambdaSettings(name="exact_match")

FUNCTIONS = """
import os, sys, time

def behave(event, context):
    kind = event["kind"]
    if kind == "raise":
        raise KeyError("missing")
    if kind == "exit":
        os._exit(event.get("status", 7))
    if kind == "killed":
        os.kill(os.getpid(), 9)
    if kind == "sleep":
        time.sleep(60)
    if kind == "large":
        return "x" * event["size"]
    if kind == "unserialisable":
        return {1, 2}
    if kind == "deadline":
        return context.get_remaining_time_in_millis()
    if kind == "environment":
        return dict(os.environ)
    return os.getpid()
"""


MOODY = '''
from reward_functions import Score, reward_function
from reward_functions.serving.handler import bind
from reward_functions.core import extras
from reward_functions.core.extras import MissingExtra
from reward_functions.serving.settings import LambdaSettings

@reward_function(version=1)
def moody(sample):
    """What the response says."""
    return Score(float(sample.response))

serve = bind(LambdaSettings(name="moody"), moody)
'''


BLOCKING = '''
import time
from reward_functions import Score, reward_function
from reward_functions.serving.handler import bind
from reward_functions.serving.settings import LambdaSettings

@reward_function(version=1)
def blocking(sample):
    """What the response says."""
    if sample.response == "sleep":
        time.sleep(3600)
    while sample.response == "compute":
        pass
    print("printed", sample.id)
    return Score(float(sample.response))

serve = bind(LambdaSettings(name="blocking", deadline_margin_ms=500), blocking)
'''


def row(name, response="Paris", reference="Paris"):
    turns = [{"role": "user", "content": "?"}, {"role": "assistant", "content": response}]
    return {"id": name, "messages": turns, "reference_answer": reference}


@pytest.fixture(scope="module")
def reward():
    """One warm function for the tests that only ask it things."""
    with LocalRuntime(SETTINGS.to_env()) as runtime:
        yield runtime


@pytest.fixture
def behaving(tmp_path):
    (tmp_path / "functions.py").write_text(FUNCTIONS)

    @contextmanager
    def started(timeout=20.0):
        with LocalRuntime(
            {"MINE": "1"}, handler="functions.behave", folder=tmp_path, timeout=timeout
        ) as runtime:
            yield runtime

    return started


def test_without_the_client_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"reward-functions\[local\]"):
        LocalRuntime({})


@needs_client
def test_the_result_objects_are_byte_identical_to_a_direct_call(reward):
    rows = [row(str(at), "Paris" if at % 3 else "Lyon") for at in range(64)]
    direct = [result_object(result) for result in score_batch(get("exact_match"), decode(rows))]
    assert reward.invoke(rows).body == json.dumps(direct).encode()


@needs_client
def test_hostile_batches_cross_the_wire(reward):
    rows = [
        row("nul\0", "\0"),
        row("half\ud800", "\ud800"),
        row("braces", "{" * 100_000),
        row("five megabytes", "x" * 5_000_000),
        row("é🎉"),
        {"id": 1e22, "messages": 3},
        None,
    ]
    reported = reward.invoke(rows).payload
    assert [result["id"] for result in reported] == [
        "nul\0",
        "sample-1",
        "braces",
        "five megabytes",
        "é🎉",
        "10000000000000000000000",
        "sample-6",
    ]
    assert [result["aggregate_reward_score"] for result in reported] == [0, 0, 0, 0, 1, 0, 0]


@needs_client
@pytest.mark.parametrize(
    ("event", "error_type", "message"),
    [
        ("text", "BadEvent", "the event is a string"),
        ({"body": "[" * 100_000}, "BadEvent", "nested too deeply"),
        (b"[" * 100_000, "Runtime.UnmarshalError", "recursion"),
        (b"[1", "Runtime.UnmarshalError", "Unable to unmarshal input"),
        (
            b"[" + b" " * 6_291_455 + b"]",
            "RequestEntityTooLargeException",
            "has 6291457 bytes; Request must be smaller than 6291456 bytes",
        ),
    ],
)
def test_unusable_events_are_errors_the_function_survives(reward, event, error_type, message):
    with pytest.raises(FunctionError, match=message) as raised:
        reward.invoke(event)
    assert raised.value.error_type == error_type
    assert reward.invoke([row("a")]).payload[0]["aggregate_reward_score"] == 1.0


@needs_client
def test_a_failing_reward_is_imputed_or_fails_the_invocation(tmp_path):
    (tmp_path / "moody.py").write_text(MOODY)
    environment = {"PYTHONPATH": str(FOLDER)}
    with LocalRuntime(environment, handler="moody.serve", folder=tmp_path) as runtime:
        reported = runtime.invoke(
            [row(name, name) for name in ("0.5", "1", "1", "1", "secret")]
        ).payload
        assert reported[4]["aggregate_reward_score"] == 0.875
        with pytest.raises(FunctionError, match=r"1 of 1 .*ValueError 1") as raised:
            runtime.invoke([row("a", "secret")])
        assert raised.value.error_type == "BatchFailed"
        assert "ValueError at moody:" in runtime.logs
        assert "convert" not in runtime.logs, "an exception's own words can quote the response"


@needs_client
def test_two_samples_that_block_leave_198_rewards_before_the_timeout(tmp_path):
    """One sleeps and one computes for ever; each would have been `Sandbox.Timedout`."""
    (tmp_path / "blocking.py").write_text(BLOCKING)
    responses = ["sleep", *("0.25", "1") * 99, "compute"]
    environment = {"PYTHONPATH": str(FOLDER)}
    with LocalRuntime(
        environment, handler="blocking.serve", folder=tmp_path, timeout=2.0
    ) as runtime:
        reported = runtime.invoke([row(str(at), each) for at, each in enumerate(responses)]).payload
        assert [each["aggregate_reward_score"] for each in reported[1:-1]] == [0.25, 1.0] * 99
        assert runtime.logs.count("printed") == 198
        assert "SampleBlocked" in runtime.logs
        again = runtime.invoke([row("a", "1")])
    assert not again.cold
    assert again.payload[0]["aggregate_reward_score"] == 1.0


@needs_client
def test_the_logs_hold_the_batch_and_no_text(reward):
    reward.invoke([row("a", "the response", "the reference")])
    assert '"message":"batch scored"' in reward.logs
    assert "the response" not in reward.logs
    assert "the reference" not in reward.logs


@needs_client
@pytest.mark.parametrize(
    ("environment", "error_type", "message"),
    [
        ({}, "BadSettings", "REWARD_NAME"),
        ({"REWARD_NAME": "exact_mach"}, "UnknownReward", "exact_match"),
        (
            {"REWARD_NAME": "exact_match", "REWARD_PARAMETERS": '{"case": 1}'},
            "BadParameter",
            "case",
        ),
    ],
)
def test_a_function_that_cannot_start_says_why(environment, error_type, message):
    with LocalRuntime(environment) as runtime, pytest.raises(InitError, match=message) as raised:
        runtime.invoke([])
    assert raised.value.error_type == error_type


@needs_client
def test_a_module_that_is_missing_is_a_failed_start(tmp_path):
    with (
        LocalRuntime({}, handler="nothing.here", folder=tmp_path) as runtime,
        pytest.raises(InitError) as raised,
    ):
        runtime.invoke([])
    assert raised.value.error_type == "Runtime.ImportModuleError"


@needs_client
def test_a_folder_that_is_missing_is_named_and_leaves_nothing(tmp_path):
    before = {*threading.enumerate()}
    with LocalRuntime({}, folder=tmp_path / "no") as runtime, pytest.raises(FileNotFoundError):
        runtime.invoke([])
    assert {*threading.enumerate()} <= before


@needs_client
def test_the_first_invocation_is_cold_and_the_next_warm(behaving):
    with behaving() as runtime:
        cold, warm = runtime.invoke({"kind": ""}), runtime.invoke({"kind": ""})
    assert (cold.cold, warm.cold) == (True, False)
    assert cold.payload == warm.payload
    assert 0 < warm.seconds < cold.seconds


@needs_client
def test_an_exception_has_its_type_and_trace_and_the_process_goes_on(behaving):
    with behaving() as runtime:
        before = runtime.invoke({"kind": ""}).payload
        with pytest.raises(FunctionError) as raised:
            runtime.invoke({"kind": "raise"})
        assert runtime.invoke({"kind": ""}).payload == before
    assert (raised.value.error_type, raised.value.message) == ("KeyError", "'missing'")
    assert "functions.py" in raised.value.stack_trace[-1]


@needs_client
def test_what_is_not_json_is_an_error_of_the_client(behaving):
    with behaving() as runtime, pytest.raises(FunctionError) as raised:
        runtime.invoke({"kind": "unserialisable"})
    assert raised.value.error_type == "Runtime.MarshalError"


@needs_client
@pytest.mark.parametrize(
    ("event", "timeout", "error_type"),
    [
        ({"kind": "exit"}, 20.0, "Runtime.ExitError"),
        ({"kind": "sleep"}, 0.2, "Sandbox.Timedout"),
        ({"kind": "large", "size": 6_300_000}, 20.0, "Function.ResponseSizeTooLarge"),
    ],
)
def test_what_ends_the_process_is_followed_by_a_cold_start(behaving, event, timeout, error_type):
    with behaving(timeout) as runtime:
        runtime.invoke({"kind": ""})
        with pytest.raises(FunctionEnded) as raised:
            runtime.invoke(event)
        assert raised.value.error_type == error_type
        assert runtime.invoke({"kind": ""}).cold


@needs_client
def test_what_is_within_the_limits_passes_whole(behaving):
    """Six megabytes of event, and a hundred bytes more of response: what AWS lets through."""
    with behaving() as runtime:
        event = json.dumps({"kind": "large", "size": 6_291_554}).encode()
        reported = runtime.invoke(event + b" " * (6_291_456 - len(event))).body
        assert len(reported) == 6_291_556
        with pytest.raises(
            FunctionEnded, match=r"6291557 bytes; .* payload size \(6291556 bytes\)"
        ):
            runtime.invoke({"kind": "large", "size": 6_291_555})


REQUEST = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"


@needs_client
@pytest.mark.parametrize(
    ("event", "error_type", "message"),
    [
        ({"kind": "exit"}, "Runtime.ExitError", "Runtime exited with error: exit status 7"),
        (
            {"kind": "exit", "status": 0},
            "Runtime.ExitError",
            "Runtime exited without providing a reason",
        ),
        ({"kind": "killed"}, "Runtime.ExitError", "Runtime exited with error: signal: killed"),
        ({"kind": "sleep"}, "Sandbox.Timedout", "Task timed out after 0.50 seconds"),
    ],
)
def test_a_process_that_ends_is_reported_of_in_lambdas_own_shape(
    behaving, event, error_type, message
):
    with behaving(0.5) as runtime:
        runtime.invoke({"kind": ""})
        with pytest.raises(FunctionEnded) as raised:
            runtime.invoke(event)
    reported = raised.value.payload
    assert list(reported) == ["errorType", "errorMessage"]
    assert reported["errorType"] == error_type
    assert re.fullmatch(f"RequestId: {REQUEST} Error: {message}", reported["errorMessage"])


@needs_client
def test_a_handlers_error_is_reported_of_in_the_runtime_clients_shape(behaving):
    with behaving() as runtime, pytest.raises(FunctionError) as raised:
        runtime.invoke({"kind": "raise"})
    reported = raised.value.payload
    assert list(reported) == ["errorMessage", "errorType", "requestId", "stackTrace"]
    assert (reported["errorMessage"], reported["errorType"]) == ("'missing'", "KeyError")
    assert re.fullmatch(REQUEST, reported["requestId"])
    assert reported["stackTrace"][-1].endswith('raise KeyError("missing")\n')


@needs_client
def test_the_function_sees_its_deadline(behaving):
    with behaving(20.0) as runtime:
        runtime.invoke({"kind": ""})
        assert 15_000 < runtime.invoke({"kind": "deadline"}).payload <= 20_000


@needs_client
def test_the_function_sees_nothing_of_the_callers_environment(behaving, monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    with behaving() as runtime:
        seen = runtime.invoke({"kind": "environment"}).payload
    assert seen["MINE"] == "1"
    assert "AWS_SECRET_ACCESS_KEY" not in seen
    assert "HOME" not in seen


@needs_client
def test_nothing_is_left_behind(behaving):
    before = {*threading.enumerate()}
    with behaving() as runtime:
        child = runtime.invoke({"kind": ""}).payload
    until = time.monotonic() + 5  # the thread of an answer that is sent ends by itself
    while not {*threading.enumerate()} <= before and time.monotonic() < until:
        time.sleep(0.01)
    assert {*threading.enumerate()} <= before
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def test_the_folder_is_where_the_package_is():
    assert (FOLDER / "reward_functions" / "serving" / "handler.py").is_file()
