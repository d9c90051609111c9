"""What an agent returns, as rewards or as the response that is scored."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace
from typing import NamedTuple

import pytest

from reward_functions.core.errors import BadReference, JudgeUnavailable
from reward_functions.core.types import Score, Scored, Unscored
from reward_functions.rollouts.episode.episode import RolloutContext
from reward_functions.rollouts.episode.handler import rollout_handler
from reward_functions.rollouts.episode.results import has_reward, response_of, reward_of
from reward_functions.rollouts.request.errors import InvalidReward


@dataclass
class Graded:
    reward: object


class Scalar:
    """As numpy's, torch's and jax's scalars are: they unwrap themselves."""

    ndim = 0

    def __init__(self, value):
        self.value = value

    def item(self):
        return self.value


class Array(list):
    ndim = 1

    def item(self):
        raise ValueError("only one element can be converted")


class Pair(NamedTuple):
    answer: str
    rewards: tuple


REWARDS = [
    (0.5, (0.5,)),
    (1, (1.0,)),
    (Scalar(0.25), (0.25,)),
    (Array([0.0, 1.0]), (0.0, 1.0)),
    (Score(0.75), (0.75,)),
    (Scored("s", Score(0.5)), (0.5,)),
    ([0.0, 0.5, 1.0], (0.0, 0.5, 1.0)),
    ((0.0, Score(1.0)), (0.0, 1.0)),
    ({"reward": 0.5}, (0.5,)),
    ({"rewards": [0.5, 1]}, (0.5, 1.0)),
    ({"rewards": 0.5, "reward": None}, (0.5,)),
    ({"rewards": iter([0.5, 1]), "reward": iter([0.5, 1])}, (0.5, 1.0)),
    ({"reward": Score(0.5)}, (0.5,)),
    ({"reward": [Score(0.5), 1]}, (0.5, 1.0)),
    ({"reward": 0.5, "status": "ready"}, (0.5,)),
    ({"rewards": map(float, "01")}, (0.0, 1.0)),
    (Graded(0.5), (0.5,)),
    (Graded(Scored("s", Score(0.5))), (0.5,)),
    (SimpleNamespace(rewards=[1.0]), (1.0,)),
    (Pair("text", (0.0, 1.0)), (0.0, 1.0)),
    # no rewards
    (None, None),
    ({}, None),
    ("0.5", None),
    (b"1", None),
    (True, None),
    ([], None),
    ([{"role": "user"}], None),
    ({"reward": None}, None),
    ({"status": 200}, None),
    (SimpleNamespace(status=200), None),
    (SimpleNamespace(reward=lambda: 1.0), None),
    (Score, None),
]


@pytest.mark.parametrize(("result", "rewards"), REWARDS)
def test_the_rewards_of_a_result(result, rewards):
    found = reward_of(result, RolloutContext())
    assert (found.status, found.rewards) == ("ready", rewards)


NOT_REWARDS = [
    {"reward": "0.5"},
    {"reward": True},
    {"reward": {"value": 1}},
    {"reward": []},
    {"reward": [1.0, "x"]},
    [0.5, None],
    float("nan"),
    Score,  # under its name: a type is no number
    Decimal("0.5"),
    Fraction(1, 2),
    1j,
    10**308 * 10,
    Scalar(True),
    {"reward": 0.5, "rewards": [0.25]},
]


@pytest.mark.parametrize("result", NOT_REWARDS)
def test_what_is_meant_as_a_reward_and_is_none(result):
    given = {"reward": result} if result is Score else result
    with pytest.raises(InvalidReward):
        reward_of(given, RolloutContext())


@pytest.mark.parametrize(
    ("result", "event"),
    [
        ({"status": "error", "reward": 1.0}, "returned_error"),
        (SimpleNamespace(status="error"), "returned_error"),
        ({"status": "skipped", "reward": 1.0}, "skipped"),
        (Unscored("s", JudgeUnavailable("throttled")), "returned_error"),
        ({"reward": Unscored("s", JudgeUnavailable("throttled"))}, "returned_error"),
        (
            {"reward": 1.0, "rewards": Unscored("s", JudgeUnavailable("throttled"))},
            "returned_error",
        ),
        ([1.0, Unscored("s", BadReference("none"))], "returned_error"),
    ],
)
def test_a_result_without_a_score(result, event):
    found = reward_of(result, RolloutContext())
    assert (found.event, found.rewards) == (event, None)
    assert (found.error is None) == (event == "skipped")


def message(*blocks, role="assistant"):
    return {"role": role, "content": list(blocks)}


TEXT, TOOL = {"text": "4"}, {"toolUse": {"name": "calculator"}}
THOUGHT = {"reasoningContent": {"reasoningText": {"text": "hmm"}}}
RESPONSES = [
    ("4", "4"),
    ("", ""),
    ({"response": "4"}, "4"),
    ({"response": {"content": [TEXT]}}, "4"),
    (SimpleNamespace(message=message(THOUGHT, TEXT, {"text": "or four"})), "4\nor four"),  # Strands
    (SimpleNamespace(message=message(TOOL)), ""),  # the policy called a tool, and that was all
    (SimpleNamespace(final_output="4"), "4"),  # the OpenAI Agents SDK
    ({"messages": [message(TEXT, role="user"), message({"text": "5"})]}, "5"),  # LangGraph
    (
        {
            "messages": [
                SimpleNamespace(type="human", content="2 + 2?"),
                SimpleNamespace(type="ai", content="4"),
            ]
        },
        "4",
    ),
    ([message(TEXT, role="user"), {"role": "assistant", "content": "5"}], "5"),
    (
        SimpleNamespace(
            choices=[SimpleNamespace(message=SimpleNamespace(role="assistant", content="4"))]
        ),
        "4",
    ),
    (
        SimpleNamespace(
            choices=[SimpleNamespace(message=SimpleNamespace(role="assistant", content=None))]
        ),
        "",
    ),
]


@pytest.mark.parametrize(("result", "response"), RESPONSES)
def test_the_response_of_a_result(result, response):
    assert response_of(result) == response


def test_the_response_of_strands_own_result():
    from strands.agent import AgentResult
    from strands.telemetry.metrics import EventLoopMetrics

    result = AgentResult("end_turn", message(THOUGHT, TEXT), EventLoopMetrics(), state={})
    assert response_of(result) == "4"
    assert not has_reward(result)


def nested(levels):
    result = "4"
    for _ in range(levels):
        result = {"message": result}
    return result


@pytest.mark.parametrize("result", [None, 4, {}, [], {"answer": "4"}, object(), nested(50)])
def test_a_result_without_a_response(result):
    with pytest.raises(InvalidReward, match="no response to score"):
        response_of(result)


def right(sample):
    """Whether the response is the reference."""
    return Score(float(sample.response == sample.reference))


ROW = {"instance": {"prompt": "2 + 2?", "answer": "4"}}


@pytest.mark.parametrize(
    ("result", "reward"),
    [
        ("4", 1.0),
        ({"response": "4"}, 1.0),
        ("5", 0.0),
        (SimpleNamespace(message=message(TEXT)), 1.0),
    ],
)
def test_a_response_is_scored(posts, process, new, result, reward):
    payload = new(**ROW)
    handler = rollout_handler(lambda payload: result, reward=right, reporter=process)
    assert handler(payload) is result
    assert [said for _, said in posts.of(payload)] == [{"Status": "ready"}, {"Rewards": [reward]}]


def test_a_score_is_the_last_turns_where_turns_have_rewards(posts, process, new):
    @rollout_handler(reward=right, reporter=process)
    def agent(payload, ctx):
        for _ in range(3):
            ctx.policy_call()
        ctx.turn_reward(0, 0.25)
        return "4"

    payload = new(**ROW)
    agent(payload)
    assert posts.of(payload)[1][1] == {"Rewards": [0.25, 0.0, 1.0]}


@pytest.mark.parametrize(
    "result",
    [0.5, {"response": "4", "reward": 0.5}, None, {"answer": "4"}],
    ids=["a number", "both", "nothing", "no response"],
)
def test_what_cannot_be_scored_has_failed_and_says_why(posts, process, new, caplog, result):
    payload = new(**ROW)
    handler = rollout_handler(lambda payload: result, reward=right, reporter=process)
    assert handler(payload) is result
    assert [said for _, said in posts.of(payload)] == [{"Status": "failed"}, {"Rewards": [0.0]}]
    assert "reward=, and its agent returned one" in caplog.text or "no response" in caplog.text


def test_a_scorer_that_cannot_score_has_failed(posts, process, new, caplog):
    payload = new(prompt="2 + 2?")
    handler = rollout_handler(lambda payload: "4", reward="exact_match", reporter=process)
    assert handler(payload) == "4"
    assert [said for _, said in posts.of(payload)] == [{"Status": "failed"}, {"Rewards": [0.0]}]
    assert "no reference" in caplog.text


def raising(attribute, error=None):
    """An object that raises when one of its attributes is read."""

    class Raising:
        def __getattribute__(self, name):
            if name == attribute:
                raise error or ValueError("secret")
            return object.__getattribute__(self, name)

    return Raising()


class RaisingNumber(float):
    def __float__(self):
        raise ValueError("secret")


class RaisingList(list):
    def __iter__(self):
        raise ValueError("secret")


class RaisingMapping(dict):
    def get(self, *_):
        raise ValueError("secret")


RAISING = [
    lambda: raising("reward"),
    lambda: raising("status"),
    lambda: raising("rewards", error=RecursionError()),
    lambda: RaisingNumber(0.5),
    lambda: RaisingList([0.5]),
    lambda: RaisingMapping(reward=0.5),
    lambda: {"reward": RaisingList([0.5])},
    lambda: {"reward": raising("item")},
]


@pytest.mark.parametrize("made", RAISING)
@pytest.mark.parametrize("reward", [None, right], ids=["returned", "scored"])
def test_a_result_that_raises_when_it_is_read_is_given_back(
    posts, process, new, caplog, made, reward
):
    payload, result = new(**ROW), made()
    handler = rollout_handler(lambda payload: result, reward=reward, reporter=process)
    assert handler(payload) is result
    assert [said for _, said in posts.of(payload)] == [{"Status": "failed"}, {"Rewards": [0.0]}]
    assert "is not scored" in caplog.text
    assert "secret" not in caplog.text


def test_a_result_that_is_of_no_class_has_failed_at_once(posts, process, new):
    payload = new()
    with pytest.raises(ValueError, match="secret"):
        rollout_handler(lambda payload: raising("__class__"), reporter=process)(payload)
    assert [said for _, said in posts.of(payload)] == [{"Status": "failed"}, {"Rewards": [0.0]}]


def looped():
    result = {}
    result["message"] = result
    return result


@pytest.mark.parametrize("result", [looped(), nested(10_000), [looped()] * 1000])
def test_a_result_without_an_end_holds_no_reward(posts, process, new, result):
    payload = new()
    assert rollout_handler(lambda payload: result, reporter=process)(payload) is result
    assert [said for _, said in posts.of(payload)] == [{"Status": "ready"}]
