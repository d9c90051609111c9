"""The settings to begin with, by where a model is served: what docs/judges.md shows first.

Each is a whole TOML file, whose comments say what to change.
"""

from __future__ import annotations

from typing import Final

STARTS: Final = {
    "bedrock": """\
# Amazon Bedrock, asked with your AWS credentials.
[[models]]
model = "amazon.nova-lite-v1:0"
region = "us-east-1"
""",
    "vllm": """\
# vLLM or SGLang: vllm serve Qwen/Qwen3-8B --port 8000
prices = {"Qwen/Qwen3-8B" = [0.0, 0.0]}    # dollars of a million tokens, read and written

[[models]]
backend = "openai"
endpoint = "http://localhost:8000/v1"      # up to and with /v1
model = "Qwen/Qwen3-8B"                    # the name that the server knows
""",
    "openai": """\
# OpenAI, or LiteLLM and others with its API. The key stays in the environment.
[[models]]
backend = "openai"
endpoint = "https://api.openai.com/v1"     # LiteLLM: http://localhost:4000/v1
model = "gpt-4o-mini"
key = "env:OPENAI_API_KEY"                 # the name of the variable, and never the key
""",
    "ollama": """\
# Ollama: ollama pull qwen3:8b
prices = {"qwen3:8b" = [0.0, 0.0]}         # dollars of a million tokens, read and written

[[models]]
backend = "openai"
endpoint = "http://localhost:11434/v1"
model = "qwen3:8b"
timeout = 300.0                            # seconds of one call: the first one loads the model
""",
}
"""Files by the name of what serves the model."""


def settings_for(kind: str) -> str:
    """The file of a kind of `STARTS`."""
    return STARTS[kind]
