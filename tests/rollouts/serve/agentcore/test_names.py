"""An app names its handler after the user's function: logs, spans and users' tests look for it."""

from functools import partial
from inspect import signature

import pytest

from tests.rollouts.serve.agentcore.hosts import rl_app, runtime_app


def my_agent(payload):
    """Answers."""
    return {"rewards": 1.0, **payload}


async def my_coroutine(payload, context):
    """Answers."""
    return {"rewards": 1.0, "session": context.session_id, **payload}


class Callable:
    """Answers."""

    def __call__(self, payload):
        return payload


NAMED = [
    (my_agent, "my_agent"),
    (my_coroutine, "my_coroutine"),
    (partial(my_agent), "my_agent"),
    (Callable(), "Callable"),
]


@pytest.mark.parametrize(("function", "name"), NAMED, ids=[name for _, name in NAMED])
@pytest.mark.parametrize("app", [rl_app, runtime_app], ids=["rollouts", "runtime"])
def test_a_handler_has_the_name_of_its_function(host, app, function, name):
    made = app(host)
    register = made.rollout_entrypoint if app is rl_app else made.entrypoint
    assert register(function) is function
    handler = made.handlers["main"]
    assert (handler.__name__, handler.__doc__) == (name, function.__doc__)
    # AgentCore's SDK reads the signature to decide whether to pass a context.
    assert len(signature(handler).parameters) == 2
