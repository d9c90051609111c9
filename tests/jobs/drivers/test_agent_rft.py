"""What a multi-turn job's answers and its log say."""

from datetime import UTC, datetime

import pytest

from reward_functions.aws.catalogue import JobRights
from reward_functions.jobs import beside_deployed as beside
from reward_functions.jobs import preflight
from reward_functions.jobs.drivers.agent_rft import AgentDriver, log_events
from reward_functions.jobs.job import MlflowRun, Progress
from reward_functions.jobs.options import agent_of

BEGIN = datetime(2026, 11, 23, tzinfo=UTC)
ARN = "arn:aws:sagemaker:us-east-1:123456789012:job/AgentRFT/sums-1"
AGENT = "arn:aws:lambda:us-east-1:123456789012:function:SageMaker-agent"


DRIVER = AgentDriver("us-east-1", None)


def described(**changes):
    return {
        "JobArn": ARN, "JobName": "sums-1", "JobStatus": "InProgress", "CreationTime": BEGIN,
        "JobConfigDocument": "{}",
    } | changes  # fmt: skip


class Logs:
    """A service that answers with every line of the group, whatever prefix is asked for."""

    def filter_log_events(self, **_):
        streams = ("sums-1/a", "sums-12/a", "sums/a", "other-1/a", None, "sums-1")
        return {
            "events": [
                {"timestamp": 1_800_000_000_000, "message": f"{each}", "logStreamName": each}
                for each in streams
            ]
        }


def test_a_job_has_the_lines_of_its_own_streams_alone():
    assert [each.message for each in log_events(Logs(), "sums-1")] == ["sums-1/a"]


@pytest.mark.parametrize("status", ["Completed", "Failed", "Stopped"])
def test_how_a_job_ended_is_said_once(status):
    phases = [{"Status": "Training", "StartTime": BEGIN}, {"Status": status, "StartTime": BEGIN}]
    answer = described(
        JobStatus=status, EndTime=BEGIN, SecondaryStatusTransitions=phases, FailureReason="why"
    )
    said = [each.message for each in DRIVER.events_of(answer)]
    assert said == ["created", "Training", f"{status}: why"]


PARTS = {
    # what ServiceOutput has: the progress and the run that are shown
    '{"ProgressInfo": {"CurrentEpoch": 1}}': (Progress(epoch=1), None),
    '{"ProgressInfo": {"MaxEpoch": 2, "CurrentStep": 0}}': (Progress(epochs=2, step=0), None),
    '{"ProgressInfo": {}, "RolloutInfo": {"Total": 8}}': (Progress(of_rollouts=8), None),
    '{"ProgressInfo": {}}': (None, None),
    '{"MlflowDetails": {"RunId": "r", "ExperimentId": "e"}}': (None, MlflowRun("", "r", "e")),
    '{"MlflowDetails": {"ExperimentId": "e"}}': (None, MlflowRun("", "", "e")),
    '{"MlflowDetails": {"RunName": "n"}}': (None, None),
}


@pytest.mark.parametrize("output", PARTS)
def test_what_is_missing_is_absent_and_the_rest_is_there(output):
    job = DRIVER.job_of(described(JobConfigDocument=f'{{"ServiceOutput": {output}}}'), {})
    assert (job.progress, job.mlflow) == PARTS[output]


@pytest.mark.parametrize(
    ("app", "run", "can"), [("arn:a", "r", True), ("", "r", False), ("arn:a", "", False)]
)
def test_figures_take_an_app_and_a_run(app, run, can):
    assert MlflowRun(app, run, "e").can_be_read is can


BESIDE = {
    # what the document names, the stage grants: verdict and question
    "granted by its name": (f"{AGENT}:3", (AGENT,), ("ok", "rights")),
    "granted by this version": (f"{AGENT}:3", (f"{AGENT}:3",), ("ok", "rights")),
    "another version granted": (f"{AGENT}:3", (f"{AGENT}:2",), ("warning", "rights")),
    "no agent any more": (f"{AGENT}:3", (), ("warning", "rights")),
    "no agent named": ("", (AGENT,), ("unknown", "agent")),
}


@pytest.mark.parametrize("case", BESIDE)
def test_an_agent_is_no_reward_of_the_stage(case, monkeypatch, deployed_stage_record):
    named, agents, expected = BESIDE[case]
    stage = deployed_stage_record.model_copy(update={"job_rights": JobRights(agents=agents)})
    monkeypatch.setattr(beside, "stage_record", lambda *_: stage)
    monkeypatch.setattr(preflight, "there", lambda *_: iter(()))
    written = f'{{"AgentConfig": {{"CustomAgentLambdaConfig": {{"LambdaArn": "{named}"}}}}}}'
    job = DRIVER.job_of(described(JobConfigDocument=written), {})
    [found] = beside.beside_deployed(job, "dev")
    assert (found.verdict, found.question) == expected


@pytest.fixture
def deployed_stage_record():
    from reward_functions.aws.catalogue import DeployedStage

    policies = {f"{each}_policy_arn": "p" for each in ("data", "jobs", "evaluate", "operate")}
    return DeployedStage(
        stage="dev", region="us-east-1", keep_versions=1, bucket="b", training_role_arn="r",
        agent_role_arn="r", job_events_topic_arn="t", dashboard="d", **policies,
    )  # fmt: skip


@pytest.mark.parametrize("group", [8, 8.0, "8"])
def test_rollouts_of_a_step_are_counted_as_the_job_is_sent_its_numbers(
    group, monkeypatch, tmp_path
):
    monkeypatch.setattr(preflight, "there", lambda *_: iter(()))
    monkeypatch.setattr(preflight, "_smoke", lambda *_: iter(()))
    file = tmp_path / "rows.jsonl"
    file.write_text('{"prompt": "1 + 1?"}\n' * 100)
    given = {"group_size": group, "global_batch_size": 64.0}
    *_, found = preflight.agent_findings(agent_of(f"{AGENT}:3"), {"data": file}, given)
    assert found.message == "a step asks the agent for up to 512 rollouts"
