"""Three policies: one does sums, one follows a script, one asks a real model.

The calculator finds the arithmetic in a prompt: numbers, `+ - * /` and parentheses, with their
signs in Unicode and in LaTeX; no powers, no functions. It evaluates exactly. A number of 40 digits
and an expression of 400 characters are the largest. It rehearses an agent and its plumbing; it is
no language model, and says nothing about one.

A script is JSON Lines, or the same as Python values:

    {"prompt": "What is 2 + 2?", "turns": [{"tool_calls": [{"name": "calculator",
                                            "arguments": {"expression": "2 + 2"}}]}, "It is 4."]}
    {"turns": ["I do not know."]}

A row is for the conversations whose first question holds its prompt, the longest prompt first; a
row without one is for all others. The conversation says which turn is next: it has as many answers
of the assistant. The last turn is repeated.

A model that the double asks is any endpoint of OpenAI's chat completions. Engines refuse what only
OpenAI's own service knows, so a request is cut down to what all of them take, and the model's name
is the relay's: agents of the runtime call it "default". The reply comes whole, whether or not the
agent asked for a stream.
"""

from __future__ import annotations

import ast
import json
import operator
import os
import re
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from itertools import accumulate, count
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import urllib3
from pydantic import BaseModel, Field, StrictStr, ValidationError

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.jsons import json_kind
from reward_functions.core.suggest import did_you_mean
from reward_functions.data.json_rows import read_rows
from reward_functions.local.loopback_service.server import Refused, invalid
from reward_functions.local.runtime_double.chat import Answer, ToolCall, Usage, text_of
from reward_functions.rollouts.drive.agents import body_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from reward_functions.local.runtime_double.chat import ChatRequest


LONGEST: Final = 400
"""Characters of an expression."""

DEEPEST: Final = 40
"""Parentheses that stand within each other, and one more."""

READ: Final = 20_000
"""Characters of a prompt that are searched, from its end."""

SIGNS: Final = {"×": "*", "·": "*", "÷": "/", "−": "-", r"\times": "*", r"\cdot": "*", r"\div": "/"}

_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_RUN: Final = re.compile(r"(?<!\w)[\d(.+-][\d \t.()+*/-]*")
_BULLET: Final = re.compile(r"[-+.]+[ \t]+")
_TOKEN: Final = re.compile(r"\d{1,40}(?:\.\d{0,40})?|\.\d{1,40}|[-+*/()]")
_OPERATOR: Final = re.compile(r"[\d)][ \t]*[-+*/]")
_NUMBER: Final = re.compile(r"-?(?:\d{1,40}(?:\.\d{1,40})?|\.\d{1,40})")
_DECIMALS: Final = 30
_SYMBOLS: Final = frozenset("+-*/()")
_OPERATORS: Final[dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def expression_in(text: str) -> str:
    """The expression with the most operators in a text, the last one of those; "" for none."""
    runs = map(_trimmed, _RUN.findall(_plain(text)))
    found = [run for run in runs if _OPERATOR.search(run) and evaluated(run) is not None]
    return max(reversed(found), key=lambda run: len(_OPERATOR.findall(run)), default="")


def number_in(text: str) -> Fraction | None:
    """The last number in a text, such as a tool's result; None without one."""
    found = _NUMBER.findall(_plain(text))
    return Fraction(found[-1]) if found else None


def evaluated(expression: str) -> Fraction | None:
    """The value of an expression; None where it has none."""
    tokens = _TOKEN.findall(expression) if len(expression) <= LONGEST else []
    if not tokens or "".join(tokens) != re.sub(r"\s", "", expression):
        return None
    if max(accumulate((sign == "(") - (sign == ")") for sign in tokens)) >= DEEPEST:
        return None
    numbers = [token for token in tokens if token not in _SYMBOLS]
    # Python's parser reads the places of the numbers, which are exact where they are looked up.
    places = map(str, count())
    source = " ".join(token if token in _SYMBOLS else next(places) for token in tokens)
    try:
        return _value(ast.parse(source, mode="eval").body, numbers)
    except (SyntaxError, ArithmeticError):
        return None


def _value(node: ast.expr, numbers: list[str]) -> Fraction:
    match node:
        case ast.Constant(value=int(place)):
            return Fraction(numbers[place].rstrip("."))
        case ast.UnaryOp():
            value = _value(node.operand, numbers)
            return -value if isinstance(node.op, ast.USub) else value
        case ast.BinOp():
            apply = _OPERATORS[type(node.op)]
            return apply(_value(node.left, numbers), _value(node.right, numbers))
        case _:  # a call, or nothing between parentheses
            raise ArithmeticError


def written(value: Fraction) -> str:
    """A value as an answer shows it: an integer, a decimal that ends, or a fraction of LaTeX."""
    if value.denominator == 1:
        return str(value.numerator)
    for decimals in range(1, _DECIMALS):
        if 10**decimals % value.denominator == 0:
            return _exactly(value, decimals)
    return rf"\frac{{{value.numerator}}}{{{value.denominator}}}"


def _trimmed(run: str) -> str:
    """A run without what belongs to the sentence around it: a bullet, a full stop, a bracket."""
    bullet = _BULLET.match(run)
    run = run[bullet.end() if bullet else 0 :].rstrip(" \t.+*/(-")
    surplus = run.count(")") - run.count("(")
    if surplus > 0:
        return run.removesuffix(")" * surplus).rstrip()
    return run.removeprefix("(" * -surplus).lstrip()


def _exactly(value: Fraction, decimals: int) -> str:
    whole, rest = divmod(abs(value.numerator) * 10**decimals // value.denominator, 10**decimals)
    return f"{'-' if value < 0 else ''}{whole}.{rest:0{decimals}d}"


def _plain(text: str) -> str:
    """The end of a text, in ASCII's signs, without commas between thousands."""
    text = text[-READ:]
    for sign, plain in SIGNS.items():
        text = text.replace(sign, plain)
    return _THOUSANDS.sub("", text)


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
        value = number_in(text_of(results[-1])) if results else None
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
    for tool in request.tools or ():
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


FIELDS: Final = frozenset({"prompt", "turns"})
TURN_FIELDS: Final = frozenset({"content", "tool_calls"})
CALL_FIELDS: Final = frozenset({"name", "arguments"})


class ScriptedPolicy:
    """Answers as the script says.

    Args:
        script: one answer to everything, the turns of every conversation, rows as in this module's
            docstring, or the path of a file of rows. A string is an answer, and a `Path` a file.

    Raises:
        ConfigurationError: it is no script. The message names the row.
        OSError: the file cannot be read.
    """

    def __init__(self, script: str | Path | Sequence[str | dict[str, Any]]) -> None:
        rows = _rows(script)
        self._by_prompt: dict[str, tuple[Answer, ...]]
        self._by_prompt = {prompt: turns for prompt, turns in rows if prompt}
        self._longest_first = sorted(self._by_prompt, key=len, reverse=True)
        self._other = next((turns for prompt, turns in rows if not prompt), None)

    def answer(self, request: ChatRequest, trajectory_id: str) -> Answer:  # noqa: ARG002
        """The turn that comes next.

        Raises:
            Refused: no row is for this conversation.
        """
        turns = self._turns(request.questions[0] if request.questions else "")
        if turns is None:
            raise invalid("the script of the policy has no row for this prompt")
        done = len([each for each in request.messages if each["role"] == "assistant"])
        return turns[min(done, len(turns) - 1)]

    def _turns(self, question: str) -> tuple[Answer, ...] | None:
        if question in self._by_prompt:
            return self._by_prompt[question]
        prompt = next((prompt for prompt in self._longest_first if prompt in question), None)
        return self._other if prompt is None else self._by_prompt[prompt]


def _rows(script: Any) -> list[tuple[str, tuple[Answer, ...]]]:
    """The prompts of a script, "" for none, and their turns."""
    if isinstance(script, str):
        return [("", (Answer(script),))]
    if isinstance(script, Path):
        found = [_row(row.where, row.content) for row in read_rows(str(script), whole=True)]
    elif script and isinstance(script[0], str):
        found = [("", tuple(_turn("the script", each) for each in script))]
    else:
        found = [_row(f"row {number} of the script", row) for number, row in enumerate(script, 1)]
    if not found:
        raise ConfigurationError("the script of the policy is empty")
    return found


def _row(where: str, row: Any) -> tuple[str, tuple[Answer, ...]]:
    _require_object(where, row, FIELDS)
    prompt, turns = row.get("prompt", ""), row.get("turns")
    if not isinstance(prompt, str):
        raise ConfigurationError(f"{where}: prompt is {json_kind(prompt)}, not a string")
    if not isinstance(turns, list) or not turns:
        raise ConfigurationError(f"{where}: turns is not a list of at least one turn")
    return prompt, tuple(_turn(where, turn) for turn in turns)


def _turn(where: str, turn: Any) -> Answer:
    if isinstance(turn, str):
        return Answer(turn)
    _require_object(f"{where}: a turn", turn, TURN_FIELDS)
    content, calls = turn.get("content") or "", turn.get("tool_calls") or []
    if not isinstance(content, str) or not isinstance(calls, list):
        raise ConfigurationError(f"{where}: a turn's content is a string, its tool_calls a list")
    tool_calls = tuple(_tool_call(where, call) for call in calls)
    return Answer(content, tool_calls, "tool_calls" if tool_calls else "stop")


def _tool_call(where: str, call: Any) -> ToolCall:
    _require_object(f"{where}: a tool call", call, CALL_FIELDS)
    name, arguments = call.get("name"), call.get("arguments", {})
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise ConfigurationError(f"{where}: a tool call has a name, and arguments as an object")
    return ToolCall(name, json.dumps(arguments))


def _require_object(where: str, given: Any, fields: Iterable[str]) -> None:
    if not isinstance(given, dict):
        raise ConfigurationError(f"{where} is {json_kind(given)}, not an object")
    unknown = given.keys() - set(fields)
    if unknown:
        name = min(unknown)[:64]
        raise ConfigurationError(f"{where} has a field {name!r}{did_you_mean(name, fields)}")


TAKEN: Final = (
    *("messages", "tools", "tool_choice", "temperature", "top_p", "max_tokens"),
    *("max_completion_tokens", "stop", "seed", "response_format"),
    *("presence_penalty", "frequency_penalty", "parallel_tool_calls"),
)
"""Fields of a request that vLLM, SGLang, llama.cpp and Ollama take alike."""

CONNECTIONS: Final = 64
REPLY_SECONDS: Final = 300.0
LARGEST: Final = 8 * 1024 * 1024
"""Bytes of a reply."""

MOST_TOKENS: Final = 10**9
"""Of a call; who counts more does not count."""

FINISHES: Final = frozenset({"stop", "length", "tool_calls", "content_filter"})
STATUSES: Final = {
    400: "ValidationException",
    422: "ValidationException",
    429: "ThrottlingException",
}
"""What a refusal of the model is to the agent; any other is a failure of the service."""


class RelayPolicy:
    """Passes requests on, over 64 connections at most.

    Args:
        url: of the endpoint, such as "http://127.0.0.1:8000/v1"; "/v1" where it has no path.
        api_key_env: the variable that holds the key; "" for an endpoint without one.
        model: the name that the endpoint knows its model by.
        seconds: that a reply may take.
        environ: the variables.

    Raises:
        ConfigurationError: no URL of HTTP, or the variable is not set.
    """

    def __init__(
        self,
        url: str,
        api_key_env: str = "",
        *,
        model: str = "default",
        seconds: float = REPLY_SECONDS,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._url = f"{_base(url)}/chat/completions"
        self._model, self._seconds = model, seconds
        self._headers = {"Content-Type": "application/json"}
        if api_key_env:
            if not environ.get(api_key_env):
                raise ConfigurationError(f"the variable {api_key_env}, for the key, is not set")
            self._headers["Authorization"] = f"Bearer {environ[api_key_env]}"
        self._pool = urllib3.PoolManager(
            num_pools=1, maxsize=CONNECTIONS, block=True, timeout=seconds, retries=False
        )

    def answer(self, request: ChatRequest, trajectory_id: str) -> Answer:  # noqa: ARG002
        """What the model answers.

        Raises:
            Refused: it does not, or nothing that is a chat completion.
        """
        body = {name: request.body[name] for name in TAKEN if request.body.get(name) is not None}
        body |= {"model": self._model, "messages": [*map(_flattened, request.messages)]}
        return _relayed(self._reply(json.dumps(body).encode()))

    def _reply(self, body: bytes) -> bytes:
        end = monotonic() + self._seconds
        try:
            reply = self._pool.request(
                "POST", self._url, body=body, headers=self._headers, preload_content=False
            )
            with reply:  # closed, or the rest of a reply too long would begin the next one
                content = body_of(reply, LARGEST + 1, end)
        except urllib3.exceptions.HTTPError as error:
            raise _fails(f"does not answer ({type(error).__name__})") from None
        if reply.status != 200:  # noqa: PLR2004
            code = STATUSES.get(reply.status, "InternalServiceError")
            raise Refused(code, f"the model that the double asks answers {reply.status}")
        if len(content) > LARGEST:
            raise _fails(f"answers more than {LARGEST} bytes")
        if monotonic() >= end:
            raise _fails(f"does not come to an end in {self._seconds:g} seconds")
        return content


def _base(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        raise ConfigurationError("the URL of the model cannot be read") from None
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ConfigurationError("the URL of the model begins with http:// or https://")
    if parts.username or parts.query or parts.fragment:
        raise ConfigurationError("the URL of the model has no user, no query and no fragment")
    return url.rstrip("/") + ("" if parts.path.strip("/") else "/v1")


def _flattened(message: dict[str, Any]) -> dict[str, Any]:
    """A message whose blocks of text are one text; blocks of another kind stay as they are."""
    content = message.get("content")
    if not isinstance(content, list):
        return message
    texts = all(isinstance(each, dict) and each.get("type") == "text" for each in content)
    return message | {"content": text_of(message)} if texts else message


class _Function(BaseModel):
    name: StrictStr
    arguments: StrictStr | None = None


class _Call(BaseModel):
    function: _Function


class _Message(BaseModel):
    content: StrictStr | None = None
    tool_calls: list[_Call] | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: Any = None


class _Completion(BaseModel):
    choices: list[_Choice] = Field(min_length=1)
    usage: Any = None


def _relayed(content: bytes) -> Answer:
    """The turn in a reply, which may hold anything."""
    try:
        reply = _Completion.model_validate_json(content)
    except ValidationError:
        raise _fails("answers with what is no chat completion") from None
    choice = reply.choices[0]
    calls = tuple(
        ToolCall(call.function.name, call.function.arguments or "{}")
        for call in choice.message.tool_calls or ()
    )
    finish = choice.finish_reason
    known = finish if isinstance(finish, str) and finish in FINISHES else "stop"
    finished = "tool_calls" if calls else known
    text = choice.message.content or ""
    return Answer(text, calls, finished, _counted(reply.usage))


def _counted(given: Any) -> Usage | None:
    """Its own count; None where it has none."""
    names = ("prompt_tokens", "completion_tokens")
    stated = given if isinstance(given, dict) else {}
    counts: list[Any] = [stated.get(name) for name in names]
    if not all(type(each) is int and 0 <= each <= MOST_TOKENS for each in counts):
        return None
    return Usage(*counts)


def _fails(words: str) -> Refused:
    return Refused("InternalServiceError", f"the model that the double asks {words}")
