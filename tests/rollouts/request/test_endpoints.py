"""Where the runtime of a job is, and which hosts are given a credential."""

import pytest

from reward_functions.rollouts.request.contract import RolloutMetadata
from reward_functions.rollouts.request.endpoints import (
    NAMED,
    endpoint_of,
    region_of,
    require_trusted,
)
from reward_functions.rollouts.request.errors import UntrustedEndpoint


@pytest.fixture(autouse=True)
def nothing_is_set(monkeypatch):
    for name in (*NAMED, "AWS_REGION", "RFT_STAGE"):
        monkeypatch.delenv(name, raising=False)


# Vectors of sagemaker-train 1.27: metadata, variables, the endpoint.
FOUND = [
    ({}, {}, "https://job-runtime.sagemaker.us-west-2.api.aws"),
    ({}, {"AWS_REGION": "us-east-1"}, "https://job-runtime.sagemaker.us-east-1.api.aws"),
    (
        {"region": "eu-west-1"},
        {"AWS_REGION": "us-east-1"},
        "https://job-runtime.sagemaker.eu-west-1.api.aws",
    ),
    ({}, {"RFT_STAGE": "beta"}, "https://job-runtime.beta.sagemaker.us-west-2.api.aws"),
    ({}, {"RFT_STAGE": "prod"}, "https://job-runtime.sagemaker.us-west-2.api.aws"),
    ({}, {"RFT_STAGE": "x.evil.example/"}, "https://job-runtime.sagemaker.us-west-2.api.aws"),
    ({}, {"RFT_RUNTIME_ENDPOINT": "http://127.0.0.1:8765/"}, "http://127.0.0.1:8765"),
    ({}, {"AWS_ENDPOINT_URL_SAGEMAKERJOBRUNTIME": "http://h:1"}, "http://h:1"),
    (
        {"endpoint": "https://job-runtime.sagemaker.us-east-1.api.aws/"},
        {"RFT_RUNTIME_ENDPOINT": "http://127.0.0.1:8765"},
        "https://job-runtime.sagemaker.us-east-1.api.aws",
    ),
]


@pytest.mark.parametrize(("metadata", "environ", "endpoint"), FOUND)
def test_the_endpoint_is_the_payload_s_the_operator_s_or_the_platform_s(
    monkeypatch, metadata, environ, endpoint
):
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert endpoint_of(RolloutMetadata(**metadata)) == endpoint


TRUSTED = [
    "https://job-runtime.sagemaker.us-east-1.api.aws",
    "https://job-runtime.sagemaker.us-east-1.api.aws/",
    "https://job-runtime.sagemaker.us-east-1.api.aws:443",
    "https://JOB-runtime.sagemaker.us-east-1.api.aws",
    "https://job-runtime.sagemaker-fips.us-gov-west-1.api.aws",
    "https://job-runtime.beta.sagemaker.us-west-2.api.aws",
    "https://job-runtime.sagemaker.us-west-2.amazonaws.com",
    "https://finetuning-job-runtime.alpha.sagemaker.us-west-2.api.aws",
]


@pytest.mark.parametrize("endpoint", TRUSTED)
def test_aws_s_own_runtime_may_be_named(endpoint):
    require_trusted(endpoint)


# Each has been a way past an allow-list of hosts somewhere.
UNTRUSTED = [
    "http://job-runtime.sagemaker.us-east-1.api.aws",
    "https://job-runtime.sagemaker.us-east-1.api.aws.evil.example",
    "https://evil.example/job-runtime.sagemaker.us-east-1.api.aws",
    "https://evil.example?job-runtime.sagemaker.us-east-1.api.aws",
    "https://evil.example#@job-runtime.sagemaker.us-east-1.api.aws",
    "https://user@job-runtime.sagemaker.us-east-1.api.aws",
    "https://job-runtime.sagemaker.us-east-1.api.aws@evil.example",
    "https://job-runtime.sagemaker.us-east-1.api.aws\\@evil.example",
    "https://job-runtime.sagemaker.us-east-1.api.aws:8443",
    "https://job-runtime.sagemaker.us-east-1.api.aws:x",
    "https://job-runtimesagemaker.us-east-1.api.aws",
    "https://x-job-runtime.sagemaker.us-east-1.api.aws",
    "https://job-runtime.a.b.sagemaker.us-east-1.api.aws",
    "https://job-runtime.sagemaker.us-east-1.api.aws\n",
    " https://job-runtime.sagemaker.us-east-1.api.aws",
    "//job-runtime.sagemaker.us-east-1.api.aws",
    "ftp://job-runtime.sagemaker.us-east-1.api.aws",
    "https://[::1",
    "http://127.0.0.1:8765",
    "http://169.254.169.254/latest/meta-data",
    "https://s3.amazonaws.com",
    "",
]


@pytest.mark.parametrize("endpoint", UNTRUSTED)
def test_no_other_host_is_given_a_credential(endpoint):
    with pytest.raises(UntrustedEndpoint):
        require_trusted(endpoint)


@pytest.mark.parametrize("name", ["RFT_RUNTIME_ENDPOINT", "AWS_ENDPOINT_URL_SAGEMAKERJOBRUNTIME"])
def test_what_the_operator_named_may_be_named_by_a_payload(monkeypatch, name):
    monkeypatch.setenv(name, "http://127.0.0.1:8765")
    require_trusted("http://127.0.0.1:8765/x")
    with pytest.raises(UntrustedEndpoint):
        require_trusted("http://127.0.0.1:8766")


def test_an_argument_trusts_one_origin():
    require_trusted("http://h:1/", trusted=["http://h:1"])
    with pytest.raises(UntrustedEndpoint):
        require_trusted("http://h:2/", trusted=["http://h:1"])


@pytest.mark.parametrize(
    "region", ["us-east-1.evil.example/", "us east 1", "a" * 99, "../x", "US-EAST-1"]
)
def test_a_region_that_is_none_never_becomes_part_of_a_host(region):
    with pytest.raises(UntrustedEndpoint, match="not the name of a region"):
        endpoint_of(RolloutMetadata(region=region))


@pytest.mark.parametrize(
    "region", ["us-east-1", "ap-southeast-5", "us-gov-west-1", "us-isob-east-1", "cn-north-1"]
)
def test_regions(region):
    assert region_of(RolloutMetadata(region=region)) == region
