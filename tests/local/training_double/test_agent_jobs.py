"""Multi-turn jobs of the double, through boto3: an agent on this machine is asked and rewarded."""

import json

import pytest
from botocore.exceptions import ClientError

from tests.local.training_double.agent_jobs import BASE, GROUPS, NUMBERS, TRUSTED, trust
from tests.local.training_double.conftest import ACCOUNT, allow, jsonl
from tests.waiting import until


def rewards(job):
    return [each.data["rollout/reward/mean"] for each in job.events if each.data]


@pytest.fixture(scope="module")
def trained(jobs):
    name, arn = jobs.create(jobs.document(learning_rate="0.0004"))
    return jobs.ended(name), jobs.held[arn]


def test_a_job_learns_from_the_rewards_that_its_agent_reports(trained):
    described, job = trained
    assert described["JobStatus"] == "Completed", described.get("FailureReason")
    assert len(rewards(job)) == 3
    assert rewards(job)[-1] > rewards(job)[0], "the policy follows the rewards"


def test_a_job_says_how_far_it_is_and_what_it_took(trained):
    described, _ = trained
    made = json.loads(described["JobConfigDocument"])["ServiceOutput"]
    assert made["ProgressInfo"]["CurrentStep"] == made["ProgressInfo"]["MaxSteps"] == 3
    assert made["RolloutInfo"] == {"Completed": 32, "Total": 32}
    usage = made["BillableTokenUsage"]
    assert usage["TrainTokenCount"] == usage["PrefillTokenCount"] + usage["SampleTokenCount"] > 0
    assert ":model-package/results/" in made["OutputModelPackageArn"]
    phases = [each["Status"] for each in described["SecondaryStatusTransitions"]]
    assert phases == ["Starting", "Downloading", "Training", "Uploading", "Completed"]


def test_a_job_is_listed_stopped_and_deleted(jobs):
    with jobs.world.slowed(seconds_per_step=60.0):
        name, arn = jobs.create(jobs.document())
        until(lambda: rewards(jobs.held[arn]))
        with pytest.raises(ClientError, match="ResourceInUse"):
            jobs.client.delete_job(JobName=name, JobCategory="AgentRFT")
        jobs.client.stop_job(JobName=name, JobCategory="AgentRFT")
        assert jobs.ended(name)["JobStatus"] == "Stopped"
    listed = jobs.client.list_jobs(JobCategory="AgentRFT", NameContains=name)["JobSummaries"]
    assert [each["JobArn"] for each in listed] == [arn]
    jobs.client.delete_job(JobName=name, JobCategory="AgentRFT")
    with pytest.raises(ClientError, match="ResourceNotFound"):
        jobs.client.describe_job(JobName=name, JobCategory="AgentRFT")


def test_an_agent_that_refuses_a_rollout_ends_the_job(jobs):
    name, _ = jobs.create(jobs.document(agent=jobs.refusing))
    reason = jobs.ended(name)["FailureReason"]
    assert reason.startswith("The agent signaled that the trajectory failed: ValidationError")


def test_a_reward_that_is_late_ends_the_job(jobs):
    data = jobs.world.put("silent.jsonl", jsonl([{"prompt": "silent"}]))
    name, _ = jobs.create(jobs.document(agent=jobs.refusing, data=data, rollout_timeout="0.1"))
    assert "No reward arrived within 0.1 seconds" in jobs.ended(name)["FailureReason"]


def without(document, *path):
    """The same document without a member."""
    copied = json.loads(json.dumps(document))
    place = copied
    for each in path[:-1]:
        place = place[each]
    del place[path[-1]]
    return copied


REFUSED = {
    "no JSON": (lambda _: "{", "is not JSON"),
    "no agent": (lambda made: without(made, "AgentConfig"), '"AgentConfig" is a required'),
    "no base": (lambda made: without(made, "TrainingConfig", "BaseModelArn"), "is a required"),
    "a member that nobody knows": (lambda made: made | {"Fast": True}, "'Fast' was unexpected"),
    "one group for both": (
        lambda made: (
            made
            | {"ModelPackageConfig": dict.fromkeys(made["ModelPackageConfig"], f"{GROUPS}/one")}
        ),
        "must not be that of the result",
    ),
    "a base that is not in the hub": (
        lambda made: (
            made | {"TrainingConfig": {"BaseModelArn": BASE.replace("gpt-oss-20b", "gpt-9")}}
        ),
        "does not exist",
    ),
    "an agent elsewhere": (
        lambda made: (
            made
            | {
                "AgentConfig": {
                    "CustomAgentLambdaConfig": {
                        "LambdaArn": f"arn:aws:lambda:eu-west-1:{ACCOUNT}:function:agent"
                    }
                }
            }
        ),
        "must be a function of us-east-1",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_document_that_does_not_fit_is_refused(jobs, case):
    change, said = REFUSED[case]
    with pytest.raises(ClientError, match=said):
        jobs.create(change(jobs.document()))


@pytest.mark.parametrize(
    "trusts",
    [trust("sts:AssumeRole"), trust(TRUSTED, "sagemaker.amazonaws.com"), trust("sts:TagSession")],
    ids=["no session tags", "another service", "no role"],
)
def test_a_role_has_to_let_the_service_assume_it_and_tag_the_session(jobs, trusts):
    role = jobs.world.role(f"untrusting-{next(NUMBERS)}", jobs.rights, trusts)
    with pytest.raises(ClientError, match="trust policy does not let"):
        jobs.create(jobs.document(), role=role)


def test_who_may_not_pass_the_role_starts_nothing(jobs):
    person = jobs.world.client(jobs.world.user(allow("sagemaker:*", "*")), "sagemaker")
    with pytest.raises(ClientError, match="iam:PassRole"):
        jobs.create(jobs.document(), client=person)
