"""OpenEnv's call expression, recorded, with a double of its base class."""

import sys
from types import ModuleType
from types import SimpleNamespace as Fields

import pytest

from reward_functions.adapters.openenv import rubric
from reward_functions.core.errors import BadReference, BadSample
from tests.adapters.recorded import RESPONSE, openenv


@pytest.fixture(autouse=True)
def host(monkeypatch):
    class Rubric:
        """openenv-core 0.3.0, core/rubrics/base.py: calls `forward` and keeps its score."""

        last_score = None

        def __call__(self, action, observation):
            self.last_score = self.forward(action, observation)
            return self.last_score

    for name in ("openenv", "openenv.core", "openenv.core.rubrics"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    sys.modules["openenv.core.rubrics"].Rubric = Rubric


@pytest.mark.parametrize(
    "where",
    [
        {},
        {"response": "message", "reference": "metadata.answer"},
        {"response": lambda action, _: action.message, "reference": lambda *_: "42"},
        {"prompt": lambda *_: [{"role": "user", "content": "?"}]},
    ],
    ids=["found", "named", "functions", "with a prompt"],
)
def test_the_recorded_call_is_scored(where):
    made = rubric("math", **where)
    assert made(*openenv()) == made.last_score == 1.0
    assert made.last_result.reason == "the same number"
    assert type(made).__name__ == "math"
    assert made(*openenv(r"\boxed{41}")) == 0.0


def test_the_observation_is_looked_at_before_its_metadata():
    assert rubric("math")(*openenv(r"\boxed{7}", answer="7")) == 1.0


@pytest.mark.parametrize(
    ("where", "call", "error", "message"),
    [
        ({"response": "text"}, openenv(), BadSample, "no field 'text'; the fields are message"),
        ({"reference": "gold"}, openenv(), BadSample, "no field 'gold'; the fields are"),
        ({}, (Fields(move=3), openenv()[1]), BadSample, "fields are move: name the response"),
        ({}, (openenv()[0], Fields(metadata={"seed": 3})), BadReference, "metadata, seed: name it"),
        ({}, openenv(7), BadSample, "not text"),
        ({"reference": "__class__"}, openenv(), BadSample, "no field '__class__'"),
    ],
)
def test_what_cannot_be_scored_raises_out_of_the_step(where, call, error, message):
    made = rubric("math", **where)
    with pytest.raises(error, match=message):
        made(*call)
    assert made.last_result is None


def test_a_response_is_a_string_of_the_action():
    assert rubric("math")(Fields(answer=RESPONSE, content="x"), openenv()[1]) == 1.0
