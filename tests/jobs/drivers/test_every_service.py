"""What every service of jobs does alike: a job is started once, found, read, refused, stopped.

A row of `SERVICES` is a service; a new one takes a row and nothing else here.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ConnectionClosedError

from reward_functions.aws.catalogue import DeployedStage
from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs import services
from reward_functions.jobs.clients import Key, KeySource
from reward_functions.jobs.configuration import BadJob, Serverless
from reward_functions.jobs.drivers import driver_for
from reward_functions.jobs.drivers.openai import Api, OpenAIDriver
from reward_functions.jobs.job import JobRequest, NoSuchJob
from tests.bedrock_service import refusal
from tests.job_fixtures import GRADER
from tests.jobs import hub_service
from tests.jobs.hub_service import PUBLIC
from tests.loopback import BEFORE, LOST
from tests.openai_service import error as openai_error

ACCOUNT = "000000000000"
NAME = "sums-0a1b2c3d-1"
FUNCTION = f"arn:aws:lambda:us-east-1:{ACCOUNT}:function:SageMaker-reward-dev-gsm8k--0a1b2c3d"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/SageMaker-jobs"
STAGE = DeployedStage(
    stage="dev",
    region="us-east-1",
    keep_versions=1,
    bucket="bucket",
    training_role_arn=ROLE,
    sagemaker_role_arn=ROLE,
    agent_role_arn=ROLE,
    job_events_topic_arn="t",
    dashboard="d",
    **{f"{each}_policy_arn": "p" for each in ("data", "jobs", "evaluate", "operate")},
)
ASKED = JobRequest(
    name=NAME,
    token=NAME,
    model="",
    grader=FUNCTION,
    hyperparameters={},
    training=f"s3://bucket/rft-data/jobs/{NAME}.jsonl",
    role=ROLE,
    output=f"s3://bucket/rft-output/{NAME}/",
    tags={"team": "maths"},
)


@dataclass
class Subject:
    """A service and what a test may do to it.

    Args:
        service: that answers.
        asked: a job that it can start.
        create: its operation that starts a job.
        stop: likewise.
        read: likewise.
        other: what makes another job of the request.
        steps: the operations of a first start, in their order.
        status: the member of a record that says how the job is.
        done: what stands there once it has succeeded.
        tagged: whether its jobs have tags.
    """

    service: Any
    asked: JobRequest
    create: str
    stop: str
    read: str
    other: dict
    steps: tuple
    status: str
    done: str = "Completed"
    tagged: bool = True

    def driver(self):
        """A shell that knows nothing of the others."""
        return driver_for(self.asked_driver, "us-east-1", None, STAGE)


class OnWire(Subject):
    """A service over HTTP."""

    def fail(self, operation, how, code=""):
        statuses = {"AccessDeniedException": 403, "ThrottlingException": 429}
        faults = {"lost": LOST, "unreached": BEFORE}
        self.service.fail(operation, faults.get(how) or refusal(statuses[code], code))


class OfBedrock(OnWire):
    asked_driver = "bedrock"

    def records(self):
        return list(self.service.jobs.values())


class OfOpenAI(OnWire):
    def driver(self):
        keys = KeySource(lambda: Key("bedrock-api-key-1", datetime.now(UTC) + timedelta(hours=9)))
        api = Api(f"{self.service.address}/v1", keys, pause=lambda _: None)
        return OpenAIDriver("us-east-1", api)

    def fail(self, operation, how, code=""):
        if how != "refused":
            super().fail(operation, how)
        elif code == "ThrottlingException":
            self.service.fail(operation, *[openai_error(429)] * 4)
        else:
            self.service.fail(operation, openai_error(403))

    def records(self):
        return list(self.service.jobs.values())


class InMemory(Subject):
    """SageMaker, behind boto3's client."""

    def fail(self, operation, how, code=""):
        if how == "refused":
            self.service.trouble[operation] = [hub_service.error(code, operation)]
            return
        broken = ConnectionClosedError(endpoint_url="https://sagemaker")
        if how == "lost":
            self.service.lost[operation] = broken
        else:
            self.service.trouble[operation] = [broken]


class OfSageMaker(InMemory):
    asked_driver = "sagemaker"

    def records(self):
        return list(self.service.jobs.values())


class OfAgents(InMemory):
    asked_driver = "agent-rft"

    def records(self):
        return list(self.service.multi_turn.values())


def bedrock_subject(request, monkeypatch, data):
    service = request.getfixturevalue("bedrock")
    return OfBedrock(
        service,
        replace(ASKED, model="amazon.nova-2-lite-v1:0:256k", grader=GRADER),
        create="CreateModelCustomizationJob",
        stop="StopModelCustomizationJob",
        read="GetModelCustomizationJob",
        other={"training": "s3://bucket/rft-data/jobs/other.jsonl"},
        steps=("CreateModelCustomizationJob", "GetModelCustomizationJob", "ListTagsForResource"),
        status="status",
    )


def openai_subject(request, monkeypatch, data):
    service = request.getfixturevalue("openai")
    made = OfOpenAI(
        service,
        replace(ASKED, model="openai.gpt-oss-20b"),
        create="POST fine_tuning jobs",
        stop="POST fine_tuning jobs",
        read="GET fine_tuning jobs",
        other={"model": "qwen.qwen3-32b"},
        steps=("GET files", "POST fine_tuning jobs"),
        status="status",
        done="succeeded",
        tagged=False,
    )
    made.asked = replace(made.asked, training=made.driver().upload(data, NAME))
    return made


def in_memory(monkeypatch):
    service = hub_service.Service()
    monkeypatch.setattr("reward_functions.jobs.clients.control_plane", service.client)
    return service


def sagemaker_subject(request, monkeypatch, data):
    request.getfixturevalue("nobody")
    return OfSageMaker(
        in_memory(monkeypatch),
        replace(ASKED, model=f"{PUBLIC}/small-open-model", sagemaker=Serverless()),
        create="CreateTrainingJob",
        stop="StopTrainingJob",
        read="DescribeTrainingJob",
        other={"training": "s3://bucket/rft-data/jobs/other.jsonl"},
        steps=(
            *("ListHubContentVersions", "DescribeHub", "DescribeModelPackageGroup"),
            *("ListMlflowApps", "CreateHub", "ImportHubContent", "DescribeHubContent"),
            *("CreateModelPackageGroup", "CreateTrainingJob", "DescribeTrainingJob", "ListTags"),
        ),
        status="TrainingJobStatus",
    )


def agents_subject(request, monkeypatch, data):
    request.getfixturevalue("nobody")
    return OfAgents(
        in_memory(monkeypatch),
        replace(ASKED, model="small-open-model", grader="", agent=FUNCTION),
        create="CreateJob",
        stop="StopJob",
        read="DescribeJob",
        other={"training": "s3://bucket/rft-data/jobs/other.jsonl"},
        steps=(
            *("DescribeHubContent", "ListMlflowApps", "DescribeModelPackageGroup"),
            *("CreateModelPackageGroup", "ListJobSchemaVersions", "DescribeJobSchemaVersion"),
            *("CreateJob", "DescribeJob"),
        ),
        status="JobStatus",
    )


SERVICES = {
    "bedrock": bedrock_subject,
    "openai": openai_subject,
    "sagemaker": sagemaker_subject,
    "agent-rft": agents_subject,
}


@pytest.fixture(params=SERVICES)
def subject(request, monkeypatch, data):
    return SERVICES[request.param](request, monkeypatch, data)


STEPS = [
    *(("bedrock", each) for each in range(3)),
    *(("openai", each) for each in range(2)),
    *(("sagemaker", each) for each in range(11)),
    *(("agent-rft", each) for each in range(8)),
]


@pytest.fixture
def stepped(request, monkeypatch, data):
    """A service, and one of the steps of its start."""
    name, at = request.param
    made = SERVICES[name](request, monkeypatch, data)
    return made, made.steps[at]


def test_every_service_is_held_to_this():
    assert SERVICES.keys() == services.SERVICES.keys()


def test_the_steps_of_the_table_are_all_of_the_steps(request, monkeypatch, data):
    for name, make in SERVICES.items():
        made = make(request, monkeypatch, data)
        assert sum(each == name for each, _ in STEPS) == len(made.steps)


def test_a_job_is_started_once_however_often_it_is_asked_for(subject):
    first = subject.driver().start(subject.asked)
    assert (first.name, first.driver) == (NAME, subject.driver().name)
    assert subject.driver().start(subject.asked) == first
    assert len(subject.records()) == 1


def test_a_job_is_found_by_its_name_and_its_id(subject):
    driver = subject.driver()
    assert driver.find(NAME) is None
    job = driver.start(subject.asked)
    for found in (driver.find(NAME), driver.get(NAME), driver.get(job.id)):
        assert found == job
    assert [each.id for each in driver.jobs()] == [job.id]
    assert driver.find("nobody") is None


@pytest.mark.parametrize("identifier", ["nobody", "", "../jobs", "a b", "x" * 2_000])
def test_what_is_no_job_is_one_sentence(subject, identifier):
    with pytest.raises(NoSuchJob, match=r"there is no .*job") as raised:
        subject.driver().get(identifier)
    assert "in us-east-1" in str(raised.value)


def test_the_arn_of_another_region_or_account_is_no_job_here(subject):
    job = subject.driver().start(subject.asked)
    if not job.id.startswith("arn:"):
        return
    with pytest.raises(NoSuchJob, match="is a job of eu-west-1, and not of us-east-1"):
        subject.driver().get(job.id.replace("us-east-1", "eu-west-1"))
    with pytest.raises(NoSuchJob, match="there is no "):
        subject.driver().get(job.id.replace(ACCOUNT, "999999999999"))


def test_another_job_of_the_name_is_refused_and_named(subject):
    subject.driver().start(subject.asked)
    other = replace(subject.asked, token="another", **subject.other)
    with pytest.raises(BadJob, match=rf"a job {NAME} is there already, and differs in .*--again"):
        subject.driver().start(other)
    assert len(subject.records()) == 1


@pytest.mark.parametrize("how", ["lost", "unreached"])
@pytest.mark.parametrize("stepped", STEPS, indirect=True, ids=lambda each: f"{each[0]} {each[1]}")
def test_a_start_that_breaks_off_anywhere_and_is_repeated_is_one_job(stepped, how):
    subject, step = stepped
    subject.fail(step, how)
    started = []
    with suppress(AwsFailed):
        started.append(subject.driver().start(subject.asked))
    started.append(subject.driver().start(subject.asked))
    assert {job.name for job in started} == {NAME}
    assert len({job.id for job in started}) == len(subject.records()) == 1


def test_a_lost_answer_is_the_job_at_once(subject):
    subject.fail(subject.create, "lost")
    assert subject.driver().start(subject.asked).name == NAME
    assert len(subject.records()) == 1


@pytest.mark.parametrize(
    ("code", "words"),
    [("AccessDeniedException", "not allowed"), ("ThrottlingException", "throttled")],
)
def test_a_start_that_is_refused_is_one_sentence_and_no_job(subject, code, words):
    subject.fail(subject.create, "refused", code)
    with pytest.raises(AwsFailed, match=rf"starting {NAME}: {words}") as raised:
        subject.driver().start(subject.asked)
    assert (raised.value.code, subject.records()) == (code, [])


@pytest.mark.parametrize("code", ["AccessDeniedException", "ThrottlingException"])
def test_a_job_that_may_not_be_read_is_refused_and_not_absent(subject, code):
    driver = subject.driver()
    driver.start(subject.asked)
    for call in (lambda: driver.get(NAME), lambda: driver.find(NAME)):
        subject.fail(subject.read, "refused", code)
        with pytest.raises(AwsFailed) as raised:
            call()
        assert raised.value.code == code


def test_the_tags_are_those_that_were_asked_for(subject):
    job = subject.driver().start(subject.asked)
    assert job.tags == ({"team": "maths"} if subject.tagged else {})
    assert subject.driver().get(job.id).tags == job.tags


def test_a_job_is_stopped_and_one_that_is_over_stays_as_it_is(subject):
    driver = subject.driver()
    job = driver.start(subject.asked)
    stopped = driver.stop(job)
    assert stopped.status in {"stopping", "stopped"}
    assert driver.stop(job) == driver.stop(stopped) == stopped


def test_a_job_that_ended_meanwhile_is_no_failure_of_a_stop(subject):
    driver = subject.driver()
    job = driver.start(subject.asked)
    subject.records()[0][subject.status] = subject.done
    assert driver.stop(job).status == "succeeded"


def test_a_stop_that_is_denied_is_a_sentence(subject):
    driver = subject.driver()
    job = driver.start(subject.asked)
    subject.fail(subject.stop, "refused", "AccessDeniedException")
    with pytest.raises(AwsFailed, match=f"stopping {NAME}: not allowed"):
        driver.stop(job)


def test_a_state_that_is_newer_than_the_table_is_a_job_that_runs(subject):
    driver = subject.driver()
    job = driver.start(subject.asked)
    record = subject.records()[0]
    record[subject.status] = "SomethingNew"
    record.pop("SecondaryStatus", None)
    found = driver.get(job.id)
    assert (found.status, found.phase, found.over) == ("running", "SomethingNew", False)


def test_the_calls_of_a_dry_run_are_those_of_a_start_and_make_nothing(subject):
    calls = subject.driver().calls(subject.asked)
    assert subject.records() == []
    assert calls[-1].operation in {subject.create, "POST /fine_tuning/jobs"}
    json.dumps([each.request for each in calls])


def test_a_file_lies_where_the_address_says(subject):
    assert NAME in subject.driver().address(NAME)
