"""A job's files in S3: data that is sent once, and figures in whatever columns they come."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.drivers.bedrock import BedrockDriver, points
from reward_functions.jobs.job import MetricPoint
from tests.jobs.drivers.test_bedrock import REQUEST
from tests.loopback import BEFORE

KEY = "rft-data/jobs/gsm8k-1.jsonl"
DENIED = b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"


@pytest.fixture
def driver(bedrock):
    return BedrockDriver("us-east-1", SimpleNamespace(bucket="bucket"))


def test_a_file_is_sent_once(driver, bucket, data):
    sent = []
    first = driver.upload(data, "gsm8k-1", sent.append)
    assert first == f"s3://bucket/{KEY}"
    assert bucket.objects[KEY][0] == data.read_bytes()
    assert sum(sent) == data.stat().st_size
    assert driver.upload(data, "gsm8k-1") == first
    assert driver.upload(data, "gsm8k-1.validation") == (
        "s3://bucket/rft-data/jobs/gsm8k-1.validation.jsonl"
    )
    assert bucket.asked.count("PUT") == 2


@pytest.mark.parametrize("metadata", [{}, {"x-amz-meta-sha256": "0" * 64}])
def test_another_content_under_the_name_is_left_as_it_is(driver, bucket, data, metadata):
    bucket.objects[KEY] = b"of somebody else", metadata
    with pytest.raises(BadJob, match=f"s3://bucket/{KEY} holds another file than .*--name"):
        driver.upload(data, "gsm8k-1")
    assert bucket.objects[KEY][0] == b"of somebody else"


def test_a_name_that_begins_another_is_another(driver, bucket, data):
    driver.upload(data, "gsm8k-10")
    driver.upload(data, "gsm8k-1")
    assert bucket.asked.count("PUT") == 2


def test_an_upload_that_broke_off_is_repeated(driver, bucket, data):
    bucket.fail("PUT", BEFORE)
    with pytest.raises(Exception, match=KEY):
        driver.upload(data, "gsm8k-1")
    driver.upload(data, "gsm8k-1")
    assert bucket.objects[KEY][0] == data.read_bytes()


def test_a_refusal_of_s3_is_a_sentence(driver, bucket, data):
    bucket.fail("ListObjectsV2", (403, {}, DENIED))
    with pytest.raises(AwsFailed, match=f"looking for s3://bucket/{KEY}: not allowed"):
        driver.upload(data, "gsm8k-1")


def test_what_a_refused_job_leaves_is_removed_and_nothing_else(driver, bucket, data):
    address = driver.upload(data, "gsm8k-1")
    driver.discard(address)
    driver.discard(address)
    assert not bucket.objects
    with pytest.raises(BadJob, match="left alone"):
        driver.discard("s3://bucket/rft-data/train.jsonl")


FOLDER = "rft-output/gsm8k-1f0c9a3e-1/model-customization-job-000000000000/"
TRAINING = f"{FOLDER}training_artifacts/step_wise_training_metrics.csv"
VALIDATION = f"{FOLDER}validation_artifacts/post_fine_tuning_validation/validation_metrics.csv"


def test_figures_are_read_from_the_services_files(driver, bucket):
    job = driver.start(REQUEST)
    assert list(driver.metrics(job)) == []
    bucket.objects[TRAINING] = b"step_number,epoch_number,training_loss\n1,0,0.5\n2,0,0.25\n", {}
    bucket.objects[VALIDATION] = b"step_number,epoch_number,reward\n2,0,0.75\n", {}
    bucket.objects[f"{FOLDER}other.csv"] = b"step_number,x\n1,1\n", {}
    assert list(driver.metrics(job)) == [
        MetricPoint(1, "training_loss", 0.5),
        MetricPoint(2, "training_loss", 0.25),
        MetricPoint(2, "reward", 0.75, "validation"),
    ]


def test_a_job_without_an_output_has_no_files(driver):
    from dataclasses import replace

    assert list(driver.metrics(replace(driver.start(REQUEST), output=""))) == []


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("", []),
        ("step_number\n", []),
        ("step_number,a\n1,0.5\n", [(1, "a", 0.5)]),
        ("step,a,b\n1,0.5,2\n", [(1, "a", 0.5), (1, "b", 2.0)]),
        # foreign columns: words, an empty cell, no number, infinity
        ("step,phase,a\n1,train,0.5\n", [(1, "a", 0.5)]),
        ("step,a\n1,\n2,nan\n3,inf\n4,-1e-3\n", [(4, "a", -0.001)]),
        # no column of steps: a row is a step
        ("a\n0.5\n0.25\n", [(1, "a", 0.5), (2, "a", 0.25)]),
        # half-written: the last row is shorter
        ("step,a,b\n1,0.5,2\n2,0.\n", [(1, "a", 0.5), (1, "b", 2.0)]),
        ("step,a\n1,0.5,7\n", []),
        (" step , a \n1,0.5\r\n", [(1, "a", 0.5)]),
        ("step,a\nx,0.5\n", []),
        ("step,,a\n1,2,3\n", [(1, "a", 3.0)]),
    ],
)
def test_a_file_of_figures_is_read_as_far_as_it_goes(content, found):
    read = [(point.step, point.name, point.value) for point in points(content, "training")]
    assert read == found
