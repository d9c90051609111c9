"""The grader of a job: what is taken, under which version, and what is refused in one sentence."""

from __future__ import annotations

import pytest

from reward_functions.aws.arn import BadArn
from reward_functions.aws.deployed import catalogue
from reward_functions.aws.deployed.catalogue import NotDeployed
from reward_functions.aws.deployed.scorer import scorer_named
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.grader import inspected, pinned
from tests.jobs.graders import FUNCTION, deployed

REGION = "us-east-1"


@pytest.fixture
def gsm8k(stage, record):
    """Its three versions; the catalogue gives the second to jobs."""
    record()
    function = stage.deployment(versions=3, live="3")
    stage.record("gsm8k", function, "2")
    return function


@pytest.fixture
def pin(stage, record):
    def made(asked, region=REGION, **options):
        found = pinned(asked, record(), region, stage.session, **options)
        return inspected(found, stage.session)

    return made


def test_a_deployment_is_the_version_that_the_catalogue_gives(gsm8k, pin):
    grader = pin("gsm8k")
    assert str(grader.arn) == f"{gsm8k}:2"
    assert (grader.deployment, grader.reward, grader.version) == ("gsm8k", "gsm8k", 1)
    assert (grader.digest, grader.function_version) == ("0" * 16, "2")
    assert pin(f"{gsm8k}:2") == grader


def test_a_version_is_taken_and_says_what_it_serves(gsm8k, pin):
    grader = pin(f"{gsm8k}:1")
    assert (str(grader.arn), grader.deployment) == (f"{gsm8k}:1", "gsm8k")
    assert (grader.reward, grader.version, grader.response_mode) == ("gsm8k", 1, "list")
    assert grader.digest != "0" * 16


def test_a_function_of_an_immutable_deployment_is_taken(stage, record, pin):
    record()
    function = stage.generation("math", "0a1b2c3d" * 4)
    stage.record("math", function)
    assert str(pin("math").arn) == function
    assert pin("math").function_version.endswith("--0a1b2c3d")
    assert pin(function) == pin("math")


def test_a_function_of_somebody_elses_is_taken_by_its_version(stage, gsm8k, pin):
    function = stage.deployed_function("def handler(event, context): return []")
    stage.lambda_.publish_version(FunctionName=function)
    grader = pin(f"{function}:1")
    assert (grader.deployment, grader.reward, grader.version) == ("", "", None)
    assert grader.response_mode == ""


@pytest.mark.parametrize("qualifier", ["", ":live", ":$LATEST"])
def test_what_moves_is_refused_without_force(gsm8k, pin, qualifier):
    with pytest.raises(BadJob) as refusal:
        pin(f"{gsm8k}{qualifier}")
    assert str(refusal.value) == (
        f"{gsm8k}{qualifier} moves: a deployment changes the reward under the job; give gsm8k, "
        "which holds still, or say why with --force"
    )
    assert str(pin(f"{gsm8k}{qualifier}", force=True).arn) == f"{gsm8k}{qualifier}"


def test_what_moves_and_is_nobodys_names_the_form_that_does_not(pin):
    with pytest.raises(BadJob, match=r"give arn:.*:function:other:VERSION, which holds still"):
        pin("arn:aws:lambda:us-east-1:000000000000:function:other:live")


def test_a_job_and_its_grader_are_in_one_region_and_account(gsm8k, pin):
    with pytest.raises(BadJob, match="is in us-east-1, and the job runs in us-west-2: a job invo"):
        pin("gsm8k", region="us-west-2")
    with pytest.raises(BadJob, match="belongs to account 111111111111, and the job runs in 0000"):
        pin("arn:aws:lambda:us-east-1:111111111111:function:f:1")


def test_an_envelope_is_refused(stage, gsm8k, pin):
    version = stage.publish(gsm8k, {"REWARD_RESPONSE_MODE": "envelope"})
    with pytest.raises(BadJob, match="answers with SageMaker's envelope, and this job's service"):
        pin(f"{gsm8k}:{version}", force=True)


def test_a_version_that_is_gone_is_refused(stage, gsm8k, pin):
    stage.lambda_.delete_function(FunctionName=gsm8k, Qualifier="2")
    for asked in ("gsm8k", f"{gsm8k}:2"):
        with pytest.raises(BadJob, match=f"Lambda has no {gsm8k}:2 any more: deploy the reward ag"):
            pin(asked)


def test_an_unknown_deployment_is_refused(gsm8k, pin):
    with pytest.raises(NotDeployed, match=r"has no deployment 'gsm9k'. Did you mean 'gsm8k'\?"):
        pin("gsm9k")


def test_a_scorer_knows_what_the_catalogue_says_of_this_version_alone(monkeypatch):
    record = deployed("gsm8k")
    known = {"gsm8k": record}
    monkeypatch.setattr(catalogue, "find", lambda name, *_: known[name])
    monkeypatch.setattr(catalogue, "deployment_of", lambda arn, *_: record if arn else None)
    for asked, said in (
        ("gsm8k", record),
        (record.version_arn, record),
        (f"{FUNCTION}:6", None),
        (f"{FUNCTION}:live", None),
        (FUNCTION, None),
    ):
        scorer = scorer_named(asked, "dev")
        assert (str(scorer.arn), scorer.deployed) == (
            record.version_arn if asked == "gsm8k" else asked,
            said,
        )
    monkeypatch.setattr(catalogue, "deployment_of", lambda *_: None)
    assert scorer_named(record.version_arn, "dev").deployed is None
    with pytest.raises(BadArn):
        scorer_named("arn:aws:s3:::bucket", "dev")
