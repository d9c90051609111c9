"""A watch: progress until the end; killed, doubled, cut off, refused, and outlived by its job."""

from __future__ import annotations

from datetime import timedelta
from itertools import islice

import pytest

from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs.job import JobEvent, MetricPoint, NoSuchJob
from reward_functions.jobs.lookup import all_jobs, job_of
from reward_functions.jobs.services import SERVICES, service_of
from reward_functions.jobs.watching import Polling, planned_steps, watch
from tests.jobs.memory import Driver, lost, refused

STEADY = Polling(shortest=30, longest=30, jitter=0, patience=600)


def watching(service, job, polling=STEADY, driver=None):
    """A watch by a clock that the service has too: it passes by as much as the watch sleeps."""
    return watch(
        job, driver or Driver(service), polling, clock=service.clock, sleep=service.clock.sleep
    )


def test_progress_comes_until_the_end(service):
    seen = list(watching(service, service.begun()))
    assert [(each.job.status, each.step) for each in seen] == [
        ("queued", None),
        *[("running", None)] * 2,
        *[("running", step) for step in (1, 1, 2, 2, 3, 3)],
        ("succeeded", 4),
    ]
    assert [point.step for each in seen for point in each.points] == [1, 2, 3, 4]
    assert [event.message for each in seen for event in each.events] == ["created", "running"]
    assert [each.ending for each in seen] == [None] * 9 + ["over"]
    assert seen[-1].job.tuned_model == "tuned-model"
    assert seen[-1].elapsed == 250
    assert not any(each.trouble for each in seen)


def test_a_watch_that_was_killed_goes_on_from_the_services_record(service):
    job = service.begun()
    first = list(islice(watching(service, job), 6))
    service.clock.sleep(60)
    again = list(watching(service, job))
    assert [point.step for each in first for point in each.points] == [1, 2]
    assert [point.step for point in again[0].points] == [1, 2, 3]
    assert [event.message for event in again[0].events] == ["created", "running"]
    assert again[-1].ending == "over"


def test_two_watch_at_once(service):
    job = service.begun()
    pairs = zip(watching(service, job), watching(service, job), strict=False)
    first, second = zip(*pairs, strict=True)
    for seen in (first, second):
        assert [point.step for each in seen for point in each.points][:3] == [1, 2, 3]


def test_a_job_that_is_over_is_looked_at_once(service):
    job = service.begun()
    service.clock.sleep(3_600)
    (seen,) = watching(service, job)
    assert (seen.ending, seen.job.status, len(seen.points)) == ("over", "succeeded", 4)
    assert service.clock.slept == [3_600]


@pytest.mark.parametrize(
    "trouble",
    [
        lost("nobody answers: connection refused"),
        refused("ThrottlingException", "throttled (Rate exceeded)"),
        refused("ExpiredTokenException", "the AWS credentials have expired; log in again"),
        refused("InternalServerException", "the service failed"),
    ],
)
def test_a_service_that_cannot_be_asked_is_asked_again(service, trouble):
    service.refusals["get"] += [None, trouble, trouble]
    seen = list(watching(service, service.begun()))
    assert [each.trouble for each in seen[1:3]] == [str(trouble)] * 2
    assert [each.trouble for each in seen[3:]] == [""] * len(seen[3:])
    assert (seen[-1].ending, seen[-1].job.status) == ("over", "succeeded")
    assert [point.step for each in seen for point in each.points] == [1, 2, 3, 4]


def test_patience_has_an_end(service):
    service.refusals["get"] += [None, *[lost()] * 100]
    seen = list(watching(service, service.begun()))
    assert [each.ending for each in seen] == [None] * 20 + ["lost"]
    assert (seen[-1].at - seen[0].at).total_seconds() == 600
    assert seen[-1].job.status == "queued"


def test_an_answer_renews_the_patience(service):
    service.refusals["get"] += ([lost()] * 15 + [None]) * 2
    assert list(watching(service, service.begun()))[-1].ending == "over"


def test_a_job_that_is_deleted_elsewhere_ends_the_watch(service):
    job = service.begun()
    following = watching(service, job)
    next(following)
    service.jobs.clear()
    (last,) = following
    assert (last.ending, last.trouble, last.job.id) == ("deleted", "the job was deleted", job.id)


def test_a_missing_permission_ends_it_at_once(service):
    service.refusals["get"].append(refused("AccessDeniedException", "not allowed: x"))
    with pytest.raises(AwsFailed, match="not allowed: x"):
        next(watching(service, service.begun()))


def test_figures_that_cannot_be_read_are_no_reason_to_stop(service):
    service.refusals["metrics"] += [refused("AccessDenied", "not allowed: s3:GetObject")] * 5
    service.refusals["events"] += [None, None, lost(), lost()]
    seen = list(watching(service, service.begun()))
    assert [each.trouble for each in seen if each.trouble] == [
        "asking the service: not allowed: s3:GetObject",
        "asking the service: nobody answers",
    ]
    assert [point.step for each in seen for point in each.points] == [1, 2, 3, 4]


def test_what_was_read_before_a_break_is_shown(service):
    class Breaking(Driver):
        def events(self, job):
            yield JobEvent("e1", job.created, "info", "one")
            raise lost()

        def metrics(self, job):
            yield MetricPoint(1, "reward", 0.5)
            yield MetricPoint(1, "total_steps", 40)
            raise NoSuchJob("gone")

    first = next(watching(service, service.begun(), driver=Breaking(service)))
    assert [event.message for event in first.events] == ["one"]
    assert (first.step, first.total) == (1, 40)
    assert first.trouble == "gone; asking the service: nobody answers"


def test_the_wait_grows_while_nothing_happens_and_no_two_watchers_ask_at_once():
    calm = Polling(shortest=5, longest=60, growth=2, jitter=0)
    assert [calm.wait(idle) for idle in (0, 1, 2, 3, 4, 10_000)] == [5, 10, 20, 40, 60, 60]
    waits = {Polling(shortest=10, longest=10, jitter=0.2).wait(0) for _ in range(100)}
    assert len(waits) > 90
    assert all(8 <= wait <= 12 for wait in waits)


def test_a_quiet_job_is_asked_less_often(service):
    job = service.begun()
    service.jobs[job.id].steps = 1
    list(watching(service, job, Polling(shortest=1, longest=16, growth=2, jitter=0)))
    assert service.clock.slept == [1, 2, 4, 8, 1, 2, 4, 8, 16, 16, 16]


@pytest.mark.parametrize(
    ("hyperparameters", "rows", "steps"),
    [
        ({"batchSize": 32, "epochCount": 1}, "6000", 188),  # AWS's own sample: 6k / 32 = 188
        ({"batchSize": 64, "epochCount": 2}, "100", 4),
        ({"batchSize": 64}, "100", None),
        ({"batchSize": 64, "epochCount": 1}, "", None),
        ({"batchSize": 64, "epochCount": 1}, "many", None),
        ({"batchSize": 0, "epochCount": 1}, "100", None),
        ({"batchSize": 1e-300, "epochCount": 1}, "9" * 9, None),  # the quotient is infinite
        ({"batchSize": 64, "epochCount": 1}, "9" * 256, None),
        ({"batchSize": "auto", "epochCount": 1}, "100", None),
    ],
)
def test_the_steps_of_a_job_by_its_own_settings(service, hyperparameters, rows, steps):
    tags = {"reward-functions:rows": rows}
    assert planned_steps(service.begun(hyperparameters=hyperparameters, tags=tags)) == steps


def test_a_job_is_found_by_its_name_its_id_and_its_arn(service):
    job = service.begun(name="mine")
    bedrock, openai = Driver(service), Driver(type(service)(), "openai")
    for identifier in ("mine", job.id):
        assert job_of(identifier, [openai, bedrock]) == (bedrock, job)
    assert (service_of(job.id), service_of("ftjob-1"), service_of("mine")) == (
        *("bedrock", "openai"),
        None,
    )


def test_a_job_that_nobody_has_is_one_sentence(service):
    drivers = [Driver(service), Driver(service, "openai", "us-west-2")]
    with pytest.raises(NoSuchJob, match="there is no job 'x' in us-east-1 and us-west-2 of this a"):
        job_of("x", drivers)
    service.refusals["get"].append(lost())
    with pytest.raises(AwsFailed, match="nobody answers"):
        job_of("x", drivers)


def test_a_service_that_cannot_be_asked_hides_no_others(service):
    job = service.begun(name="mine")
    service.refusals["get"].append(lost())
    broken = Driver(service, "openai")
    assert job_of("mine", [broken, Driver(service)])[1] == job


def test_a_service_that_one_may_not_read_does_not_hide_that_a_name_is_wrong(service):
    barred = Driver(service, "sagemaker")
    barred.get = _raising(refused("AccessDeniedException"))
    with pytest.raises(NoSuchJob, match="of this account that you may read: `reward job list`"):
        job_of("x", [Driver(service), barred])
    with pytest.raises(AwsFailed) as only:
        job_of("x", [barred])
    assert only.value.denied
    barred.get = _raising(refused("ThrottlingException"))
    with pytest.raises(AwsFailed) as busy:
        job_of("x", [Driver(service), barred])
    assert not busy.value.denied


def _raising(error):
    def get(_):
        raise error

    return get


def test_all_jobs_are_listed_newest_first_and_no_more_than_asked(service):
    for at in range(5):
        service.begun(name=f"job-{at}", token=str(at))
        service.clock.at += timedelta(minutes=1)
    found = all_jobs([Driver(service)], 3)
    assert [job.name for job in found.jobs] == ["job-4", "job-3", "job-2"]
    service.refusals["jobs"].append(lost())
    found = all_jobs([Driver(service, "openai"), Driver(service)], 9)
    assert (len(found.jobs), [str(each) for each in found.failed]) == (5, [str(lost())])


DENIED = refused("AccessDeniedException")

LISTINGS = {
    # the answers of bedrock, openai, sagemaker and agent-rft; who is hidden; who has failed
    "all may be listed": ([None] * 4, [], 0),
    "two policies are another's": ([None, None, DENIED, DENIED], ["sagemaker", "agent-rft"], 0),
    "one is listed, whichever": (
        [DENIED, DENIED, DENIED, None],
        ["bedrock", "openai", "sagemaker"],
        0,
    ),
    "one alone, which may not": ([DENIED], [], 1),
    "none may be listed": ([DENIED] * 4, [], 4),
    "one is down": ([None, lost(), None, DENIED], ["agent-rft"], 1),
    "one is down, and no other may": ([lost(), DENIED, DENIED, DENIED], [], 4),
    "throttled is not denied": ([None, refused("ThrottlingException")], [], 1),
    "expired is not denied": ([None, refused("ExpiredTokenException")], [], 1),
}


@pytest.mark.parametrize("case", LISTINGS)
def test_a_service_that_one_may_not_list_is_left_out_where_another_is_listed(service, case):
    answers, hidden, failed = LISTINGS[case]
    service.begun(name="mine")
    service.refusals["jobs"] += answers
    drivers = [Driver(service, name) for name, _ in zip(SERVICES, answers, strict=False)]
    found = all_jobs(drivers, 9)
    assert (found.hidden, len(found.failed)) == (hidden, failed)
    assert len(found.jobs) == (answers[0] is None)
