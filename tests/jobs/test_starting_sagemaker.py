"""A job of SageMaker from its configuration: what is sent, what is refused before anything is."""

from __future__ import annotations

import json

import pytest

from reward_functions.jobs import evaluators, preflight, recipes
from reward_functions.jobs.configuration import BadJob, load
from reward_functions.jobs.drivers import base
from reward_functions.jobs.drivers.sagemaker import SageMakerDriver
from reward_functions.jobs.preparing import prepared
from reward_functions.jobs.starting import dry_run
from tests.jobs.hub_service import ACCOUNT, Service

ROLE = f"arn:aws:iam::{ACCOUNT}:role/sagemaker"
NOVA = "nova-textgeneration-lite-v2"
OPEN = "small-open-model"


@pytest.fixture
def hub(monkeypatch):
    service = Service()
    for module in (base, evaluators, recipes):
        monkeypatch.setattr(module, "client", service.client)
    return service


@pytest.fixture
def dry(stage, record, hub, rows):
    """What a start of this configuration would send."""

    def made(force="", role=ROLE, **given):
        known = record(sagemaker_role_arn=role)
        asked, driver = configured(stage, known, rows, given)
        return dry_run(asked, known, driver, session=stage.session, force=force)

    return made


def configured(stage, known, rows, given):
    """A configuration, and the driver that it is for."""
    asked = {"driver": "sagemaker", "model": NOVA, "data": rows} | given
    asked = load(None, {name: value for name, value in asked.items() if value is not None})
    return asked, SageMakerDriver("us-east-1", known, stage.session)


@pytest.fixture
def role_asked(stage, record, hub, rows, monkeypatch):
    """What preflight asks a role about, for this configuration."""

    def made(**given):
        found = []
        monkeypatch.setattr(
            preflight, "role_findings", lambda role, uses, *_: found.append(uses) or ()
        )
        monkeypatch.setattr(preflight, "scorer_named", lambda *_: None)
        known = record(sagemaker_role_arn=ROLE)
        asked, driver = configured(stage, known, rows, given)
        preflight.preflight(prepared(asked, known, driver, session=stage.session))
        return found

    return made


@pytest.fixture
def math(stage, record):
    """An immutable deployment that answers with a bare list."""
    record()
    function = stage.generation("math", "0a1b2c3d" * 4)
    stage.record("math", function)
    return function


def test_a_dry_run_says_all_and_makes_nothing(dry, hub, math):
    found = dry(deployment="math", sagemaker={"sequence_length": "4K"})
    assert not hub.made
    names = [call.operation for call in found.calls]
    assert names == [
        *("CreateHub", "ImportHubContent", "CreateModelPackageGroup", "CreateTrainingJob")
    ]
    request = found.calls[-1].request
    assert math in json.dumps(found.calls[1].request)
    assert request["ServerlessJobConfig"]["EvaluatorArn"].endswith("/1.0.0")
    assert request["RoleArn"] == ROLE
    assert found.uploads == {"data": f"s3://bucket/rft-data/jobs/{found.name}.jsonl"}
    assert request["InputDataConfig"][0]["DataSource"]["S3DataSource"]["S3Uri"] in (
        found.uploads.values()
    )
    assert (found.rows, found.name[:5]) == ("bedrock", "math-")
    assert json.loads(json.dumps(request)) == request


def test_a_preset_needs_no_deployment_and_has_verls_rows(dry):
    found = dry(model=OPEN, sagemaker={"preset_reward": "gsm8k"})
    assert [call.operation for call in found.calls] == [
        *("CreateModelPackageGroup", "CreateTrainingJob")
    ]
    assert (found.rows, found.name[:6]) == ("sagemaker", "gsm8k-")


def test_a_role_is_asked_about_the_evaluator_that_the_job_will_have(role_asked, dry, math):
    given = {"deployment": "math", "sagemaker": {"sequence_length": "4K"}}
    (uses,) = role_asked(**given)
    sent = dry(**given).calls[-1].request["ServerlessJobConfig"]
    assert (uses.evaluator, str(uses.grader)) == (sent["EvaluatorArn"], math)


def test_a_role_is_asked_about_no_evaluator_where_the_reward_is_a_preset(role_asked):
    (uses,) = role_asked(model=OPEN, sagemaker={"preset_reward": "gsm8k"})
    assert (uses.evaluator, uses.grader) == ("", None)


REFUSED = [
    ({"deployment": None}, "deployment is missing: --deployment"),
    ({"sagemaker": {"preset_reward": "gsm8k"}}, "deployment: a job has one reward"),
    ({"sagemaker": {"technique": "RLAIF"}}, "sagemaker.judge is missing"),
    ({"sagemaker": {"judge": "m"}}, "sagemaker.judge is for RLAIF"),
    (
        {"sagemaker": {"technique": "RLAIF", "judge": "m", "judge_prompt": "cot"}},
        "deployment: a job has one reward",
    ),
    ({"agent": "arn:x"}, "agent: SageMaker's serverless customization has no such setting"),
    ({"invocation_logs": {"source": "s3://b/l"}, "data": None}, "invocation_logs: "),
    ({"model": OPEN}, '"response_mode": "envelope"'),
    ({"model": "small-open-modle"}, "Did you mean 'small-open-model'?"),
    ({"model": "gated-model"}, "accept_eula = true below [sagemaker]"),
    ({"model": "a b"}, "is no model of SageMaker's hub"),
    (
        {"model": "arn:aws:sagemaker:eu-west-1:aws:hub-content/SageMakerPublicHub/Model/m"},
        "is in eu-west-1, and the stage in us-east-1",
    ),
    ({"role": None}, "set sagemaker_role for it in cdk.json and deploy"),
    ({"hyperparameters": {"rollout_n": 64}}, "rollout_n is 64: it must be a whole number from 1"),
    (
        {"deployment": f"arn:aws:lambda:us-east-1:{ACCOUNT}:function:f:7"},
        "has a qualifier, and SageMaker's evaluators take none",
    ),
    (
        {"deployment": f"arn:aws:lambda:us-east-1:{ACCOUNT}:function:f"},
        '"immutable": true for it in cdk.json',
    ),
    (
        {"deployment": "arn:aws:lambda:us-east-1:111111111111:function:f"},
        "belongs to account 111111111111",
    ),
]


@pytest.mark.parametrize(("changed", "sentence"), REFUSED)
def test_what_cannot_run_is_one_sentence_and_nothing_is_made(dry, hub, math, changed, sentence):
    for force in ("", "I want it"):
        with pytest.raises(BadJob) as refused:
            dry(force, **({"deployment": "math"} | changed))
        assert sentence in str(refused.value)
        assert "\n" not in str(refused.value)
        assert not hub.made


@pytest.mark.parametrize("driver", ["bedrock", "openai"])
@pytest.mark.parametrize("field", [{"agent": "arn:x"}, {"sagemaker": {}}])
def test_other_services_have_no_place_for_sagemakers_fields(driver, field):
    from reward_functions.jobs.options import check_options

    asked = load(None, {"model": "m", "deployment": "d", "driver": driver} | field)
    with pytest.raises(BadJob, match=f"{next(iter(field))}: .* has no such setting; leave it out"):
        check_options(asked, driver)
