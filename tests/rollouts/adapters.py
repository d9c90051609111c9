"""Every adapter as one function, so that what holds for one of them is tried on all.

A row of `ADAPTERS` asks a policy once, with a tool on offer, and returns what its caller sees: the
text, and the names and arguments of the tool calls. Clients are made for the call and closed behind
it. `wrapped=False` is the same call by the user's own client.
"""

import asyncio
import json

import boto3
import httpx
import openai
from agents import ModelSettings, ModelTracing, OpenAIChatCompletionsModel, function_tool
from botocore.config import Config
from langchain_openai import ChatOpenAI
from strands.models.openai import OpenAIModel

from reward_functions.rollouts.agents import wrap_model as wrap_agents_model
from reward_functions.rollouts.httpx import wrap_http_client
from reward_functions.rollouts.langchain import wrap_chat_model
from reward_functions.rollouts.openai import wrap_client
from reward_functions.rollouts.policy.answers import completion_of
from reward_functions.rollouts.policy.boto3_events import wrap_boto3
from reward_functions.rollouts.policy.strands import Answer
from reward_functions.rollouts.strands import wrap_model
from tests.rollouts.crossing import JOB

FUNCTION = {
    "name": "calculator",
    "description": "Compute.",
    "strict": True,
    "parameters": {"type": "object", "properties": {"expression": {"type": "string"}}},
}
TOOLS = [{"type": "function", "function": FUNCTION}]
STRANDS_TOOLS = [
    {"name": "calculator", "description": "Compute.", "inputSchema": {"json": {"type": "object"}}}
]


def request(prompt, **more):
    messages = [{"role": "user", "content": prompt}]
    return {"model": "default", "messages": messages, "tools": TOOLS} | more


def seen(message):
    functions = [call["function"] for call in message.get("tool_calls") or ()]
    return message.get("content"), [(each["name"], each["arguments"]) for each in functions]


def openai_client(kind, address):
    return kind(base_url=f"{address}/v1", api_key="key")


def openai_sync(address, prompt, *, wrapped=True, **options):
    with openai_client(openai.OpenAI, address) as own:
        client = wrap_client(own, **options) if wrapped else own
        made = client.chat.completions.create(**request(prompt))
        return seen(made.choices[0].message.model_dump())


def openai_stream(address, prompt, *, wrapped=True, **options):
    with openai_client(openai.OpenAI, address) as own:
        client = wrap_client(own, **options) if wrapped else own
        with client.chat.completions.stream(**request(prompt)) as stream:
            return seen(stream.get_final_completion().choices[0].message.model_dump())


async def openai_async(address, prompt, *, wrapped=True, **options):
    async with openai_client(openai.AsyncOpenAI, address) as own:
        client = wrap_client(own, **options) if wrapped else own
        made = await client.chat.completions.create(**request(prompt))
        return seen(made.choices[0].message.model_dump())


async def openai_async_stream(address, prompt, *, wrapped=True, **options):
    async with openai_client(openai.AsyncOpenAI, address) as own:
        client = wrap_client(own, **options) if wrapped else own
        async with client.chat.completions.stream(**request(prompt)) as stream:
            made = await stream.get_final_completion()
            return seen(made.choices[0].message.model_dump())


def httpx_sync(address, prompt, *, wrapped=True, **options):
    with httpx.Client(headers={"Authorization": "Bearer key"}) as own:
        client = wrap_http_client(own, **options) if wrapped else own
        made = client.post(f"{address}/v1/chat/completions", json=request(prompt))
        return seen(made.raise_for_status().json()["choices"][0]["message"])


async def httpx_async(address, prompt, *, wrapped=True, **options):
    async with httpx.AsyncClient(headers={"Authorization": "Bearer key"}) as own:
        client = wrap_http_client(own, **options) if wrapped else own
        made = await client.post(f"{address}/v1/chat/completions", json=request(prompt))
        return seen(made.raise_for_status().json()["choices"][0]["message"])


def chat_model(address, wrapped, options, **kwargs):
    own = ChatOpenAI(model="default", base_url=f"{address}/v1", api_key="key", **kwargs)
    return (wrap_chat_model(own, **options) if wrapped else own).bind_tools(TOOLS)


def of_langchain(message):
    """LangChain parses arguments, or keeps those that are no JSON as they are."""
    calls = [(each["name"], json.dumps(each["args"])) for each in message.tool_calls]
    invalid = [(each["name"], each["args"]) for each in message.invalid_tool_calls]
    return message.content or None, calls + invalid


def langchain_sync(address, prompt, *, wrapped=True, **options):
    return of_langchain(chat_model(address, wrapped, options).invoke(prompt))


def langchain_stream(address, prompt, *, wrapped=True, **options):
    chunks = list(chat_model(address, wrapped, options).stream(prompt))
    return of_langchain(sum(chunks[1:], chunks[0]))


async def langchain_async(address, prompt, *, wrapped=True, **options):
    async with httpx.AsyncClient() as own:
        model = chat_model(address, wrapped, options, http_async_client=own)
        return of_langchain(await model.ainvoke(prompt))


async def langchain_async_stream(address, prompt, *, wrapped=True, **options):
    async with httpx.AsyncClient() as own:
        model = chat_model(address, wrapped, options, http_async_client=own)
        chunks = [chunk async for chunk in model.astream(prompt)]
        return of_langchain(sum(chunks[1:], chunks[0]))


async def strands(address, prompt, *, wrapped=True, **options):
    args = {"base_url": f"{address}/v1", "api_key": "key"}
    own = OpenAIModel(model_id="default", client_args=args)
    model, answer = wrap_model(own, **options) if wrapped else own, Answer()
    messages = [{"role": "user", "content": [{"text": prompt}]}]
    async for event in model.stream(messages, STRANDS_TOOLS):
        answer.add(event)
    return seen(answer.message())


async def strands_client(address, prompt, *, wrapped=True, **options):
    """Over a client that the user keeps."""
    async with openai_client(openai.AsyncOpenAI, address) as client:
        own = OpenAIModel(client=client, model_id="default")
        model, answer = wrap_model(own, **options) if wrapped else own, Answer()
        async for event in model.stream(
            [{"role": "user", "content": [{"text": prompt}]}], STRANDS_TOOLS
        ):
            answer.add(event)
        return seen(answer.message())


@function_tool
def calculator(expression: str) -> str:
    """Compute."""
    return "42"


ASKED = (ModelSettings(), [calculator], None, [], ModelTracing.DISABLED)
NOTHING = {"previous_response_id": None, "conversation_id": None, "prompt": None}


def of_agents(output):
    texts = [each.content[0].text for each in output if each.type == "message"]
    calls = [(each.name, each.arguments) for each in output if each.type == "function_call"]
    return "".join(texts) or None, calls


async def agents_model(address, prompt, *, wrapped=True, **options):
    async with openai_client(openai.AsyncOpenAI, address) as client:
        own = OpenAIChatCompletionsModel("default", client)
        model = wrap_agents_model(own, **options) if wrapped else own
        made = await model.get_response(None, prompt, *ASKED, **NOTHING)
        return of_agents(made.output)


async def agents_stream(address, prompt, *, wrapped=True, **options):
    async with openai_client(openai.AsyncOpenAI, address) as client:
        own = OpenAIChatCompletionsModel("default", client)
        model = wrap_agents_model(own, **options) if wrapped else own
        events = model.stream_response(None, prompt, *ASKED, **NOTHING)
        completed = [each async for each in events if each.type == "response.completed"]
        return of_agents(completed[0].response.output)


def runtime_client(address, wrapped):
    config = Config(retries={"mode": "standard", "total_max_attempts": 3})
    own = boto3.Session().client(
        "sagemakerjobruntime", endpoint_url=address, region_name="us-west-2", config=config
    )
    return wrap_boto3(own) if wrapped else own


def boto3_sample(address, prompt, *, wrapped=True):
    client = runtime_client(address, wrapped)
    made = client.sample(JobArn=JOB, TrajectoryId="none", Body=json.dumps(request(prompt)))
    return seen(json.loads(made["Body"].read())["choices"][0]["message"])


def boto3_stream(address, prompt, *, wrapped=True):
    client, body = runtime_client(address, wrapped), json.dumps(request(prompt, stream=True))
    made = client.sample_with_response_stream(JobArn=JOB, TrajectoryId="none", Body=body)
    whole = completion_of(b"".join(made["Body"].iter_chunks()), streamed=True)
    return seen(whole["choices"][0]["message"])


ADAPTERS = {
    each.__name__: each
    for each in (
        *(openai_sync, openai_stream, openai_async, openai_async_stream),
        *(httpx_sync, httpx_async),
        *(langchain_sync, langchain_stream, langchain_async, langchain_async_stream),
        *(strands, strands_client, agents_model, agents_stream, boto3_sample, boto3_stream),
    )
}

ONE_ATTEMPT = {"httpx_sync", "httpx_async"}
"""What makes no second attempt by itself."""

AS_WRITTEN = {"boto3_sample", "boto3_stream"}
"""What hands out the runtime's own bytes: its caller reads the text."""


def ask(name, address, prompt, **options):
    """Call an adapter."""
    called = ADAPTERS[name](address, prompt, **options)
    return asyncio.run(called) if asyncio.iscoroutine(called) else called
