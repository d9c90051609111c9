r"""A policy that can do sums: it calls the agent's calculator and boxes what that returns.

It rehearses an agent and its plumbing with answers that are right, or wrong in a known share of the
rollouts. It is no language model, and says nothing about one.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.errors import ConfigurationError
from reward_functions.local.runtime_double.arithmetic import (
    evaluated,
    expression_in,
    number_in,
    written,
)
from reward_functions.local.runtime_double.chat import Answer, ToolCall, text_of

if TYPE_CHECKING:
    from fractions import Fraction

    from reward_functions.local.runtime_double.chat import ChatRequest

NOTHING: Final = "I find no arithmetic expression in the prompt."

TOOL: Final = "calc"
"""What the name of a calculator holds."""


@dataclass(frozen=True, slots=True)
class CalculatorPolicy:
    r"""Finds the expression of the last question, and answers with `\boxed{…}`.

    Where a tool with "calc" in its name is offered, it calls that first, with the expression as the
    first parameter of the tool that is a string; the tool's result is its answer.

    Args:
        wrong: the share of trajectories, from 0 to 1, whose answer is 1 too large.
        seed: which of them those are.

    Raises:
        ConfigurationError: a share outside of 0 to 1.
    """

    wrong: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.wrong <= 1:
            raise ConfigurationError("the share of wrong answers is a number from 0 to 1")

    def answer(self, request: ChatRequest, trajectory_id: str) -> Answer:
        """A call of the calculator, or the answer."""
        expression = expression_in(request.questions[-1]) if request.questions else ""
        if not expression:
            return Answer(NOTHING)
        results = request.since_last_question("tool")
        tool = None if results else _calculator(request)
        if tool is not None:
            name, parameter = tool
            call = ToolCall(name, json.dumps({parameter: expression}))
            return Answer("", (call,), "tool_calls")
        value = _result(results) if results else None
        if value is None:
            value = evaluated(expression)
        if value is None:
            return Answer(NOTHING)
        shown = written(value + self._errs(trajectory_id))
        return Answer(rf"{expression} = {shown}. The answer is \boxed{{{shown}}}.")

    def _errs(self, trajectory_id: str) -> int:
        digest = sha256(f"{self.seed}\0{trajectory_id}".encode()).digest()
        return int(int.from_bytes(digest[:8]) / 2**64 < self.wrong)


def _calculator(request: ChatRequest) -> tuple[str, str] | None:
    """The name of a calculator that is offered, and of its parameter for an expression."""
    if request.body.get("tool_choice") == "none":
        return None
    for tool in request.tools:
        function = tool.get("function")
        name = function.get("name") if isinstance(function, dict) else None
        if isinstance(name, str) and TOOL in name.lower():
            return name, _parameter(function)
    return None


def _parameter(function: Any) -> str:
    schema = function.get("parameters")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    for name, kind in properties.items() if isinstance(properties, dict) else ():
        if isinstance(kind, dict) and kind.get("type") == "string":
            return str(name)
    return "expression"


def _result(results: list[dict[str, Any]]) -> Fraction | None:
    return number_in(text_of(results[-1]))
