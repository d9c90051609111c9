"""What a job left is listed with the reason where it stays, and only what was asked for goes."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from types import SimpleNamespace

import pytest

from reward_functions.aws.catalogue import DeployedStage
from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs.job import Job
from reward_functions.jobs.leftovers import Leftovers
from tests.bedrock_service import ARN, MOMENT, refusal
from tests.jobs.memory import BEGIN

NUMBERS = count()
NAME = "gsm8k-0a1b2c3d-1"
MODEL = f"{ARN}:custom-model/amazon.nova-2-lite-v1:0:256k/abcdefghijkl"
KINDS = {"model", "data", "output"}


class Driver:
    """A service with these jobs, whose files lie in S3."""

    region = "us-east-1"

    def __init__(self, client, *jobs):
        self.client, self.all = client, jobs

    def jobs(self):
        return iter(replace(job, files=()) for job in self.all)  # as a list has them

    def get(self, identifier):
        return next(job for job in self.all if job.id == identifier)

    def discard(self, uploaded):
        bucket, _, key = uploaded.removeprefix("s3://").partition("/")
        self.client.delete_object(Bucket=bucket, Key=key)


class Forgetful(Driver):
    """One that forgets a job when it is asked to."""

    def delete(self, job):
        self.all = [each for each in self.all if each.id != job.id]


@pytest.fixture
def place(control_plane, root_session):
    """A job that is over, with all that one can leave."""
    return Place(control_plane, root_session)


class Place:
    def __init__(self, bedrock, session):
        self.bedrock, self.session = bedrock, session
        self.s3 = session.client("s3")
        self.bucket = f"leftovers-{next(NUMBERS)}"
        self.s3.create_bucket(Bucket=self.bucket)
        for key in (
            f"rft-data/jobs/{NAME}.jsonl",
            f"rft-data/jobs/{NAME}.validation.jsonl",
            "rft-data/jobs/gsm8k-0a1b2c3d-12.jsonl",
            "rft-data/own.jsonl",
            f"rft-output/{NAME}/a/metrics.csv",
            f"rft-output/{NAME}/b.csv",
            f"rft-output/{NAME}2/other.csv",
        ):
            self.s3.put_object(Bucket=self.bucket, Key=key, Body=b"x" * 10)
        bedrock.models[NAME] = {
            "modelArn": MODEL, "modelName": NAME, "modelStatus": "Active",
            "baseModelArn": "arn:aws:bedrock:us-east-1::foundation-model/m",
            "creationTime": MOMENT,
        }  # fmt: skip
        for name, model in ((NAME, MODEL), ("other", f"{ARN}:custom-model/m/000000000000")):
            bedrock.create_custom_model_deployment(
                {"modelDeploymentName": name, "modelArn": model, "tags": []}
            )
        self.job = Job(
            driver="bedrock", id="arn:job", name=NAME, status="succeeded", model="base",
            created=BEGIN, tuned_model=MODEL,
            files=(self.address(f"rft-data/jobs/{NAME}.jsonl"),
                   self.address(f"rft-data/jobs/{NAME}.validation.jsonl")),
        )  # fmt: skip

    def address(self, key):
        return f"s3://{self.bucket}/{key}"

    def keys(self):
        listed = self.s3.list_objects_v2(Bucket=self.bucket)["Contents"]
        return {each["Key"] for each in listed}

    def leftovers(self, *others, **changed):
        self.job = replace(self.job, **changed)
        stage = DeployedStage(
            stage="dev", region="us-east-1", keep_versions=2, bucket=self.bucket,
            training_role_arn="r", data_policy_arn="d", jobs_policy_arn="j",
            evaluate_policy_arn="e", operate_policy_arn="o", job_events_topic_arn="t",
            dashboard="d",
        )  # fmt: skip
        driver = Driver(self.s3, self.job, *others)
        return Leftovers(self.job, driver, stage, self.session)

    def other(self, **changed):
        known = replace(self.job, id="arn:other", name="other-1", status="running", tuned_model="")
        return replace(known, files=(), **changed)


def decided(found):
    return [(each.kind, each.stays) for each in found]


def test_deployments_go_and_the_rest_waits_to_be_asked_for(place):
    assert decided(place.leftovers().found(())) == [
        ("deployment", ""),
        ("model", "goes with --model"),
        ("data", "goes with --data"),
        ("data", "goes with --data"),
        ("output", "goes with --output"),
    ]


def test_what_is_asked_for_goes_and_nothing_else_does(place):
    leftovers = place.leftovers()
    done = list(leftovers.removed(leftovers.found(KINDS)))
    assert [problem for _, problem in done] == [""] * 5
    assert place.keys() == {
        "rft-data/jobs/gsm8k-0a1b2c3d-12.jsonl",
        "rft-data/own.jsonl",
        f"rft-output/{NAME}2/other.csv",
    }
    assert (place.bedrock.models, [*place.bedrock.deployments]) == ({}, ["other"])
    assert leftovers.found(KINDS) == []


def test_deployments_go_before_their_model(place):
    leftovers = place.leftovers()
    list(leftovers.removed(leftovers.found(KINDS)))
    deleted = [what for what in place.bedrock.asked if what.startswith("Delete")]
    assert deleted == ["DeleteCustomModelDeployment", "DeleteCustomModel"]


@pytest.mark.parametrize("status", ["queued", "running", "stopping"])
def test_of_a_job_in_progress_nothing_goes(place, status):
    found = place.leftovers(status=status).found(KINDS)
    assert {each.stays for each in found} == {"the job is in progress: stop it first"}


def test_data_that_a_job_in_progress_reads_stay(place):
    other = replace(place.other(), files=(place.job.files[0],))
    stays = [each.stays for each in place.leftovers(other).found(KINDS) if each.kind == "data"]
    assert stays == ["a job in progress reads it", ""]
    over = replace(other, status="failed")
    stays = [each.stays for each in place.leftovers(over).found(KINDS) if each.kind == "data"]
    assert stays == ["", ""]


def test_a_model_that_another_job_trains_from_stays(place):
    other = place.other(model=place.job.tuned_model)
    stays = [each.stays for each in place.leftovers(other).found(KINDS) if each.kind == "model"]
    assert stays == ["other-1 trains from it"]


def test_files_of_your_own_are_not_the_jobs(place):
    own = (place.address("rft-data/own.jsonl"), "s3://another-bucket/rft-data/jobs/x.jsonl")
    kinds = [each.kind for each in place.leftovers(files=own).found(KINDS)]
    assert "data" not in kinds


def test_a_job_that_made_nothing_left_nothing(place):
    found = place.leftovers(name="never-1", tuned_model="", files=()).found(KINDS)
    assert found == []


def test_a_model_that_is_gone_is_no_leftover(place):
    place.bedrock.models.clear()
    kinds = [each.kind for each in place.leftovers().found(KINDS)]
    assert "model" not in kinds


def test_what_cannot_be_removed_is_named_and_the_rest_goes(place):
    place.bedrock.fail("DeleteCustomModelDeployment", refusal(403, "AccessDeniedException"))
    leftovers = place.leftovers()
    done = {each.kind: problem for each, problem in leftovers.removed(leftovers.found(KINDS))}
    assert "not allowed" in done["deployment"]
    assert done["data"] == done["output"] == ""


def test_the_files_of_the_other_api_are_its_own(place):
    job = {"driver": "openai", "files": ("file-1", "file-2"), "tuned_model": "ft:x"}
    other = replace(place.other(), driver="openai", files=("file-2",))
    found = place.leftovers(other, **job).found({"data"})
    assert decided(found) == [("data", ""), ("data", "a job in progress reads it")]


def test_a_service_that_cannot_be_asked_ends_it(place):
    place.bedrock.fail("ListCustomModelDeployments", refusal(403, "AccessDeniedException"))
    with pytest.raises(AwsFailed, match="not allowed"):
        place.leftovers().found(KINDS)


RECORDS = {
    # kinds that are asked for, and what is said of the job itself
    "nothing": ((), "found by it"),
    "the job alone": (("job",), "found by it"),
    "all but the output": (("model", "data", "job"), "found by it"),
    "all but the job": (("model", "data", "output"), "goes with --job"),
    "everything": (("model", "data", "output", "job"), ""),
}


@pytest.mark.parametrize("case", RECORDS)
def test_a_job_goes_last_and_only_where_nothing_else_of_it_stays(place, case):
    wanted, said = RECORDS[case]
    leftovers = place.leftovers()
    leftovers.driver = Forgetful(place.s3, place.job)
    found = leftovers.found(wanted)
    assert found[-1].kind == "job"
    assert said in found[-1].stays
    assert bool(found[-1].stays) == bool(said)
    if not said:
        assert [problem for _, problem in leftovers.removed(found)] == [""] * 6
        assert leftovers.driver.all == []


def test_where_imports_may_not_be_listed_the_rest_is_shown(place, monkeypatch):
    leftovers = place.leftovers(driver="agent-rft", tuned_model="arn:package")

    def refuse(_):
        raise AwsFailed("not allowed", "AccessDeniedException")

    monkeypatch.setattr(leftovers.hosting, "made_from", refuse)
    package = SimpleNamespace(arn="arn:package", location="")
    monkeypatch.setattr(leftovers, "_package", lambda: package)
    assert decided(leftovers.found(()))[:2] == [
        ("deployment", "not seen: it takes the policy of `evaluate`"),
        ("model", "goes with --model"),
    ]
