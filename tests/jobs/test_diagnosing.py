"""Why a job failed: each row of the table of causes, by a message or a log that shows it.

Logs are written to the local AWS emulator's CloudWatch Logs, functions are the emulator's.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from botocore.exceptions import ClientError

from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs import diagnosing
from reward_functions.jobs.causes import CAUSES, Symptom, likely
from reward_functions.jobs.diagnosing import diagnose
from reward_functions.jobs.figures import SIGNS
from reward_functions.jobs.grader_log import ERRORS, SHOWN
from reward_functions.jobs.job import Job, MetricPoint
from tests.deployed_stage import SOURCE
from tests.failure_messages import BY_MESSAGE

BEGIN = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=1)
END = BEGIN + timedelta(minutes=30)
REQUEST = "8fc6f963-411b-58b5-8483-a32130c0f45d"
NUMBERS = count()

REPORT = (
    f"REPORT RequestId: {REQUEST}\tDuration: {{ms}} ms\tBilled Duration: 99999 ms\tMemory Size: "
    "1769 MB\tMax Memory Used: {mb} MB\tInit Duration: 480.25 ms\t{ending}"
)


def report(ms=201.67, mb=84, ending=""):
    return REPORT.format(ms=ms, mb=mb, ending=ending)


def platform(status="success", error=None, ms=201.67, mb=84):
    metrics = {"durationMs": ms, "memorySizeMB": 1769, "maxMemoryUsedMB": mb}
    record = {"requestId": REQUEST, "metrics": metrics, "status": status}
    record |= {"errorType": error} if error else {}
    return json.dumps({"time": "2026-11-22T09:00:00Z", "type": "platform.report", "record": record})


def logged(error, message, level="ERROR"):
    line = {"timestamp": "2026-11-22T09:00:00Z", "level": level, "message": message}
    return json.dumps(
        line | {"errorType": error, "errorMessage": message, "stackTrace": ["secret"]}
    )


BY_LOG = {
    # a line of the grader's log, and the cause it shows
    report(ending="Status: timeout", ms=900000.0): "timeout",
    f"2026-11-22T09:00:00.123Z {REQUEST} Task timed out after 900.00 seconds": "timeout",
    f"RequestId: {REQUEST} Error: Task timed out after 900.00 seconds": "timeout",
    platform("timeout", ms=900_000.0): "timeout",
    report(ending="Status: error\tError Type: Runtime.OutOfMemory"): "out of memory",
    platform("error", "Runtime.OutOfMemory"): "out of memory",
    report(mb=1769): "out of memory",
    f"RequestId: {REQUEST} Error: Runtime exited with error: signal: killed": "out of memory",
    "[ERROR] MemoryError\nTraceback (most recent call last):": "out of memory",
    logged("Function.ResponseSizeTooLarge", "Response payload size exceeded"): "payload over 6 MB",
    "[ERROR] Runtime.ImportModuleError: Unable to import module 'x': No module named 'sympy'":
        "broken package",
    logged("FailedStart", "REWARD_NAME: no reward 'gsm9k'"): "broken package",
    logged("JudgeUnavailable", "m: 429"): "judge unavailable",
    logged("NoVerdict", "m: stopped for length"): "no verdict",
    logged("DeadlineReached", "the time of the batch is over"): "deadline",
    logged("SampleBlocked", "the reward did not return"): "blocked sample",
    logged("ProcessEnded", "the process of the reward ended: signal 9"): "process ended",
    logged("BatchFailed", "5 of 8 samples could not be scored, more than max_unscored=0.5 allows"):
        "too many samples unscored",
    logged("BadReference", "the reference is of type list"): "bad references",
    logged("ThrottlingException", "Rate exceeded"): "throttled grader",
}  # fmt: skip

NOTHING = [
    "the job did not end well",
    "reward collapsed",
    "stopped by a user",
    "",
]


@pytest.fixture(scope="module")
def function(local_aws, deployed_function):
    """A function with one published version; the ARN of that version."""
    name = f"SageMaker-reward-diagnosed-{next(NUMBERS)}"
    arn = deployed_function(SOURCE, name=name)
    client = local_aws.client("lambda")
    client.get_waiter("function_active_v2").wait(FunctionName=name, WaiterConfig={"Delay": 0.05})
    version = client.publish_version(FunctionName=name)["Version"]
    return f"{arn}:{version}"


@pytest.fixture
def log(root_session, deployed_function, local_aws, monkeypatch):
    """Write lines to the log of a function of its own; returns the ARN of the job's version."""
    for name, value in local_aws.environment.items():
        monkeypatch.setenv(name, value)
    logs = root_session.client("logs")
    name = f"SageMaker-reward-logged-{next(NUMBERS)}"
    group = f"/aws/lambda/{name}"

    def written(*lines, version="7", at=BEGIN + timedelta(minutes=1)):
        if not any(logs.describe_log_groups(logGroupNamePrefix=group)["logGroups"]):
            logs.create_log_group(logGroupName=group)
        stream = f"2026/11/22/[{version}]{next(NUMBERS):032x}"
        logs.create_log_stream(logGroupName=group, logStreamName=stream)
        events = [
            {"timestamp": int(at.timestamp() * 1000) + number, "message": line}
            for number, line in enumerate(lines)
        ]
        logs.put_log_events(logGroupName=group, logStreamName=stream, logEvents=events)
        return f"arn:aws:lambda:us-east-1:000000000000:function:{name}:7"

    return written


def job(grader="", failure="", **changed):
    members = {
        "driver": "bedrock", "id": "arn:aws:bedrock:us-east-1:000000000000:x/y", "name": "x-1",
        "status": "failed", "model": "m", "created": BEGIN, "ended": END, "grader": grader,
        "failure": failure,
    }  # fmt: skip
    return Job(**members | changed)


def named(causes):
    return [each.cause.name for each in causes]


def of_log(diagnosis):
    return [each.cause.name for each in diagnosis.causes if each.sign.place in ("log", "ending")]


@pytest.mark.parametrize(("line", "cause"), BY_LOG.items())
def test_a_line_of_the_log_shows_its_cause(log, root_session, line, cause):
    diagnosis = diagnose(job(log(line)), root_session)
    assert of_log(diagnosis)[0] == cause
    assert not diagnosis.unread


@pytest.mark.parametrize(("message", "cause"), BY_MESSAGE.items())
def test_a_message_of_the_service_shows_its_cause(message, cause):
    assert named(likely([Symptom("failure", message)]))[0] in cause


def test_every_row_is_shown_by_a_case():
    shown = {*BY_LOG.values(), *BY_MESSAGE.values()}
    others = {"reserved concurrency of 0", "function not ready", "stopped", "nothing was learned"}
    others |= {"time is up"}
    assert {cause.name for cause in CAUSES} == (shown | others) - {
        "invocation denied or data denied"
    }


@pytest.mark.parametrize("message", NOTHING)
def test_where_nothing_fits_nothing_is_made_up(message):
    assert not list(likely([Symptom("failure", message)]))


def test_every_row_has_a_remedy_and_a_source():
    for cause in CAUSES:
        assert cause.remedy
        assert cause.source.startswith(("docs", "botocore", "awslabs/"))


def test_a_version_that_was_deleted_is_found_by_asking_for_it(log, root_session, function):
    gone = f"{function.rpartition(':')[0]}:99"
    diagnosis = diagnose(job(gone), root_session)
    assert "version deleted" in named(diagnosis.causes)


def test_nobody_asks_for_the_function_of_an_agent_which_rewards_itself(root_session, function):
    gone = f"{function.rpartition(':')[0]}:99"
    diagnosis = diagnose(job(gone, driver="agent-rft"), root_session)
    assert not [sign for sign in diagnosis.signs if sign.place == "function"]


def test_a_function_as_it_should_be_shows_nothing(root_session, function, log):
    diagnosis = diagnose(job(function), root_session)
    assert not diagnosis.signs
    assert diagnosis.unread[0].startswith(
        "the grader's log: it does not exist; the function was never"
    )


def test_a_function_that_may_not_run_is_found(root_session, function, log):
    client = root_session.client("lambda")
    name = function.split(":")[-2]
    client.put_function_concurrency(FunctionName=name, ReservedConcurrentExecutions=0)
    try:
        diagnosis = diagnose(job(function), root_session)
    finally:
        client.delete_function_concurrency(FunctionName=name)
    assert named(diagnosis.causes) == ["reserved concurrency of 0"]


def test_a_function_that_failed_to_start_is_found():
    sign = Symptom("function", "the function is Failed: InvalidImage")
    assert named(likely([sign])) == ["function not ready"]


def test_the_log_is_that_of_the_very_version_and_time(log, root_session):
    grader = log(report())
    log("[ERROR] ValueError: of another version", version="8")
    log("[ERROR] ValueError: of its preflight", at=BEGIN - timedelta(seconds=1))
    log("[ERROR] ValueError: of its preflight, rounded", at=BEGIN + timedelta(seconds=0.5))
    log("[ERROR] ValueError: of the next job", at=END + timedelta(seconds=10))
    found = diagnose(job(grader), root_session).log
    assert (found.invocations, dict(found.errors)) == (1, {})


def test_a_job_that_was_stopped_is_no_riddle(root_session):
    diagnosis = diagnose(job(status="stopped"), root_session)
    assert diagnosis.signs == (Symptom("status", "the job was stopped"),)
    assert named(diagnosis.causes) == ["stopped"]


def batch(mean, share):
    return json.dumps(
        {"_aws": {}, "samples": 8, "reward_mean": mean, "reward_std": 0, "frac_reward_min": share}
    )


@pytest.mark.parametrize(("shares", "causes"), [([1, 1], ["nothing was learned"]), ([1, 0.5], [])])
def test_a_job_that_succeeded_may_have_taught_nothing(log, root_session, shares, causes):
    grader = log(*(batch(1 - share, share) for share in shares))
    assert of_figures(diagnose(job(grader, status="succeeded"), root_session)) == causes


@pytest.mark.parametrize(("share", "causes"), [(1.0, ["nothing was learned"]), (0.9, [])])
def test_the_services_own_figures_show_it_too(root_session, share, causes):
    points = [MetricPoint(step, "frac_reward_zero_std", share) for step in (1, 2)]
    assert of_figures(diagnose(job(status="succeeded"), root_session, points=points)) == causes


def test_what_earns_nothing_is_looked_into_by_its_reasons():
    (cause,) = [each for each in CAUSES if each.name == "nothing was learned"]
    signs = [each.remedy for each in SIGNS if each.nothing_learned]
    assert len(signs) > 1
    for remedy in (cause.remedy, *signs):
        assert ("`reward job baseline`" in remedy, "preflight" in remedy) == (True, False)


def of_figures(diagnosis):
    return [each.cause.name for each in diagnosis.causes if each.sign.place == "figures"]


def test_figures_that_cannot_be_read_are_named(root_session):
    def points():
        yield MetricPoint(1, "reward", 0.5)
        raise AwsFailed("not allowed: s3:GetObject")

    diagnosis = diagnose(job(), root_session, points=points())
    assert diagnosis.unread[0] == "the service's figures: not allowed: s3:GetObject"


def test_an_immutable_function_logs_under_latest(log, root_session):
    grader = log("[ERROR] ValueError: its own", version="$LATEST")
    found = diagnose(job(grader.removesuffix(":7")), root_session).log
    assert list(found.errors) == ["[ERROR] ValueError: its own"]


def test_invocations_are_counted_once_in_either_format(log, root_session):
    grader = log(report(ms=1500.5), platform(ms=2500.0, mb=99), report(ending="Status: success"))
    found = diagnose(job(grader), root_session).log
    assert (found.invocations, dict(found.endings)) == (3, {})
    assert (found.seconds, found.memory_used, found.memory_size) == (2.5, 99.0, 1769.0)
    assert found.complete


def test_equal_errors_are_counted_and_many_are_cut(log, root_session):
    lines = [f"[ERROR] ValueError: {at % 20}" for at in range(60)]
    found = diagnose(job(log(*lines)), root_session).log
    assert len(found.errors) == ERRORS
    assert set(found.errors.values()) == {3}


def test_what_an_error_quotes_is_bounded_and_a_stack_trace_is_left_out(log, root_session):
    long = "x" * 5_000
    found = diagnose(
        job(log(f"[ERROR] ValueError: {long}\nTraceback: secret", logged("KeyError", "\x1b[2J"))),
        root_session,
    )
    assert all(len(line) <= SHOWN for line in found.log.errors)
    assert "secret" not in "".join(found.log.errors)
    assert "KeyError: \x1b[2J" in found.log.errors  # harmless once it is printed by `cell`


@pytest.mark.parametrize(
    "line",
    [
        '{"type": "platform.report"}',
        '{"type": "platform.report", "record": 3}',
        '{"type": "platform.report", "record": {"metrics": {"durationMs": "x"}}}',
    ],
)
def test_what_a_function_prints_is_no_report_of_lambdas(log, root_session, line):
    found = diagnose(job(log(line)), root_session).log
    assert (found.invocations, found.seconds, dict(found.endings)) == (0, 0.0, {})


@pytest.mark.parametrize("line", ["REPORT", "REPORT Duration: 99999999999999999999 ms"])
def test_a_broken_report_is_an_invocation_like_any_other(log, root_session, line):
    found = diagnose(job(log(line)), root_session).log
    assert (found.invocations, found.seconds, dict(found.endings)) == (1, 0.0, {})


@pytest.mark.parametrize("metrics", [{}, {"metrics": {}}, {"metrics": {"durationMs": 250}}])
def test_what_a_report_does_not_measure_is_nothing(log, root_session, metrics):
    record = json.dumps({"type": "platform.report", "record": {"status": "success"} | metrics})
    diagnosis = diagnose(job(log(record)), root_session)
    found = diagnosis.log
    assert (found.invocations, found.memory_used, found.memory_size) == (1, 0.0, 0.0)
    assert found.seconds == metrics.get("metrics", {}).get("durationMs", 0) / 1000
    assert "out of memory" not in named(diagnosis.causes)


def test_lines_that_say_nothing_of_an_end_are_left_alone(log, root_session):
    grader = log('{"level": "INFO", "message": "no ERROR here"}', '{"errors": {}, "x": "ERROR"}')
    diagnosis = diagnose(job(grader), root_session)
    assert not diagnosis.log.errors


def test_signs_of_several_places_are_all_kept(log, root_session):
    grader = log(platform("timeout", ms=60_000.0), logged("JudgeUnavailable", "m: throttled"))
    diagnosis = diagnose(job(grader, "The reward function failed"), root_session)
    assert [sign.place for sign in diagnosis.signs[:3]] == ["failure", "log", "ending"]
    assert {"timeout", "judge unavailable"} <= set(named(diagnosis.causes))


def test_a_job_without_a_grader_is_read_as_far_as_it_goes(root_session):
    diagnosis = diagnose(job(failure="An internal error occurred."), root_session)
    assert diagnosis.unread == ("the service does not say which function graded the job",)
    assert named(diagnosis.causes) == ["a fault of the service"]


def test_a_grader_that_is_no_arn_is_named(root_session):
    diagnosis = diagnose(job("not an arn"), root_session)
    assert "is not the ARN of a Lambda function" in diagnosis.unread[0]


def test_the_patterns_take_time_in_proportion_to_the_text():
    hostile = [
        "role " * 400,
        "s3" * 1_000,
        "function " * 220,
        "not authorized " * 130,
        "assume" * 300,
    ]
    for text in hostile:
        list(likely([Symptom("failure", text[:2_048])]))


TRAINER = [
    "2026-11-22 09:00:00 RuntimeError: CUDA out of memory",
    "rank 3: RuntimeError: CUDA out of memory",
    "ValueError: " + "a response " * 100,
    "no words of it",
]


def trained(monkeypatch, *pages, **changed):
    """What a trainer's log shows of a job, and what the log was asked for."""
    asked, answers = [], list(pages)

    class Logs:
        def filter_log_events(self, **sent):
            asked.append(sent)
            answer = answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer

    monkeypatch.setattr(diagnosing, "control_plane", lambda *_: Logs())
    of = job(**({"driver": "sagemaker", "status": "failed", "name": "math-1"} | changed))
    return diagnose(of, region="us-east-1"), asked


def test_the_trainers_errors_are_counted_and_cut(monkeypatch):
    events = [{"message": line} for line in TRAINER]
    pages = {"events": events, "nextToken": "x"}, {"events": events[:1]}
    diagnosis, asked = trained(monkeypatch, *pages)
    errors = [sign.text for sign in diagnosis.signs if sign.place == "log"]
    assert errors[0] == "RuntimeError: CUDA out of memory (3 times)"
    assert len(errors) == 2
    assert len(errors[1]) == diagnosing.SHOWN
    assert asked[0]["logGroupName"] == "/aws/sagemaker/TrainingJobs"
    assert asked[0]["logStreamNamePrefix"] == "math-1/"
    assert asked[1]["nextToken"] == "x"


@pytest.mark.parametrize(
    "changed", [{"driver": "bedrock"}, {"status": "succeeded"}, {"name": "a*/"}, {"name": ""}]
)
def test_no_other_log_of_a_trainer_is_asked_for(monkeypatch, changed):
    _, asked = trained(monkeypatch, **changed)
    assert asked == []


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("ResourceNotFoundException", "it does not exist yet"),
        ("AccessDeniedException", "logs:Filter"),
    ],
)
def test_a_trainers_log_that_cannot_be_read_is_named(monkeypatch, code, words):
    refusal = ClientError({"Error": {"Code": code, "Message": "no"}}, "FilterLogEvents")
    diagnosis, _ = trained(monkeypatch, refusal)
    assert any(words in each for each in diagnosis.unread if "trainer" in each)


@pytest.mark.parametrize("phase", ["MaxRuntimeExceeded", "MaxWaitTimeExceeded", "Stopped"])
def test_a_job_that_ran_out_of_time_is_said_to_have(monkeypatch, phase):
    diagnosis, _ = trained(monkeypatch, {"events": []}, status="stopped", phase=phase)
    assert ("time is up" in named(diagnosis.causes)) == (phase != "Stopped")
