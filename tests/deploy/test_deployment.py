"""The real CDK on the emulator: deployed and asked; what goes wrong."""

from __future__ import annotations

import os
import signal
from contextlib import closing
from threading import Timer
from time import sleep

import pytest

from reward_functions import sample
from reward_functions.audit.engine import AuditOptions, audit_rows, audited
from reward_functions.audit.targets import audit_target
from reward_functions.aws.deployed import check, expectation
from reward_functions.aws.emulator_record import start_time
from reward_functions.cli.demo import REWARDS, score_deployed, script
from reward_functions.core.batch import score_batch
from reward_functions.core.errors import DatasetError
from reward_functions.core.registry import get
from reward_functions.core.types import Scored
from reward_functions.local.emulator import running
from reward_functions.local.emulator.cdk import Cdk, CdkFailed
from reward_functions.local.emulator.emulator import EmulatorEnded, known
from tests.commands import Command
from tests.deploy.what import ROOT, STAGE, stages
from tests.processes import until_ended
from tests.waiting import PATIENCE

DEPLOYMENTS = stages()[STAGE]["deployments"]

NAMES = [
    each if isinstance(each, str) else each.get("name", each["reward"]) for each in DEPLOYMENTS
]


def versions(stage):
    """The published version each alias points to; an immutable deployment has none."""
    client = stage.session.client("lambda")
    return {
        name: client.get_alias(FunctionName=reward.function_arn, Name="live")["FunctionVersion"]
        for name, reward in stage.catalogue.items()
        if not reward.immutable
    }


def test_the_catalogue_is_what_the_stage_says(stage):
    assert sorted(stage.catalogue) == sorted(NAMES)
    assert set(versions(stage).values()) == {"1"}
    assert stage.catalogue["gsm8k-flexible"].parameters == {"flexible": True}
    assert stage.catalogue["gsm8k-envelope"].response_mode == "envelope"


@pytest.mark.parametrize("name", NAMES)
def test_every_alias_answers_with_the_rewards_of_a_local_run(stage, name, monkeypatch):
    monkeypatch.chdir(stage.project.folder)
    deployed = stage.catalogue[name]
    spec = get(deployed.reward)
    samples = [each.sample(f"example-{at}") for at, each in enumerate(spec.examples)]
    samples += [sample("an answer", id="no reference"), sample("", "1", id="no answer")]
    local = score_batch(spec.bind(deployed.parameters, ask=script(deployed.reward)), samples)
    for here, there in zip(local, stage.function(name).score(samples), strict=True):
        assert here.id == there.id
        if isinstance(here, Scored):
            assert (here.score.value, here.score.metrics) == (
                there.score.value,
                there.score.metrics,
            )
        else:
            assert isinstance(here.error, DatasetError)
            assert isinstance(there.error, DatasetError)


@pytest.mark.parametrize(
    ("name", "unknown"),
    # What a judge's model will say, nobody knows beforehand.
    [
        ("gsm8k-flexible", []),
        ("gsm8k-envelope", []),
        ("pandalm", ["scores"]),
        ("reference", ["scores"]),
    ],
)
def test_what_is_deployed_passes_the_check(stage, name, unknown):
    report = check(stage.function(name, attempts=1), expectation(stage.catalogue[name]))
    assert [found for found in report.findings if found.verdict == "failure"] == []
    assert [found.question for found in report.findings if found.verdict == "unknown"] == unknown


def test_an_alias_passes_an_audit_through_its_arn_alone(stage):
    rows = [sample("", str(at), prompt=f"What is {at}?", id=f"row {at}") for at in range(10, 16)]
    with closing(
        audit_target(stage.catalogue["gsm8k-envelope"].live_arn, session=stage.session)
    ) as target:
        asked = AuditOptions(
            classes=["FN-LAYOUT", "EX-LIST", "EX-NEAR"], repeat=2, allow_undecided=True
        )
        done = audited(target, audit_rows(target, rows, None), asked)
    assert (done.failures, done.status) == ([], 0)


def test_the_demo_scores_what_is_deployed_as_it_says_it_does(stage, capsys):
    seen = score_deployed(stage.session, REWARDS)
    told = capsys.readouterr().out
    for name in ("finqa", "gsm8k", "gsm8k-envelope", "math"):
        assert f", from {stage.catalogue[name].alias_arn}" in told
    assert "-flexible" not in told  # other parameters, other rewards than the files expect
    assert seen["surprising"] == 0
    assert seen["right"] >= 3
    assert seen["unscored"] >= 3


def test_what_the_stage_gets_wrong_is_one_sentence(stage):
    written = (stage.project.folder / "cdk.json").read_text()
    stage.project.write({STAGE: stages()[STAGE] | {"deployments": ["gsm9k"]}})
    with pytest.raises(CdkFailed) as raised:
        stage.project.cdk.deploy()
    (stage.project.folder / "cdk.json").write_text(written)
    assert "cdk deploy failed: stage 'local', deployment 'gsm9k': " in str(raised.value)
    assert "Did you mean 'gsm8k'?" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_an_emulator_that_dies_during_deploy_ends_the_deploy(project, tmp_path):
    with running("dying") as aws:
        cdk = Cdk(aws, project.folder, stage=STAGE, output=tmp_path / "cdk.out")
        death = Timer(1.5, os.kill, (aws.record.process.id, signal.SIGKILL))
        death.start()
        with pytest.raises(EmulatorEnded, match=r"the local AWS 'dying' has ended: "):
            cdk.deploy()
    until_ended(cdk.log.parent)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_demo_that_is_interrupted_leaves_nothing(number, tmp_path):
    before = {aws.name for aws in known()}
    with (tmp_path / "said").open("wb") as said:
        demo = Command(["demo", "--deployed"], cwd=ROOT, stdout=said, stderr=said)
    while not (own := [aws for aws in known() if aws.name not in before and aws.ready()]):
        assert demo.poll() is None, (tmp_path / "said").read_text()
        sleep(0.02)
    while not (own[0].folder.path / "cdk.log").exists():
        sleep(0.02)
    demo.send_signal(number)
    assert demo.wait(timeout=PATIENCE) == 130
    assert "Traceback" not in (tmp_path / "said").read_text()
    assert {aws.name for aws in known()} == before
    assert start_time(own[0].record.process.id) is None
    until_ended(own[0].folder.path)
