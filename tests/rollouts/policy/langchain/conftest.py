"""A policy on the loopback interface, and graphs with a calculator."""

import pytest
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from reward_functions.rollouts.episode.episode import RolloutContext
from tests.loopback import served
from tests.rollouts.acting_policy import ActingPolicy, Record

JOB = "arn:aws:sagemaker:us-west-2:123456789012:job/AgentRFT/j"
NAMES = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "RFT_RUNTIME_ENDPOINT")


@pytest.fixture(autouse=True)
def _nothing_from_outside(monkeypatch):
    for name in (*NAMES, "AWS_REGION", "LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")


@pytest.fixture
def policy():
    service = ActingPolicy()
    with served(service):
        yield service


@pytest.fixture
def plain(policy):
    """A user's chat model, as it is before anybody wraps it."""
    return model_of(policy)


def model_of(policy, kind=ChatOpenAI, **more):
    own = {"base_url": f"{policy.address}/v1", "api_key": "key", "max_retries": 0}
    return kind(model="default", **own | more)


@tool
def calculator(expression: str) -> str:
    """Compute."""
    return "42"


@tool
def failing(expression: str) -> str:
    """Fail."""
    raise RuntimeError("no " + expression)


def graph(model, tools=(calculator,), *, handles=True, **compiled):
    """An agent of LangGraph, as its guide writes one."""
    bound = model.bind_tools([*tools])

    def act(state):
        return {"messages": [bound.invoke(state["messages"])]}

    async def act_async(state):
        return {"messages": [await bound.ainvoke(state["messages"])]}

    from langchain_core.runnables import RunnableLambda

    builder = StateGraph(MessagesState)
    builder.add_node("model", RunnableLambda(act, act_async))
    builder.add_node("tools", ToolNode([*tools], handle_tool_errors=handles))
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", tools_condition)
    builder.add_edge("tools", "model")
    return builder.compile(**compiled)


def asked(number):
    return {"messages": [("user", f"solve {number}")]}


def metadata(number=0, **more):
    return {"jobArn": JOB, "rolloutId": f"rollout-{number}"} | more


def episode_of(number=0, parameters=None, **more):
    return RolloutContext(metadata(number, **more), parameters, recording=Record())
