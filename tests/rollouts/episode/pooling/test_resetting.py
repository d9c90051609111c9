"""How agents of frameworks become as new."""

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from strands import Agent
from strands.models.openai import OpenAIModel

from reward_functions.rollouts.episode.pooling import AgentPool
from tests.loopback import served
from tests.policy_service import Policy


@pytest.fixture
def model():
    service = Policy()
    with served(service):
        args = {"base_url": f"{service.address}/v1", "api_key": "key"}
        yield OpenAIModel(model_id="default", client_args=args)


def test_an_agent_of_strands_forgets_its_task(model):
    first = [{"role": "user", "content": [{"text": "I am Ada."}]}]
    made = []

    def factory():
        made.append(Agent(model=model, messages=[*first], state={"n": 1}, callback_handler=None))
        return made[-1]

    pool = AgentPool(factory, size=1)
    for _ in range(2):
        with pool.agent() as agent:
            assert [each["content"] for each in agent.messages] == [first[0]["content"]]
            assert agent.state.get() == {"n": 1}
            assert agent.event_loop_metrics.cycle_count == 0
            agent("hello")
            agent.state.set("n", 2)
            assert len(agent.messages) == 3
    assert len(made) == 1


def answering(state):
    return {"messages": [AIMessage(f"{len(state['messages'])} messages")]}


@pytest.mark.parametrize("keeps", [True, False], ids=["with a checkpointer", "without"])
def test_a_graph_has_a_thread_of_its_own_for_each_task(keeps):
    saver = InMemorySaver() if keeps else None
    builder = StateGraph(MessagesState)
    builder.add_node("answer", answering)
    builder.add_edge(START, "answer")
    pool = AgentPool(lambda: builder.compile(checkpointer=saver), size=1)
    for _ in range(2):
        with pool.agent() as graph:
            said = [graph.invoke({"messages": [("user", "hi")]}) for _ in range(2)]
            contents = [each["messages"][-1].content for each in said]
            assert contents == ["1 messages", "3 messages" if keeps else "1 messages"]
    assert saver is None or not saver.storage, "checkpoints are deleted"
