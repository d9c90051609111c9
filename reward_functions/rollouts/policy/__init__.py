"""A call of the policy, in any rollout, by any client.

calls.py      counted as a turn, recorded, and refused after the deadline
outgoing.py   a request of an HTTP client, as its rollout sends it
asking.py     the same, where only the client knows its request
answers.py    an answer of any form, read as one chat completion
converse.py   what Bedrock's Converse is in OpenAI's form
boto3_events.py    boto3: `Sample` of the runtime, and Converse
httpx.py      httpx: transports for all that is built on it
openai.py     OpenAI's SDK
agents.py     OpenAI's Agents SDK
strands.py    Strands: `wrap_model`, a model, hooks, middleware
langchain.py  LangChain and LangGraph: `wrap_chat_model`, a chat model, callbacks

A framework is one file here, which asks for its extra first, and the facade `rollouts/<name>.py`.
"""
