"""The grader's own figures, from the very lines that a function writes, on the emulator's logs."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from itertools import count

import pytest

from reward_functions import Metric, Score, Scored, Unscored, sample, specs
from reward_functions.aws.arn import BadArn
from reward_functions.aws.failures import AwsFailed
from reward_functions.core.errors import BadReference, InvalidScore
from reward_functions.jobs import grader_log
from reward_functions.jobs.grader_log import by_minute, read
from reward_functions.jobs.watching import GraderWatch
from reward_functions.serving.observability import Telemetry
from reward_functions.serving.settings import LambdaSettings
from tests.jobs.memory import BEGIN, Service

NUMBERS = count(1)
END = BEGIN + timedelta(hours=1)


@pytest.fixture
def lines(capsys):
    """The log lines of a function that scores one batch."""
    telemetry = Telemetry(specs()["gsm8k"], LambdaSettings(name="gsm8k"))

    def written(*values, unscored=0, bad=0):
        errors = [InvalidScore()] * unscored + [BadReference()] * bad
        results = [
            *(Scored("x", Score(value, (Metric("m", 1.0),))) for value in values),
            *(Unscored("x", error) for error in errors),
        ]
        telemetry.batch([sample("a", "b")] * len(results), results, seconds=0.25)
        return capsys.readouterr().out.splitlines()

    return written


@pytest.fixture
def log(local_aws, root_session, monkeypatch):
    """A function's log: (job, write to a stream of a version, so many seconds after the start)."""
    for name, value in local_aws.environment.items():
        monkeypatch.setenv(name, value)
    function = f"SageMaker-reward-log-{next(NUMBERS)}"
    client = root_session.client("logs")
    group = f"/aws/lambda/{function}"
    client.create_log_group(logGroupName=group)
    arn = f"arn:aws:lambda:us-east-1:000000000000:function:{function}"
    job = replace(Service().begun(grader=f"{arn}:7"), ended=END)

    def write(written, version="7", after=0.0):
        stream = f"2026/11/22/[{version}]{next(NUMBERS):032}"
        client.create_log_stream(logGroupName=group, logStreamName=stream)
        at = int((BEGIN + timedelta(seconds=after)).timestamp() * 1000)
        client.put_log_events(
            logGroupName=group,
            logStreamName=stream,
            logEvents=[{"timestamp": at, "message": line} for line in written],
        )

    return job, write


def figures_of(job, session):
    found = by_minute(read(job, END, session).batches)
    return {each.name: dict(each.points) for each in found}


def test_what_was_written_in_the_second_of_the_end_is_the_jobs(log, lines, root_session):
    """OpenAI's API has its times in whole seconds: a short job begins and ends in one."""
    job, write = log
    job = replace(job, ended=BEGIN)
    write(lines(1.0), after=0.9)
    write(lines(0.0), after=1.0)
    assert figures_of(job, root_session)["batches"] == {0: 1.0}


def test_batches_of_a_minute_are_one(log, lines, root_session):
    job, write = log
    write(lines(1.0, 0.0, 1.0, unscored=1), after=5)
    write(lines(0.0), after=50)
    write(lines(1.0, 1.0, bad=1), after=130)
    found = figures_of(job, root_session)
    assert found["reward_mean"] == {0: 0.5, 2: 1.0}
    assert found["reward_std"] == {0: 0.5, 2: 0.0}
    assert found["frac_reward_min"] == {0: 0.5, 2: 0.0}
    assert found["samples"] == {0: 5, 2: 3}
    assert found["batches"] == {0: 2, 2: 1}
    assert found["unscored"] == {0: 1, 2: 0}
    assert found["unscored_share"] == {0: 0.2, 2: 0}
    assert found["bad_references"] == {0: 0, 2: 1}
    assert found["milliseconds"] == {0: 250, 2: 250}


def test_only_this_version_and_only_its_time(log, lines, root_session):
    job, write = log
    write(lines(1.0, 0.0), after=60)
    for version in ("6", "8", "$LATEST", "77"):
        write(lines(0.0, 0.0), version, after=60)
    write(lines(0.0, 0.0), after=-60)
    write(lines(0.0, 0.0), after=3_700)
    write(lines(0.0, 0.0), after=0.9)  # its preflight: a whole second is a rounded one
    assert figures_of(job, root_session)["reward_mean"] == {1: 0.5}


def test_what_a_preflight_asked_a_moment_before_is_not_the_jobs(log, lines, root_session):
    job, write = log
    exact = replace(job, created=job.created + timedelta(milliseconds=500))
    write(lines(0.0, 0.0), after=0.4)
    write(lines(1.0, 1.0), after=0.6)
    assert figures_of(exact, root_session)["reward_mean"] == {0: 1.0}


def test_lines_some_seconds_after_the_end_are_the_jobs(log, lines, root_session):
    job, write = log
    write(lines(1.0), after=3_603)
    assert figures_of(job, root_session)["reward_mean"] == {60: 1.0}


def test_an_immutable_deployments_function_writes_as_latest(log, lines, root_session):
    job, write = log
    write(lines(1.0, 0.0), "$LATEST", after=60)
    whole = replace(job, grader=job.grader.removesuffix(":7"))
    assert figures_of(whole, root_session)["reward_mean"] == {1: 0.5}


def test_a_batch_of_which_nothing_was_scored_has_no_mean(log, lines, root_session):
    job, write = log
    write(lines(unscored=2), after=5)
    found = figures_of(job, root_session)
    assert "reward_mean" not in found
    assert found["unscored"] == {0: 2}


BROKEN = [
    "", "START RequestId: 1", "{", "[]", '"_aws"', "null", '{"_aws": 1}',
    '{"_aws": {}, "samples": "many"}', '{"_aws": {}, "samples": [1, 2]}',
    '{"_aws": {}, "samples": true}', '{"_aws": {}, "samples": NaN}',
    '{"_aws": {}, "samples": 1' + "0" * 400 + "}", "[" * 100_000,
]  # fmt: skip


def test_lines_of_others_are_passed_over(log, lines, root_session):
    job, write = log
    write([*BROKEN[1:], *lines(1.0, 0.0)], after=5)
    assert figures_of(job, root_session)["samples"] == {0: 2}


def test_a_hostile_line_cannot_make_a_figure_that_is_none(log, root_session):
    job, write = log
    line = {"_aws": {}, "samples": 4, "unscored": -3, "reward_mean": 0.5, "reward_std": 1e308}
    write([json.dumps(line), json.dumps(line | {"samples": -4})], after=5)
    assert by_minute(read(job, END, root_session).batches)


def test_a_long_log_is_read_to_the_end(log, lines, root_session, monkeypatch):
    monkeypatch.setattr(grader_log, "PAGE", 3)
    job, write = log
    for after in range(10):
        write(lines(1.0, 0.0), after=60 * after + 5)
    assert len(figures_of(job, root_session)["samples"]) == 10
    monkeypatch.setattr(grader_log, "MAX_PAGES", 2)
    assert not read(job, END, root_session).complete


def test_no_log_and_no_function_are_sentences(log, root_session):
    job, _ = log
    gone = replace(job, grader=job.grader.replace("reward-log", "reward-none"))
    with pytest.raises(AwsFailed, match=r"the log of SageMaker-reward-none-[0-9]+: not found: "):
        read(gone, END, root_session)
    with pytest.raises(BadArn):
        read(replace(job, grader=""), END, root_session)


def followed(job, session, *seconds, over=False):
    """What a watch sees at these seconds after the job was made: (minutes, trouble)."""
    watch = GraderWatch(session)
    running = replace(job, status="running", ended=None)
    seen = []
    for at in seconds:
        last = over and at == seconds[-1]
        ended = replace(job, status="succeeded", ended=BEGIN + timedelta(seconds=at))
        graded, trouble = watch.look(ended if last else running, BEGIN + timedelta(seconds=at))
        seen.append(([(minute, figures["samples"]) for minute, figures in graded], trouble))
    return seen


def test_a_watch_sees_each_minute_once_when_it_is_over(log, lines, root_session):
    job, write = log
    write(lines(1.0), after=30)
    write(lines(1.0, 0.0), after=90)
    write(lines(1.0, 0.0, 0.0), after=100)
    write(lines(1.0, 1.0, 1.0, 1.0), after=190)
    minutes = [seen for seen, _ in followed(job, root_session, 65, 80, 130, 192, over=True)]
    assert minutes == [[], [], [(0, 1), (1, 5)], [(3, 4)]]


@pytest.mark.parametrize(("seconds", "read"), [(59, []), (60, [(0, 1)])])
def test_a_watch_reads_again_after_a_minute(log, lines, root_session, seconds, read):
    job, write = log
    write(lines(1.0), after=30)
    assert followed(job, root_session, 65, 65 + seconds)[1] == (read, "")


def test_a_watch_that_begins_late_begins_with_the_last_minutes(log, lines, root_session):
    job, write = log
    for minute in range(10):
        write(lines(1.0), after=60 * minute + 5)
    ((seen, _),) = followed(job, root_session, 615)
    assert [minute for minute, _ in seen] == [5, 6, 7, 8, 9]
    assert followed(job, root_session, 615, over=True) == [([], "")]


def test_a_watch_goes_on_without_a_log(log, root_session):
    job, _ = log
    gone = replace(job, grader=job.grader.replace("reward-log", "reward-none"))
    for unreadable in (gone, replace(job, grader=""), replace(job, grader="no arn")):
        assert followed(unreadable, root_session, 100, 200) == [([], "")] * 2


DENIED = "the grader's own figures: reading the log of x: denied (--no-grader leaves them out)"


@pytest.mark.parametrize(
    ("code", "troubles"),
    [("AccessDeniedException", [DENIED, "", ""]), ("ThrottlingException", [DENIED] * 3)],
)
def test_what_may_not_be_read_is_said_once_and_what_fails_is_tried_again(
    log, root_session, monkeypatch, code, troubles
):
    def refuse(*_):
        raise AwsFailed("reading the log of x: denied", code)

    monkeypatch.setattr(grader_log.JobLines, "matching", refuse)
    job, _ = log
    assert [trouble for _, trouble in followed(job, root_session, 100, 200, 300)] == troubles
