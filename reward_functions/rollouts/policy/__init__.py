"""A call of the policy, in whichever rollout makes it, whatever client makes it.

calls.py      counted as a turn, recorded, and refused behind the deadline
address.py    where it goes, and whether a token is due there
headers.py    what it says of its rollout
outgoing.py   a request of an HTTP client, as its rollout sends it
asking.py     the same, where only the client knows its request
streams.py    streams of answers, each in a context of its own
unsupported.py    the refusals of a model and of a client that cannot be wrapped
answers.py    an answer of any form, read as one chat completion
refining.py   an answer whose text holds tool calls, with those calls
tools.py      a tool that ran
converse.py   what Bedrock's Converse is in OpenAI's form
boto3_events.py    boto3: `Sample` of the runtime, and Converse
httpx/        httpx: transports that whatever is built on it may have
openai/       OpenAI's SDK
agents/       OpenAI's Agents SDK
strands/      Strands: `wrap_model`, a model, hooks, middleware
langchain/    LangChain and LangGraph: `wrap_chat_model`, a chat model, callbacks
tokens.py     its bearer token, minted here and made again when it is refused
"""
