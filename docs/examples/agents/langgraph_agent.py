"""A graph of LangGraph: its model calls a calculator until it knows the answer."""

from agent_tools import PROMPT, calculator, question
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

TOOLS = [tool(calculator)]


def solver(model):
    """The graph over a model: from a request to its last state."""
    bound = model.bind_tools(TOOLS)

    def act(state):
        return {"messages": [bound.invoke(state["messages"])]}

    builder = StateGraph(MessagesState)
    builder.add_node("model", act)
    builder.add_node("tools", ToolNode(TOOLS))
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", tools_condition)
    builder.add_edge("tools", "model")
    graph = builder.compile()

    def solve(request):
        asked = [("system", PROMPT), ("user", question(request["prompt"]))]
        return graph.invoke({"messages": asked})

    return solve


solve = solver(ChatOpenAI(model="default"))
