"""A job that asks for more than its stage grants is refused by the field that would grant it."""

from __future__ import annotations

import pytest

from reward_functions.aws.catalogue import DeployedStage
from reward_functions.jobs.configuration import BadJob, JobConfiguration
from reward_functions.jobs.options import check_rights, missing_rights, require_files

KEY = "arn:aws:kms:us-east-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"
SUBNET, OTHER_SUBNET, GROUP = "subnet-0123456789abcdef0", "subnet-0123456789abcdef1", "sg-01234567"

YESTERDAY = {
    "stage": "dev", "region": "us-east-1", "keep_versions": 2, "bucket": "b",
    "training_role_arn": "r", "data_policy_arn": "d", "jobs_policy_arn": "j",
    "evaluate_policy_arn": "e", "operate_policy_arn": "o", "job_events_topic_arn": "t",
    "dashboard": "d",
}  # fmt: skip


def stage(**rights):
    return DeployedStage.model_validate(YESTERDAY | ({"job_rights": rights} if rights else {}))


def job(**options):
    given = {"model": "m", "deployment": "gsm8k"} | options
    return JobConfiguration.model_validate(given)


def logs(source):
    return {"invocation_logs": {"source": source}}


def vpc(*subnets):
    return {"vpc": {"subnets": list(subnets), "security_groups": [GROUP]}}


GRANTED = [
    # what the stage grants, what a job asks for
    ({}, {}),
    ({"invocation_logs": "s3://logs"}, logs("s3://logs/any/where")),
    ({"invocation_logs": "s3://logs/a"}, logs("s3://logs/a")),
    ({"invocation_logs": "s3://logs/a/"}, logs("s3://logs/a")),
    ({"invocation_logs": "s3://logs/a"}, logs("s3://logs/a/")),
    ({"invocation_logs": "s3://logs/a"}, logs("s3://logs/a/AWSLogs/")),
    (vpc(SUBNET, OTHER_SUBNET), vpc(SUBNET)),
    ({"model_key": KEY}, {"model_key": KEY}),
    ({"model_key": KEY, "invocation_logs": "s3://logs"}, {}),
]


@pytest.mark.parametrize(("granted", "asked"), GRANTED, ids=str)
def test_a_job_may_use_what_its_stage_grants(granted, asked):
    check_rights(job(**asked), stage(**granted))


REFUSED = [
    # what the stage grants, what a job asks for, what it has no right to and by which field
    ({}, logs("s3://logs/a"), "^invocation_logs: .* right to s3://logs/a: set job_rights.invocat"),
    ({"invocation_logs": "s3://logs/a"}, logs("s3://logs/ab"), "job_rights.invocation_logs"),
    ({"invocation_logs": "s3://logs/a"}, logs("s3://logs"), "job_rights.invocation_logs"),
    ({"invocation_logs": "s3://logs"}, logs("s3://logs-of-others"), "job_rights.invocation_logs"),
    ({}, vpc(SUBNET), f"right to {SUBNET}, {GROUP}: set job_rights.vpc in cdk.json"),
    (vpc(SUBNET), vpc(SUBNET, OTHER_SUBNET), f"right to {OTHER_SUBNET}: set job_rights.vpc"),
    ({}, {"model_key": KEY}, f"right to {KEY}: set job_rights.model_key"),
    ({"model_key": KEY[:-1] + "0"}, {"model_key": KEY}, "job_rights.model_key"),
]  # fmt: skip


@pytest.mark.parametrize(("granted", "asked", "expected"), REFUSED, ids=[row[2] for row in REFUSED])
def test_a_job_that_asks_for_more_is_refused_by_the_field(granted, asked, expected):
    with pytest.raises(BadJob, match=expected):
        check_rights(job(**asked), stage(**granted))


def test_a_stage_of_yesterday_grants_nothing_and_every_option_is_named():
    asked = job(**logs("s3://logs"), **vpc(SUBNET), model_key=KEY)
    missing = missing_rights(asked, DeployedStage.model_validate(YESTERDAY))
    assert [each.partition(":")[0] for each in missing] == ["invocation_logs", "vpc", "model_key"]


def test_a_stage_of_tomorrow_may_grant_more():
    assert stage(model_key=KEY, colour="blue").job_rights.model_key == KEY


def reading(*addresses):
    """A stage whose jobs may read folders outside of its bucket."""
    folders = [{"address": address} for address in addresses]
    return DeployedStage.model_validate(YESTERDAY | {"read_buckets": folders})


@pytest.mark.parametrize("source", ["s3://acme/rft", "s3://acme/rft/logs", "s3://whole/any/where"])
def test_logs_may_lie_in_a_folder_that_the_stage_reads(source):
    check_rights(job(**logs(source)), reading("s3://acme/rft/", "s3://whole"))


@pytest.mark.parametrize("source", ["s3://acme/rft-2", "s3://acme", "s3://whole-2/rft"])
def test_logs_beside_such_a_folder_are_refused(source):
    with pytest.raises(BadJob, match=f"right to {source}: set"):
        check_rights(job(**logs(source)), reading("s3://acme/rft", "s3://whole"))


OUTSIDE = "is in a bucket outside the allow-list: jobs of the stage 'dev' read s3://b/rft-data and "
HERE = "is not on this machine, .* copy it here, and name the copy"

ADDRESSES = [
    # the field, what stands there, what is said of which address
    ("data", "s3://other/train.jsonl", f"data: s3://other/train.jsonl {OUTSIDE}s3://acme/rft; "),
    ("data", "s3://acme/rft-2/x", f"data: s3://acme/rft-2/x {OUTSIDE}"),
    ("data", "jobs/s3://other/x", f"data: s3://other/x {OUTSIDE}"),  # from a file in a folder
    ("validation", "s3://b/rft-output/x", f"validation: s3://b/rft-output/x {OUTSIDE}"),
    ("data", "s3://acme/rft/x", f"data: s3://acme/rft/x {HERE}"),
    ("data", "s3://b/rft-data/x", f"data: s3://b/rft-data/x {HERE}"),
]


@pytest.mark.parametrize(("field", "given", "expected"), ADDRESSES)
def test_a_file_in_a_bucket_is_refused_by_its_field(field, given, expected):
    with pytest.raises(BadJob, match=expected):
        require_files(job(**{field: given}), reading("s3://acme/rft"))


def test_without_a_stage_an_address_is_refused_all_the_same():
    with pytest.raises(BadJob, match=HERE):
        require_files(job(data="s3://other/x"), None)


def test_a_path_is_no_address():
    require_files(job(data="s3/train.jsonl", validation="a:/s3:x"), reading())
