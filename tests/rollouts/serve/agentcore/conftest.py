"""What tests of the AgentCore apps share: an S3, its client, and both hosts."""

import boto3
import pytest
from botocore.config import Config

from tests.loopback import served
from tests.rollouts.serve.agentcore.hosts import HOSTS, S3


@pytest.fixture(scope="session")
def _s3():
    service = S3()
    with served(service):
        config = Config(
            s3={"addressing_style": "path"},
            retries={"mode": "standard", "total_max_attempts": 2},
            request_checksum_calculation="when_required",
        )
        client = boto3.client(
            "s3",
            endpoint_url=service.address,
            region_name="us-east-1",
            aws_access_key_id="AKIAEXAMPLE",
            aws_secret_access_key="secret/EXAMPLE",
            config=config,
        )
        yield service, client
        client.close()


@pytest.fixture
def s3(_s3):
    """The service, empty; `s3.client` is boto3's."""
    service, client = _s3
    service.empty()
    service.client = client
    return service


@pytest.fixture(params=HOSTS.values(), ids=HOSTS.keys())
def host(request):
    return request.param
