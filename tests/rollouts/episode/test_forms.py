"""An agent in every form: its kind and its signature stay, and its reward is reported."""

import asyncio
import inspect
from functools import partial

import pytest

from reward_functions.rollouts.episode.episode import RolloutContext
from reward_functions.rollouts.episode.handler import rollout_handler
from reward_functions.rollouts.episode.invocation import agent_of

HALF = {"reward": 0.5}
CALLERS = object()
"""The context that a server passes."""


def plain(payload):
    return HALF


async def coroutine(payload):
    await asyncio.sleep(0)
    return HALF


def generator(payload):
    yield "thinking"
    yield HALF


def returning_generator(payload):
    yield "thinking"
    return HALF


async def async_generator(payload):
    yield "thinking"
    await asyncio.sleep(0)
    yield HALF


class Callable:
    def __call__(self, payload):
        return HALF


class AsyncCallable:
    async def __call__(self, payload):
        return HALF


class Runner:
    def run(self, payload):
        return HALF


class AsyncRunner:
    async def arun(self, payload, context):
        return HALF

    def helper(self):
        """Not the agent."""


class Method:
    @rollout_handler
    def handle(self, payload):
        return HALF

    @rollout_handler
    async def handle_async(self, payload, context):
        return HALF


def with_setting(setting, payload):
    return HALF


def giving(agent):
    """A function that gives what another is: by its flags a plain one."""

    def outer(payload):
        return agent(payload)

    return outer


def run(result):
    """The result of a call, or of what it gives, and what came before it."""
    if inspect.isawaitable(result):
        return asyncio.run(_awaited(result))
    if inspect.isasyncgen(result):
        return asyncio.run(_listed(result))[-1]
    if inspect.isgenerator(result):
        items = []
        while True:
            try:
                items.append(next(result))
            except StopIteration as end:
                return items[-1] if end.value is None else end.value
    return result


async def _awaited(awaitable):
    return await awaitable


async def _listed(items):
    return [item async for item in items]


FORMS = [
    ("a function", plain),
    ("a coroutine function", coroutine),
    ("a generator, by its last item", generator),
    ("a generator, by what it returns", returning_generator),
    ("an async generator", async_generator),
    ("a partial", partial(with_setting, "setting")),
    ("a partial of a coroutine function", partial(coroutine)),
    ("an object", Callable()),
    ("an async object", AsyncCallable()),
    ("an object with run", Runner()),
    ("an object with arun", AsyncRunner()),
    ("a bound method", Runner().run),
    ("a class with __call__", Callable),
    ("a class with run", Runner),
    ("a class with arun", AsyncRunner),
    ("a function that gives a coroutine", giving(coroutine)),
    ("a function that gives a generator", giving(generator)),
    ("a function that gives an async generator", giving(async_generator)),
]


@pytest.mark.parametrize("agent", [row[1] for row in FORMS], ids=[row[0] for row in FORMS])
def test_an_agent_of_any_form_is_reported_once(posts, process, new, agent):
    payload = new()
    handler = rollout_handler(agent, reporter=process)
    assert run(handler(payload)) == HALF
    assert [said for _, said in posts.of(payload)] == [{"Status": "ready"}, {"Rewards": [0.5]}]
    assert handler.__wrapped__ is agent
    assert handler.rollout.counts == {"rewarded": 1}


@pytest.mark.parametrize(
    "agent", [plain, coroutine, generator, async_generator], ids=lambda agent: agent.__name__
)
def test_the_kind_of_an_agent_stays(agent):
    handler = rollout_handler(agent)
    for is_kind in (
        inspect.iscoroutinefunction,
        inspect.isgeneratorfunction,
        inspect.isasyncgenfunction,
    ):
        assert is_kind(handler) == is_kind(agent)
    assert handler.__name__ == agent.__name__
    assert handler.__doc__ == agent.__doc__
    assert inspect.isfunction(handler)  # AgentCore's app sets an attribute of it


def agentcore_passes_a_context(handler):
    """As bedrock-agentcore decides it."""
    parameters = list(inspect.signature(handler).parameters)
    return len(parameters) >= 2 and parameters[1] == "context"


def takes_nothing_more(payload):
    return {"reward": 1.0, "got": None}


def takes_context(payload, context):
    return {"reward": 1.0, "got": context}


def takes_any_name(payload, ctx):
    return {"reward": 1.0, "got": ctx}


def takes_a_keyword(payload, *, rollout):
    return {"reward": 1.0, "got": rollout}


def takes_an_optional_one(event, ctx=None):
    return {"reward": 1.0, "got": ctx}


def takes_a_setting(payload, temperature=0.7):
    return {"reward": 1.0, "got": temperature}


def takes_an_optional_setting(payload, model=None):
    return {"reward": 1.0, "got": model}


class Contextual:
    def run(self, payload, context):
        return {"reward": 1.0, "got": context}


OURS = RolloutContext
SECOND = [
    # the agent, AgentCore passes its context, what it gets then, what it gets without
    (takes_nothing_more, False, None, None),
    (takes_context, True, CALLERS, OURS),
    (takes_any_name, False, OURS, OURS),
    (takes_a_keyword, False, OURS, OURS),
    (takes_an_optional_one, False, OURS, OURS),
    (takes_a_setting, False, 0.7, 0.7),
    (takes_an_optional_setting, False, None, None),
    (Contextual, True, CALLERS, OURS),
]


def is_or_is_a(got, expected):
    return type(got) is OURS if expected is OURS else got is expected or got == expected


@pytest.mark.parametrize(
    ("agent", "passes", "given", "without"), SECOND, ids=[row[0].__name__ for row in SECOND]
)
def test_the_second_parameter_of_an_agent(posts, process, new, agent, passes, given, without):
    handler = rollout_handler(agent, reporter=process)
    assert agentcore_passes_a_context(handler) == passes
    assert is_or_is_a(handler(new(), CALLERS)["got"], given)
    assert is_or_is_a(handler(new(), context=CALLERS)["got"], given)
    assert is_or_is_a(handler(new())["got"], without)
    assert is_or_is_a(handler(payload=new())["got"], without)
    assert is_or_is_a(handler(new(), None)["got"], without)


def test_a_context_that_a_partial_binds_stays(posts, process, new):
    for bound in ("mine", {}, 0):
        handler = rollout_handler(partial(takes_an_optional_one, ctx=bound), reporter=process)
        assert handler(new(), CALLERS)["got"] is bound
    handler = rollout_handler(partial(takes_an_optional_one, ctx=None), reporter=process)
    assert type(handler(new())["got"]) is OURS


def test_the_first_parameter_may_have_any_name(posts, process, new):
    handler = rollout_handler(takes_an_optional_one, reporter=process)
    assert type(handler(event=new())["got"]) is OURS
    assert str(inspect.signature(handler)) == "(event, ctx=None)"


@pytest.mark.parametrize(
    ("positional", "named"),
    [((), {}), (({}, None, 1), {}), (({},), {"payload": {}}), (({},), {"x": 1})],
)
def test_other_arguments_are_a_type_error(positional, named):
    with pytest.raises(TypeError, match=r"plain\(\)"):
        rollout_handler(plain)(*positional, **named)


def test_a_method_is_decorated_in_its_class(posts, process, new):
    method = Method.handle.rollout
    method._reporter = Method.handle_async.rollout._reporter = process
    first, second = new(), new()
    assert Method().handle(first) == HALF
    assert asyncio.run(Method().handle_async(second, CALLERS)) == HALF
    assert len(posts.of(first)) == len(posts.of(second)) == 2
    assert agentcore_passes_a_context(Method().handle_async)


def test_a_class_has_an_instance_for_each_rollout(posts, process, new):
    class Remembering:
        def __init__(self):
            self.seen = []

        def __call__(self, payload):
            self.seen.append(payload)
            return {"reward": len(self.seen)}

    each = rollout_handler(Remembering, reporter=process)
    assert [each(new())["reward"] for _ in range(3)] == [1, 1, 1]
    shared = rollout_handler(Remembering(), reporter=process)
    assert [shared(new())["reward"] for _ in range(3)] == [1, 2, 3]


@pytest.mark.parametrize(
    "given",
    [lambda: None, lambda payload, context, more: None, object(), 3, Method, type("Empty", (), {})],
)
def test_what_cannot_be_called_with_a_payload_is_no_agent(given):
    with pytest.raises(TypeError, match="no agent"):
        agent_of(given)


def test_an_agent_that_collects_its_arguments(posts, process, new):
    handler = rollout_handler(lambda *arguments: {"reward": len(arguments)}, reporter=process)
    assert handler(new()) == {"reward": 1}


def test_the_payload_is_passed_as_it_came(posts, process, new):
    import json

    for payload in (
        new(),
        json.dumps(new()),
        json.dumps(new()).encode(),
        {"body": json.dumps(new())},
    ):
        got = []
        rollout_handler(lambda given, got=got: got.append(given), reporter=process)(payload)
        assert got[0] is payload
    assert len(posts.everything()) == 4
