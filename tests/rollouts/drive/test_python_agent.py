"""An agent in this process: what it returns or raises, and whether more may come of it."""

from asyncio import CancelledError

import pytest

from reward_functions.local.runtime_double import FaultPlan, RuntimeSettings, serving
from reward_functions.rollouts.drive.agents import PythonAgent, answered
from reward_functions.rollouts.drive.driving import job_arn
from reward_functions.rollouts.episode.handler import rollout_handler
from reward_functions.rollouts.request.contract import RolloutMetadata, RolloutRequest
from reward_functions.rollouts.serve.answering import answering_at_once


def number(payload):
    return 1.0


def text(payload):
    return "no reward"


async def later(payload):
    return 1.0


def pieces(payload):
    yield "a"
    yield 1.0


async def later_pieces(payload):
    yield 1.0


def raises(payload):
    raise KeyError("secret")


def leaves(payload):
    raise SystemExit(3)


def interrupts(payload):
    raise KeyboardInterrupt


async def cancelled(payload):
    raise CancelledError


@rollout_handler
def handled(payload):
    return 1.0


@answering_at_once
@rollout_handler
def behind(payload):
    return 1.0


class Called:
    def __call__(self, payload):
        return 1.0


WAYS = [
    # agent, the kind of its answer, the state in the end
    (number, "over", "REWARD_RECEIVED"),
    (text, "over", "READY"),
    (later, "over", "REWARD_RECEIVED"),
    (pieces, "over", "REWARD_RECEIVED"),
    (later_pieces, "over", "REWARD_RECEIVED"),
    (handled, "over", "REWARD_RECEIVED"),
    (Called(), "over", "REWARD_RECEIVED"),
    (raises, "error", "FAILED"),
    (leaves, "error", "FAILED"),
    (interrupts, "error", "FAILED"),
    (cancelled, "error", "FAILED"),
]


def asked(double, agent):
    """A request for a rollout that the double knows."""
    metadata = RolloutMetadata(job_arn=job_arn(), trajectory_id="r", endpoint=double.endpoint)
    double.register(metadata.job_arn, metadata.trajectory_id)
    return RolloutRequest(prompt="x", metadata=metadata)


@pytest.fixture(scope="module")
def double():
    with serving() as running:
        yield running


NAMES = [getattr(way[0], "__name__", "an object") for way in WAYS]


@pytest.mark.parametrize(("function", "kind", "state"), WAYS, ids=NAMES)
def test_what_becomes_of_a_call(double, function, kind, state):
    with PythonAgent(function, "agent", endpoint=double.endpoint, window=60.0) as agent:
        request = asked(double, agent)
        answer = answered(agent, request, 60.0)
        assert answer.kind == kind
        assert not agent.reporting(request)
        job, rollout = request.metadata.job_arn, request.metadata.trajectory_id
        assert double.trajectory(job, rollout).state == state


def test_a_failure_has_the_agents_line_and_not_its_text(double):
    with PythonAgent(raises, "agent", endpoint=double.endpoint, window=60.0) as agent:
        answer = answered(agent, asked(double, agent), 60.0)
    line = raises.__code__.co_firstlineno + 1
    assert answer.error == f"KeyError (test_python_agent.py, line {line})"


def test_one_that_answers_at_once_goes_on_behind_it(double):
    with PythonAgent(behind, "agent", endpoint=double.endpoint, window=60.0) as agent:
        request = asked(double, agent)
        assert answered(agent, request, 60.0).kind == "working"
        job, rollout = request.metadata.job_arn, request.metadata.trajectory_id
        assert double.wait(job, rollout, timeout=60).rewards == (1.0,)


def test_a_report_that_is_not_delivered_is_waited_for():
    broken = RuntimeSettings(faults=FaultPlan.parse("complete.error=1,most=1000"))
    with (
        serving(broken) as double,
        PythonAgent(number, "agent", endpoint=double.endpoint, window=1.0) as agent,
    ):
        request = asked(double, agent)
        answered(agent, request, 60.0)
        assert agent.reporting(request)
