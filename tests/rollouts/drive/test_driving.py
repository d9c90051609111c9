"""Rollouts as a trainer runs them, over loopback HTTP and against the runtime double."""

from threading import Thread
from time import monotonic

import pytest

from reward_functions.core.errors import ConfigurationError, NoJudge
from reward_functions.core.types import Score
from reward_functions.local.runtime_double import (
    FaultPlan,
    RuntimeSettings,
    ScriptedPolicy,
    serving,
)
from reward_functions.local.runtime_double.own_runtime import OwnRuntime
from reward_functions.rollouts.drive.agents import HttpAgent, RuntimeElsewhere
from reward_functions.rollouts.drive.driving import (
    RolloutDriver,
    Task,
    attempts_for,
    drive,
    job_arn,
    rollout_id,
)
from reward_functions.rollouts.drive.records import Attempt, Setup
from reward_functions.rollouts.request.contract import read_request
from reward_functions.rollouts.request.errors import EnvironmentFailure
from tests.loopback import served
from tests.rollout_agents import Agent

SETTINGS = RuntimeSettings(policy=ScriptedPolicy("policy's turn"))


@pytest.fixture(scope="module")
def double():
    with serving(SETTINGS) as running:
        yield running


@pytest.fixture(scope="module")
def agent(double):
    with served(Agent(double.endpoint)) as running:
        yield running
        running.ended.set()


class Length:
    """A reward: as many characters as the response has."""

    def score(self, row, response):
        if row["prompt"].endswith("badly"):
            raise EnvironmentFailure("could not") from TimeoutError()
        if row["prompt"].endswith("nobody"):
            raise NoJudge("give --judge")
        return Score(float(len(response)))


class Hurrying(HttpAgent):
    """Behind whose answer a window is over: nothing that is still to come is waited for."""

    seconds = 0.0

    def send(self, request, *, timeout):
        answer = super().send(request, timeout=timeout)
        self.seconds += 0 if answer.kind == "busy" else 1e6
        return answer

    def clock(self):
        return monotonic() + self.seconds


def driver(acting, runtime, *prompts, **fields):
    tasks = {
        at: Task(at, f"row-{at}", prompt, {"prompt": prompt})
        for at, prompt in enumerate(prompts, 1)
    }
    setup = Setup(data="d", n=1, agent=acting.address, policy="script")
    known = {"agent": HttpAgent(acting.address), "tasks": tasks, "setup": setup, "window": 60.0}
    return RolloutDriver(runtime=runtime, **known | fields)


ENDINGS = [
    # prompt, with a scorer, status, rewards, scored by, error
    ("samples completes rewards", False, "rewarded", (0.25, 0.5), "agent", ""),
    ("samples completes rewards", True, "rewarded", (0.25, 0.5), "agent", ""),
    ("samples completes rewards behind", False, "rewarded", (0.25, 0.5), "agent", ""),
    ("samples completes rewards breaks", False, "rewarded", (0.25, 0.5), "agent", ""),
    ("busy samples completes rewards", False, "rewarded", (0.25, 0.5), "agent", ""),
    ("samples fails", False, "failed", (), "", "reported as failed"),
    ("samples fails breaks", True, "failed", (), "", "HTTP 500"),
    ("samples breaks", False, "failed", (), "", "HTTP 500"),
    ("samples", True, "rewarded", (13.0,), "scorer", ""),
    ("samples completes", True, "rewarded", (13.0,), "scorer", ""),
    ("samples completes behind", True, "rewarded", (13.0,), "scorer", ""),
    ("samples badly", True, "failed", (), "scorer", "TimeoutError"),
    ("samples", False, "lost", (), "", "never completed"),
    ("samples completes", False, "lost", (), "", "completed without a reward"),
    ("samples behind", True, "lost", (), "", "never completed"),
    ("nothing", False, "lost", (), "", "never sampled the policy"),
    ("nothing", True, "lost", (), "", "never sampled the policy"),
    ("hangs", False, "timeout", (), "", "never sampled the policy"),
]


@pytest.mark.parametrize(
    ("prompt", "scored", "status", "rewards", "by", "error"),
    ENDINGS,
    ids=[f"{each[0]}{', scored' if each[1] else ''}" for each in ENDINGS],
)
def test_how_a_rollout_ends(double, agent, prompt, scored, status, rewards, by, error):
    hurrying = Hurrying(agent.address)
    run = driver(
        agent,
        OwnRuntime(double),
        prompt,
        agent=hurrying,
        clock=hurrying.clock,
        window=0.3 if prompt == "hangs" else 60.0,
        scorer=Length() if scored else None,
    )
    record = run.run(Attempt(1, 0))
    assert (record.status, record.rewards, record.scored_by) == (status, rewards, by)
    assert record.error == error
    assert record.turns == ("samples" in prompt)
    assert record.response == ("policy's turn" if "samples" in prompt else None)


def test_a_runtime_elsewhere_is_asked_by_its_admin_routes(double, agent):
    run = driver(agent, RuntimeElsewhere(double.endpoint), "samples completes rewards")
    record = run.run(Attempt(1, 0))
    assert (record.status, record.rewards, record.turns) == ("rewarded", (0.25, 0.5), 1)


@pytest.mark.parametrize("prompt", ["samples", "samples completes", "samples behind completes"])
def test_a_response_that_the_runtime_has_not_kept_is_our_failure(agent, prompt):
    forgetful = RuntimeSettings(policy=ScriptedPolicy("x"), text_bytes=0)
    with serving(forgetful) as double, served(Agent(double.endpoint)) as other:
        run = driver(other, OwnRuntime(double), prompt, scorer=Length(), grace=0.0)
        record = run.run(Attempt(1, 0))
    assert (record.status, record.turns) == ("failed", 1)
    assert record.error == "the runtime has not kept its response"


def test_what_a_runtime_elsewhere_refuses_is_said_in_its_words():
    with serving(RuntimeSettings(trajectories=1)) as double:
        runtime = RuntimeElsewhere(double.endpoint)
        job = job_arn()
        runtime.register(job, "r1")
        with pytest.raises(ConfigurationError, match="refuses: the double holds 1 trajectories"):
            runtime.register(job, "r2")


def test_what_answers_and_is_no_runtime_is_refused(agent):
    with pytest.raises(ConfigurationError, match="is no runtime double"):
        RuntimeElsewhere(agent.address)
    with pytest.raises(ConfigurationError, match="`reward local runtime`"):
        RuntimeElsewhere("http://127.0.0.1:1")


def test_a_request_is_what_the_trainer_sends(double, agent):
    agent.requests.clear()
    run = driver(agent, OwnRuntime(double), "fails")
    run.run(Attempt(1, 0))
    request = read_request(agent.requests[0])
    assert (request.prompt, request.instance) == ("fails", {"prompt": "fails"})
    assert request.metadata.endpoint == double.endpoint
    assert request.metadata.job_arn == run.job
    assert request.metadata.complete


SENT = [("prompt", {"prompt"}), ("instance", {"instance"}), ("both", {"prompt", "instance"})]


@pytest.mark.parametrize(("sent", "there"), SENT)
def test_a_request_holds_what_is_asked_for(double, agent, sent, there):
    run = driver(agent, OwnRuntime(double), "x", sent=sent)
    assert run.request(Attempt(1, 0)).wire().keys() & {"prompt", "instance"} == there


def test_ids_are_the_same_in_every_run_of_a_seed():
    setups = [Setup(data="d", n=1, agent="a"), Setup(data="d", n=9, agent="b")]
    first, second = (rollout_id(setup, Attempt(1, 0)) for setup in setups)
    assert first == second
    assert len(first) >= 33  # AgentCore's shortest session id
    others = [(Setup(data="e", n=1, agent="a"), Attempt(1, 0)), (setups[0], Attempt(1, 1))]
    assert first not in [rollout_id(*each) for each in others]


def test_many_rollouts_under_faults_are_all_rewarded_once(agent):
    faults = FaultPlan.parse("error=0.1,dropped_after=0.1,duplicate=0.1,sample.dropped_after=0")
    with (
        serving(RuntimeSettings(policy=ScriptedPolicy("x"), faults=faults)) as double,
        served(Agent(double.endpoint)) as other,
    ):
        prompts = ["samples completes rewards"] * 20
        run = driver(other, OwnRuntime(double), *prompts)
        records = list(drive(run, attempts_for(list(run.tasks.values()), 2), 8))
        assert len(records) == len({record.attempt for record in records}) == 40
        assert {record.rewards for record in records} == {(0.25, 0.5)}
        taken = [each.taken("reward") for each in double.trajectories.list()]
        assert taken == [1] * 40


def test_a_reward_that_can_score_nothing_ends_the_run(double, agent):
    run = driver(agent, OwnRuntime(double), "samples nobody", scorer=Length(), grace=0.0)
    with pytest.raises(NoJudge):
        list(drive(run, [Attempt(1, 0)], 1))


def test_nobody_at_an_agents_address_ends_the_run_in_one_sentence(double, agent):
    run = driver(agent, OwnRuntime(double), "x")
    nobody = RolloutDriver(
        agent=HttpAgent("http://127.0.0.1:1", starting=0.0),
        runtime=run.runtime,
        tasks=run.tasks,
        setup=run.setup,
    )
    with pytest.raises(ConfigurationError, match=r"nobody answers .* RFT_RUNTIME_ENDPOINT=http"):
        list(drive(nobody, [Attempt(1, 0)], 1))


def test_a_reward_that_comes_behind_the_answer_is_waited_for(double, agent):
    run = driver(agent, OwnRuntime(double), "samples completes behind")
    named = {"JobArn": run.job, "TrajectoryId": rollout_id(run.setup, Attempt(1, 0))}

    def report():
        while run.runtime.wait(run.job, named["TrajectoryId"], {"READY"}, 60).state != "READY":
            pass
        agent.runtime.update_reward(Rewards=[1.0], **named)

    run.runtime.register(run.job, named["TrajectoryId"])
    Thread(target=report, daemon=True).start()
    assert run.run(Attempt(1, 0)).rewards == (1.0,)


def test_no_texts_are_kept_where_they_are_not_wanted(double, agent):
    run = driver(agent, OwnRuntime(double), "samples fails", texts=False)
    record = run.run(Attempt(1, 0))
    assert (record.response, record.content) == (None, None)
