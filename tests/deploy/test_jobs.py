"""The story of a job, by commands alone, with a submitter's rights and not root's.

On the stage that these tests deploy, where permissions are enforced, with the training double
beside the emulator: a simulation, which trains no language model. What goes wrong meanwhile, root
does. Each step is a test that stands on the ones before.
"""

from __future__ import annotations

import json
import signal
from time import sleep

import pytest

from reward_functions.local.training_double.jobs import Grader, seed_of
from reward_functions.local.training_double.training import Responses, TrainingJob
from tests.deploy.submitter import CREATES, DRIVERS, GONE, MANY, SEVERE, SIMULATION, TABLE

FAST = ("--interval", "0.05")

GSM8K = ("-d", "gsm8k", "--data")

MEANS = ("reward_mean", "critic_rewards_mean")
"""What the services call the mean reward of a step."""

STOPS = {"bedrock": "StopModelCustomizationJob", "openai": "CancelFineTuningJob"}

READS = {"bedrock": "GetModelCustomizationJob", "openai": "GetFineTuningJob"}


def started(me, *words):
    """The name of a job that a command starts."""
    ran = me.job("start", *words)
    name, verb = ran.stdout.splitlines()[0].split(" ", 1)
    assert verb == "started"
    assert f"follow it with: reward job watch {name} --stage local\n" in ran.stderr
    return name


def sentence(me, *words):
    """The one line of a command that could not be carried out."""
    refused = me.job(*words, status=2).stderr
    assert refused.startswith("error: ")
    assert refused.count("\n") == 1
    return refused


def shown(me, name):
    return json.loads(me.job("show", name, "--json").stdout)


def rewards(me, name):
    """The mean reward of each step that has figures, by step."""
    measured = json.loads(me.job("metrics", name, "--no-grader", "--json").stdout)
    found = [each["points"] for each in measured["series"] if each["name"] in MEANS]
    return dict(map(tuple, found[0])) if found else {}


@pytest.mark.parametrize("driver", DRIVERS)
def test_from_data_to_a_tuned_model_and_away_again(me, account, data, driver):
    job = (*DRIVERS[driver], *GSM8K, data)
    few = ("-n", 5, "-k", 4, "--yes")
    before = account.belongings()

    planned = me.job("plan", *job)
    assert "Hyperparameters" in planned.stdout
    assert "dollars of training    unknown" in planned.stdout
    measured = me.job("baseline", *job, *few)
    assert "(simulation)" in measured.stdout
    checked = me.job("preflight", *job)
    assert "(simulation)" in checked.stdout
    assert "FAILURE" not in checked.stdout
    assert account.belongings() == before, "nothing is there before a job is started"

    name = started(me, *job)
    assert f"Before {name} (simulation)" in checked.stdout
    assert me.job("start", *job).stdout.startswith(f"{name} was started before, and ")
    watched = me.job("watch", name, *FAST)
    assert SIMULATION in watched.stderr
    assert f"{name} succeeded: " in watched.stdout.splitlines()[-1]
    figures = me.job("metrics", name, "--plot", f"{driver}.html")
    assert "The service's figures (simulation)" in figures.stdout
    # The OpenAI-compatible API has its times in whole seconds, and this job may end in its first.
    assert driver == "openai" or "The grader's figures (simulation)" in figures.stdout
    assert f"Job {name} (simulation)" in (me.folder / f"{driver}.html").read_text()
    listed = me.job("list")
    assert SIMULATION in listed.stdout
    hidden = [line.partition(":")[0] for line in listed.stderr.splitlines()]
    assert hidden == ["SageMaker serverless", "SageMaker multi-turn"], "policies of somebody else"
    assert SIMULATION in me.job("show", name).stdout

    hosted = me.job("deploy-model", name)
    assert SIMULATION in hosted.stderr
    tuned = me.job("baseline", *job, *few, "--ask", hosted.stdout.strip())
    assert "(simulation)" in tuned.stdout
    base, better = (
        json.loads((me.folder / file).read_text()) for file in ("baseline.json", "tuned.json")
    )
    assert base["mean"][2] < better["mean"][1], "the intervals are apart"

    listed = me.job("cleanup", name, "--data", status=2)
    assert " goes " in listed.stdout
    assert "nothing was removed: " in listed.stderr
    assert "add --yes" in listed.stderr
    cleaned = me.job("cleanup", name, "--data", "--output", "--yes")
    assert "removed" in cleaned.stderr
    after = account.belongings()
    left = {"jobs": 1, "models": 1} if driver == "bedrock" else {"jobs": 1, "models": 4}
    grown = {
        kind: after[kind] - before[kind] for kind in ("jobs", "models", "deployments", "files")
    }
    assert {kind: count for kind, count in grown.items() if count} == left
    assert all(after[prefix] == before[prefix] for prefix in ("rft-data/", "rft-output/"))


def test_only_an_operator_deletes_a_model(me):
    (job, *_) = (
        each for each in json.loads(me.job("list", "--driver", "bedrock", "--json").stdout)
    )
    ran = me.job("cleanup", job["name"], "--model", "--yes", status=1)
    assert "0 things removed" in ran.stderr
    assert "not removed: deleting the model" in ran.stderr
    assert "takes the policy of `operate`" in ran.stderr


def test_a_deploy_in_the_middle_of_a_run_changes_not_one_score(me, account, data):
    first = account.stage.catalogue["gsm8k-flexible"].version_arn
    job = (*DRIVERS["bedrock"], "-d", "gsm8k-flexible", "--data", data)
    account.hold()
    name = started(me, *job)
    second = account.publish("gsm8k-flexible", SEVERE, alone=True)
    beside = me.job("show", name).stdout
    assert f"gives jobs version {second.rpartition(':')[2]}, and this job keeps version 1" in beside
    account.release()
    me.job("watch", name, *FAST)
    seen = rewards(me, name)
    assert seen == pytest.approx(rehearsed(account, me, data, name, first), abs=1e-6)
    assert set(rehearsed(account, me, data, name, second).values()) == {0.0}
    assert shown(me, name)["grader"] == first


def rehearsed(account, me, data, name, version):
    """The mean rewards of the same job where nothing happens to the version it asks, by step."""
    steps = []
    job = TrainingJob(
        rows=[json.loads(line) for line in (me.folder / data).read_text().splitlines()],
        hyperparameters=shown(me, name)["hyperparameters"],
        seed=seed_of(name),
    )
    outcome = Responses(job, Grader(account.session, version)).run(steps.append)
    assert outcome.status == "succeeded"
    return {step.number: step.metrics["reward_mean"] for step in steps}


def test_a_watch_that_is_killed_begins_again_where_the_service_is(me, account, data):
    account.hold()
    name = started(me, *DRIVERS["openai"], *GSM8K, data, "--name", "watched")
    with me.process("watch", name, *FAST, "--json") as watch:
        while '"kind": "metric"' not in watch.stdout.readline():
            assert watch.poll() is None
        watch.kill()
    assert watch.returncode == -signal.SIGKILL
    assert shown(me, name)["status"] == "running"
    account.release()
    again = me.job("watch", name, *FAST, "--json").stdout.splitlines()
    records = [json.loads(line) for line in again]
    steps = {each["step"] for each in records if each["kind"] == "metric"}
    assert steps == {1, 2, 3}
    assert set(rewards(me, name)) == steps
    assert (records[-1]["kind"], records[-1]["status"]) == ("state", "succeeded")


def test_a_start_that_is_killed_behind_the_upload_and_throttled_is_one_job(
    me, account, data, monkeypatch
):
    def attempts(number):
        """Eight on Bedrock and four on the other API take a minute, where all are throttled."""
        for module in ("aws.calls", "jobs.drivers.openai"):
            monkeypatch.setattr(f"reward_functions.{module}.ATTEMPTS", number)

    account.hold()
    before = account.belongings()
    words = {driver: (*DRIVERS[driver], *GSM8K, data, "--name", "one") for driver in DRIVERS}
    for operation in CREATES.values():
        account.throttle(operation, MANY)
    starts = {driver: me.process("start", *words[driver]) for driver in DRIVERS}
    for driver, start in starts.items():
        with start:
            while account.state["throttled"][CREATES[driver]] == MANY:
                assert start.poll() is None
                sleep(0.02)
            start.kill()
        assert start.returncode == -signal.SIGKILL
    between = account.belongings()
    assert between["jobs"] == before["jobs"]
    assert between["files"] == before["files"] + 1
    assert len(between["rft-data/"]) == len(before["rft-data/"]) + 1

    for at, driver in enumerate(DRIVERS, 1):
        if driver == "bedrock":
            attempts(1)
            refused = sentence(me, "start", *words[driver])
            assert ": throttled (" in refused
            assert "goes on from there, and starts no second job" in refused
        attempts(2)
        account.throttle(CREATES[driver], 1)
        name = started(me, *words[driver])
        assert me.job("start", *words[driver]).stdout.startswith(f"{name} was started before, ")
        after = account.belongings()
        assert after["jobs"] == before["jobs"] + at
        assert (after["files"], after["rft-data/"]) == (between["files"], between["rft-data/"])

        attempts(1)
        for operation, typed in ((STOPS[driver], ("stop", name, "--yes")),
                                 (READS[driver], ("watch", name))):  # fmt: skip
            account.throttle(operation, MANY)
            assert f" {name}: throttled (" in sentence(me, *typed)
            account.throttle(operation, 0)
        me.job("stop", name, "--yes")
        watched = me.job("watch", name, *FAST, status=1)
        assert watched.stdout.splitlines()[-1] == f"{name} was stopped"


def test_a_grader_that_fails_half_way_and_one_that_is_deleted(me, account, data):
    """Both jobs fail at once, as each asks three times before it does."""
    table = me.folder / "prices"
    table.touch()
    failing = account.publish("gsm8k-flexible", TABLE.format(table=str(table)))
    flexible = ("-d", "gsm8k-flexible", "--data", data)
    account.hold()
    half = started(me, *DRIVERS["openai"], *flexible, "--name", "half")
    while not rewards(me, half):
        sleep(0.02)
    deleted = account.publish("gsm8k")
    gone = started(me, *DRIVERS["bedrock"], *GSM8K, data, "--name", "gone")
    table.unlink()
    account.roll_back("gsm8k")  # an alias holds the version that it points to
    account.delete(deleted)
    kept = f"Lambda has no {deleted} any more: the job fails when it asks again"
    assert kept in " ".join(me.job("show", gone).stdout.split())
    account.release()

    ended = me.job("watch", half, *FAST, status=1).stdout.splitlines()
    assert any(" step 1 · " in line for line in ended)
    assert ended[-2].startswith(f"{half} failed: ")
    assert f"The reward function {failing} failed: " in ended[-2]
    assert GONE in ended[-2]
    assert ended[-1] == f"see why: reward job diagnose {half} --stage local"
    why = json.loads(me.job("diagnose", half, "--json").stdout)
    assert why["simulation"]
    assert any(GONE in sign["text"] for sign in why["signs"] if sign["place"] == "failure")
    assert any(GONE in sign["text"] for sign in why["signs"] if sign["place"] == "log")
    assert "(simulation)" in me.job("diagnose", half).stdout

    ended = me.job("watch", gone, *FAST, status=1).stdout.splitlines()
    assert f"{gone} failed: Invoking the reward function {deleted}: " in ended[-2]
    why = json.loads(me.job("diagnose", gone, "--json").stdout)
    assert why["causes"][0]["name"] == "version deleted"
    assert "deleted under it" in why["causes"][0]["cause"]
    after = " ".join(me.job("show", gone).stdout.split())
    assert f"Lambda has no {deleted} any more: it cannot be asked again" in after
    same = (*DRIVERS["bedrock"], *GSM8K, data, "-d", deleted, "--name", "gone")
    assert me.job("start", *same).stdout.startswith(f"{gone} was started before, and has failed")
    refused = sentence(me, "start", *same, "--again")
    assert f"Lambda has no {deleted} any more: deploy the reward again" in refused
