"""`cdk deploy` from a repository that installed the wheel, and has `helpers` and `infra`."""

from __future__ import annotations

import json

import pytest

from reward_functions.testing import sample
from reward_functions.tools.deployed import DeployedFunction, deployments
from reward_functions.tools.local_aws.cdk import Cdk, CdkFailed
from tests.wheel import installed, repository_with_packages_of_our_names

STAGE = "acme"


@pytest.fixture
def deployed(local_aws, tmp_path, monkeypatch):
    """The stage `acme`, deployed by the installed console script; taken away again."""
    wheel = installed(tmp_path)
    repository = repository_with_packages_of_our_names(tmp_path)
    about = json.loads((repository / "cdk.json").read_text())
    assert about["app"] == "reward-cdk-app"
    about["context"]["stages"] = {STAGE: about["context"]["stages"].pop("local")}
    (repository / "cdk.json").write_text(json.dumps(about))
    for name, value in wheel.environment(repository).items():
        monkeypatch.setenv(name, value)

    class InstalledCdk(Cdk):
        @property
        def _path(self):
            return f"{wheel.site / 'bin'}:{super()._path}"

    try:
        cdk = InstalledCdk(local_aws, repository, stage=STAGE)
    except CdkFailed as error:
        pytest.skip(str(error))
    cdk.bootstrap()
    cdk.deploy()
    yield local_aws.session()
    cdk.destroy()


def test_their_reward_and_ours_score_where_they_are_deployed(deployed):
    functions = {
        reward.name: DeployedFunction(reward.alias_arn, session=deployed)
        for reward in deployments(STAGE, deployed)
    }
    assert functions.keys() == {"gsm8k", "acme-length", "acme-brief"}
    (ours,) = functions["gsm8k"].score([sample("#### 42", "42", id="a")])
    (theirs,) = functions["acme-brief"].score([sample("a response of many characters", id="b")])
    assert (ours.id, ours.score.value) == ("a", 1.0)
    assert (theirs.id, theirs.score.value) == ("b", 0.0)
