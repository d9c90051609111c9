"""What AgentCore carries at most: an agent's app and its clients refuse the same."""

from typing import Final

LARGEST: Final = 100_000_000
"""Bytes of a payload, and so of a result that a client reads again (botocore's model of
InvokeAgentRuntime)."""
