"""A deployment that is not there, for somebody who may not list the others."""

import json

import boto3
import pytest

from reward_functions.aws.deployed.catalogue import NotDeployed, find
from tests.loopback import served

ANSWERS = {"GetParameter": "ParameterNotFound", "GetParametersByPath": "AccessDeniedException"}


class Ssm:
    """Parameter Store of somebody who may read a record by its name, and there is none."""

    def answer(self, asked):
        operation = asked.headers["x-amz-target"].rpartition(".")[2]
        kind = {"Content-Type": "application/x-amz-json-1.1"}
        return 400, kind, json.dumps({"__type": ANSWERS[operation]}).encode()


def test_whoever_may_not_list_is_given_the_command_that_lists(monkeypatch):
    with served(Ssm()) as ssm:
        monkeypatch.setenv("AWS_ENDPOINT_URL_SSM", ssm.address)
        session = boto3.Session("AKIDEXAMPLE", "nobodys-secret", region_name="us-east-1")
        with pytest.raises(NotDeployed) as missing:
            find("gsm8kk", "prod", session)
    assert str(missing.value) == (
        "stage 'prod' has no deployment 'gsm8kk'; `reward deployed list --stage prod` shows all of "
        "them, if you may list them"
    )
