"""What tests of rollouts share: credentials that are nobody's, and a clean environment."""

import pytest

from tests.loopback import served
from tests.policy_service import Policy

ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "AKIAEXAMPLE",
    "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/EXAMPLEKEY",
    "AWS_SESSION_TOKEN": "SESSION/TOKEN==",
    "AWS_EC2_METADATA_DISABLED": "true",
}
UNSET = ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "RFT_RUNTIME_ENDPOINT", "RFT_STAGE")


@pytest.fixture
def credentials(monkeypatch, tmp_path):
    """Credentials of the environment, and nothing else of the machine's."""
    for name in (*UNSET, "AWS_ENDPOINT_URL_SAGEMAKERJOBRUNTIME", "AWS_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / name))
    return monkeypatch


@pytest.fixture
def policy(credentials):
    """A policy on the loopback interface, and no other one in the environment."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        credentials.delenv(name, raising=False)
    service = Policy()
    with served(service):
        yield service
