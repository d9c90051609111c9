"""Every framework as one small agent with a calculator, over one shared model or client.

A row of `FRAMEWORKS` builds the agent: a function, or a coroutine function, of a prompt. It is
built once and called by every rollout. To add a framework, add a builder and its row.
"""

import json
from functools import partial
from typing import NamedTuple

PARAMETERS = {
    "type": "object",
    "properties": {"expression": {"type": "string"}},
    "required": ["expression"],
}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "calculator",
            "description": "Compute an expression.",
            "parameters": PARAMETERS,
        },
    }
]


class Framework(NamedTuple):
    """A framework and its agent.

    Args:
        name: of the test.
        build: takes a policy's address and `calculator(expression) -> str`, and gives the agent.
        parameters: whether the rollout's sampling parameters go with each call.
        recorded: whether what it does is in the trajectory.
    """

    name: str
    build: object
    parameters: bool = True
    recorded: bool = True


def chat(create, prompt, calculator):
    """A conversation over whatever completes a chat: `create(messages)` gives a message's dict."""
    messages = [{"role": "user", "content": prompt}]
    while (message := create(messages)).get("tool_calls"):
        messages += answered(message, calculator)
    return message["content"]


async def chat_async(create, prompt, calculator):
    messages = [{"role": "user", "content": prompt}]
    while (message := await create(messages)).get("tool_calls"):
        messages += answered(message, calculator)
    return message["content"]


def answered(message, calculator):
    """A message that calls tools, and their results."""
    calls = message["tool_calls"]
    results = [calculator(**json.loads(call["function"]["arguments"])) for call in calls]
    return [
        message,
        *(
            {"role": "tool", "tool_call_id": call["id"], "content": result}
            for call, result in zip(calls, results, strict=True)
        ),
    ]


def request(messages):
    return {"model": "default", "messages": messages, "tools": TOOLS}


def message_of(completion):
    return completion["choices"][0]["message"]


def strands(address, calculator):
    from strands import Agent, tool
    from strands.models.openai import OpenAIModel

    from reward_functions.rollouts.strands import wrap_model

    args = {"base_url": f"{address}/v1", "api_key": "key"}
    model = wrap_model(OpenAIModel(model_id="default", client_args=args))
    return lambda: Agent(
        model=model,
        tools=[tool(name="calculator", description="Compute.")(calculator)],
        callback_handler=None,
    )


def strands_sync(address, calculator):
    agent = strands(address, calculator)
    return lambda prompt: str(agent()(prompt))


def strands_async(address, calculator):
    agent = strands(address, calculator)

    async def solve(prompt):
        return str(await agent().invoke_async(prompt))

    return solve


def openai_sync(address, calculator):
    import openai

    from reward_functions.rollouts.openai import wrap_client

    client = wrap_client(openai.OpenAI(base_url=f"{address}/v1", api_key="key"))

    def create(messages):
        return message_of(client.chat.completions.create(**request(messages)).model_dump())

    return lambda prompt: chat(create, prompt, calculator)


def openai_async(address, calculator):
    import openai

    from reward_functions.rollouts.openai import wrap_client

    client = wrap_client(openai.AsyncOpenAI(base_url=f"{address}/v1", api_key="key"))

    async def create(messages):
        completion = await client.chat.completions.create(**request(messages))
        return message_of(completion.model_dump())

    async def solve(prompt):
        return await chat_async(create, prompt, calculator)

    return solve


def openai_stream(address, calculator):
    import openai

    from reward_functions.rollouts.openai import wrap_client
    from reward_functions.rollouts.policy.answers import joined

    client = wrap_client(openai.OpenAI(base_url=f"{address}/v1", api_key="key"))

    def create(messages):
        with client.chat.completions.create(stream=True, **request(messages)) as chunks:
            return message_of(joined([chunk.model_dump() for chunk in chunks]))

    return lambda prompt: chat(create, prompt, calculator)


def openai_async_stream(address, calculator):
    import openai

    from reward_functions.rollouts.openai import wrap_client
    from reward_functions.rollouts.policy.answers import joined

    client = wrap_client(openai.AsyncOpenAI(base_url=f"{address}/v1", api_key="key"))

    async def create(messages):
        async with await client.chat.completions.create(stream=True, **request(messages)) as chunks:
            return message_of(joined([chunk.model_dump() async for chunk in chunks]))

    async def solve(prompt):
        return await chat_async(create, prompt, calculator)

    return solve


def openai_mappings(address, calculator):
    """A client that is handed the live mappings, and no adapter."""
    import openai

    from reward_functions.rollouts.request.headers import InferenceHeaders, LiveParams

    client = openai.OpenAI(
        base_url=f"{address}/v1", api_key="key", default_headers=InferenceHeaders()
    )

    def create(messages):
        completion = client.chat.completions.create(**request(messages), **LiveParams())
        return message_of(completion.model_dump())

    return lambda prompt: chat(create, prompt, calculator)


def agents_sdk(address, calculator, *, streamed=False):
    import openai
    from agents import Agent, Runner, function_tool, set_tracing_disabled

    from reward_functions.rollouts.agents import RolloutRunHooks, rollout_model

    set_tracing_disabled(True)
    client = openai.AsyncOpenAI(base_url=f"{address}/v1", api_key="key")
    agent = Agent(
        name="solver",
        model=rollout_model(client=client),
        tools=[function_tool(calculator, name_override="calculator")],
    )

    async def solve(prompt):
        return (await Runner.run(agent, prompt, hooks=RolloutRunHooks())).final_output

    async def solve_streamed(prompt):
        result = Runner.run_streamed(agent, prompt, hooks=RolloutRunHooks())
        async for _ in result.stream_events():
            pass
        return result.final_output

    return solve_streamed if streamed else solve


def langchain_model(address):
    from langchain_openai import ChatOpenAI

    from reward_functions.rollouts.langchain import wrap_chat_model

    return wrap_chat_model(
        ChatOpenAI(model="default", base_url=f"{address}/v1", api_key="key", max_retries=0)
    )


def langchain_sync(address, calculator):
    from langchain_core.messages import HumanMessage
    from langchain_core.tools import tool

    act = tool("calculator")(calculator)
    model = langchain_model(address).bind_tools([act])

    def solve(prompt):
        messages = [HumanMessage(prompt)]
        while (message := whole(list(model.stream(messages)))).tool_calls:
            messages += [message, *[act.invoke(call) for call in message.tool_calls]]
        return message.content

    return solve


def whole(chunks):
    return sum(chunks[1:], chunks[0])


def langchain(address, calculator):
    from langchain_core.messages import HumanMessage
    from langchain_core.tools import tool

    act = tool("calculator")(calculator)
    model = langchain_model(address).bind_tools([act])

    async def solve(prompt):
        messages = [HumanMessage(prompt)]
        while (message := await model.ainvoke(messages)).tool_calls:
            messages += [message, *[await act.ainvoke(call) for call in message.tool_calls]]
        return message.content

    return solve


def langchain_http_clients(address, calculator):
    """The clients of sagemaker.train.rft's adapter: headers, and no parameters."""
    from langchain_core.messages import HumanMessage
    from langchain_core.tools import tool
    from langchain_openai import ChatOpenAI

    from reward_functions.rollouts.compat.sagemaker_rft.adapters.langchain import (
        create_http_clients,
    )

    client, waiting = create_http_clients()
    act = tool("calculator")(calculator)
    model = ChatOpenAI(
        model="default",
        base_url=f"{address}/v1",
        api_key="key",
        http_client=client,
        http_async_client=waiting,
    ).bind_tools([act])

    async def solve(prompt):
        messages = [HumanMessage(prompt)]
        while (message := await model.ainvoke(messages)).tool_calls:
            messages += [message, *[await act.ainvoke(call) for call in message.tool_calls]]
        return message.content

    return solve


def langgraph(address, calculator):
    compiled = graph_of(address, calculator)

    async def solve(prompt):
        state = await compiled.ainvoke({"messages": [("user", prompt)]}, watched())
        return state["messages"][-1].content

    return solve


def langgraph_sync(address, calculator):
    compiled = graph_of(address, calculator)

    def solve(prompt):
        state = compiled.invoke({"messages": [("user", prompt)]}, watched())
        return state["messages"][-1].content

    return solve


def watched():
    from reward_functions.rollouts.langchain import RolloutCallbacks

    return {"callbacks": [RolloutCallbacks()]}


def graph_of(address, calculator):
    from langchain_core.runnables import RunnableLambda
    from langchain_core.tools import tool
    from langgraph.graph import START, MessagesState, StateGraph
    from langgraph.prebuilt import ToolNode, tools_condition

    act = tool("calculator")(calculator)
    model = langchain_model(address).bind_tools([act])

    def think(state):
        return {"messages": [model.invoke(state["messages"])]}

    async def think_async(state):
        return {"messages": [await model.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("think", RunnableLambda(think, think_async))
    graph.add_node("tools", ToolNode([act]))
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", tools_condition)
    graph.add_edge("tools", "think")
    return graph.compile()


def httpx_sync(address, calculator):
    from reward_functions.rollouts.httpx import rollout_http_client

    client = rollout_http_client(headers={"Authorization": "Bearer key"})

    def create(messages):
        url = f"{address}/v1/chat/completions"
        return message_of(client.post(url, json=request(messages)).raise_for_status().json())

    return lambda prompt: chat(create, prompt, calculator)


def httpx_async(address, calculator):
    from reward_functions.rollouts.httpx import async_rollout_http_client

    client = async_rollout_http_client(headers={"Authorization": "Bearer key"})

    async def create(messages):
        url = f"{address}/v1/chat/completions"
        answer = await client.post(url, json=request(messages))
        return message_of(answer.raise_for_status().json())

    async def solve(prompt):
        return await chat_async(create, prompt, calculator)

    return solve


def boto3_sample(address, calculator):
    import boto3

    from reward_functions.rollouts.policy.boto3_events import wrap_boto3

    client = wrap_boto3(sagemaker_client(boto3, address))

    def create(messages):
        answer = client.sample(Body=json.dumps(request(messages)))
        return message_of(json.loads(answer["Body"].read()))

    return lambda prompt: chat(create, prompt, calculator)


def boto3_stream(address, calculator):
    import boto3

    from reward_functions.rollouts.policy.answers import completion_of
    from reward_functions.rollouts.policy.boto3_events import wrap_boto3

    client = wrap_boto3(sagemaker_client(boto3, address))

    def create(messages):
        body = json.dumps(request(messages) | {"stream": True})
        answer = client.sample_with_response_stream(Body=body)
        return message_of(completion_of(b"".join(answer["Body"].iter_chunks()), streamed=True))

    return lambda prompt: chat(create, prompt, calculator)


def sagemaker_client(boto3, address):
    return boto3.client("sagemakerjobruntime", endpoint_url=address, region_name="us-west-2")


FRAMEWORKS = [
    Framework("Strands", strands_sync),
    Framework("Strands, async", strands_async),
    Framework("LangChain", langchain),
    Framework("LangChain, threads, streamed", langchain_sync),
    Framework(
        "LangChain over our httpx hooks",
        langchain_http_clients,
        parameters=False,
        recorded=False,
    ),
    Framework("LangGraph", langgraph),
    Framework("LangGraph, threads", langgraph_sync),
    Framework("OpenAI SDK", openai_sync),
    Framework("OpenAI SDK, async", openai_async),
    Framework("OpenAI SDK, streamed", openai_stream),
    Framework("OpenAI SDK, async, streamed", openai_async_stream),
    Framework("OpenAI SDK over live mappings", openai_mappings, recorded=False),
    Framework("Agents SDK", agents_sdk),
    Framework("Agents SDK, streamed", partial(agents_sdk, streamed=True)),
    Framework("httpx", httpx_sync),
    Framework("httpx, async", httpx_async),
    Framework("boto3", boto3_sample),
    Framework("boto3, streamed", boto3_stream),
]
