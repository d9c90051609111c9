"""The record of one episode while it runs: what policy calls and tools report of themselves.

The sender of the request records the turn: a wrapped model, a client, a transport. The runner of
the tools records their results. Hooks of a framework mark what it threw away. Nothing is counted
twice, because a call within a call is the same call: see `policy.calls`.

A recording never harms an episode. Nothing that an agent or an engine sends raises here: what
cannot be read is left out and named in the turn's `unread`. A part that no longer fits is left out
too, and the trajectory is `truncated`.

**Copies.** An agent sends its whole history with every call: an episode of 100 turns would hold
each early message 100 times. Equal messages are one object here, and a turn refers to it.

| what is given | kept |
| --- | --- |
| JSON data | a copy; what the agent changes afterwards changes nothing here |
| NaN, a number beyond a float, an object of Python's, levels below `DEEPEST` | `Unreadable` |
| more than `most` bytes in all | nothing: `Full` is raised |

**Answers.** A part that is not of OpenAI's form is left out, and its name is in `unread`.

| part | where | source |
| --- | --- | --- |
| message, finish reason | `choices[0]` | OpenAI, "Create chat completion" |
| tool calls | `message.tool_calls[].function`, or the older `function_call` | the same |
| usage | `usage`, with `prompt_tokens_details` and `completion_tokens_details` | the same |
| prompt's token ids | `prompt_token_ids`, or of the choice | vLLM, `return_token_ids` |
| completion's token ids | `choices[0].token_ids` | the same |
| log-probabilities | `choices[0].logprobs.content[].logprob` | OpenAI |

**Results of tools.** A result comes from the code that ran the tool, or is seen in a later request
as a `role: tool` message. Each counts once, from the one that shows it first. Engines may number
the calls of each answer from 0 again, or give no ids at all. So a message counts from the end of
its request. The last result of an id belongs to the last call that has this id, if the assistant's
message before it calls the same function. Not known of a result that only a request shows: whether
the tool failed. It counts as a success.
"""

from __future__ import annotations

import logging
from collections import Counter, defaultdict, deque
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.rollouts.record.text_tool_calls import (
    LONGEST_NAME,
    RECOVERED,
    function_of,
    recovered,
    text_of,
)
from reward_functions.rollouts.record.types import (
    LARGEST_NUMBER,
    MOST_TOKENS,
    TokenTrace,
    TokenUsage,
    ToolCall,
    ToolResult,
    Trajectory,
    Turn,
)
from reward_functions.rollouts.request.clock import steady
from reward_functions.rollouts.request.errors import MisalignedTokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from reward_functions.rollouts.record.types import Message


MOST: Final = 64 * 2**20
"""Bytes of one episode: of its texts, at a character each, and of the references to them."""

DEEPEST: Final = 64
"""Levels of a message: a tool's JSON schema has a dozen."""

VALUE: Final = 64
"""Bytes that a value costs beside its text."""

REFERENCE: Final = 8
"""Bytes that a turn's reference to a message costs."""

ALIKE: Final = 16
"""Messages of one fingerprint that a new one is compared with, the latest first."""


class Unreadable(Exception):
    """A value that is not JSON data."""


class Full(Exception):
    """No more is kept."""


class BoundedPool:
    """Copies of JSON data, equal ones once. Not safe for threads: its owner locks.

    Args:
        most: bytes in all.

    Attributes:
        size: bytes so far.
    """

    def __init__(self, most: int = MOST) -> None:
        self.size = 0
        self._most = most
        self._found: defaultdict[Any, deque[Message]] = defaultdict(lambda: deque(maxlen=ALIKE))

    def messages(self, given: Any) -> tuple[Message, ...]:
        """A list of messages, or of tools.

        Raises:
            Unreadable: it is no list of objects of JSON data.
            Full: they do not fit; of what came before, all stays.
        """
        if not isinstance(given, list | tuple):
            raise Unreadable
        self.take(REFERENCE * len(given))
        return tuple(map(self.message, given))

    def message(self, given: Any) -> Message:
        """One message: the object that an equal one is already, or a copy.

        Raises:
            Unreadable: it is no object of JSON data.
            Full: it does not fit.
        """
        if not isinstance(given, Mapping):
            raise Unreadable
        alike = self._found[_fingerprint(given)]
        for known in reversed(alike):
            if known is given or _same(known, given):
                return known
        copied: Message = self.copy(given)
        alike.append(copied)
        return copied

    def copy(self, given: Any) -> Any:
        """A copy of JSON data.

        Raises:
            Unreadable: it is no JSON.
            Full: it does not fit.
        """
        left = [self._most - self.size]
        copied = _copied(given, DEEPEST, left)
        self.size = self._most - left[0]
        return copied

    def text(self, given: str) -> str:
        """A string that is kept.

        Raises:
            Full: it does not fit.
        """
        self.take(len(given) + VALUE)
        return given

    def take(self, size: int) -> None:
        """Count bytes of what is kept elsewhere.

        Raises:
            Full: they do not fit.
        """
        if self.size + size > self._most:
            raise Full
        self.size += size


def _copied(given: Any, levels: int, left: list[int]) -> Any:
    """A copy, its size taken from what is left."""
    left[0] -= VALUE + (len(given) if isinstance(given, str) else 0)
    if left[0] < 0:
        raise Full
    if given is None or isinstance(given, bool | str):
        return given
    if isinstance(given, int | float):
        if not abs(given) <= LARGEST_NUMBER:
            raise Unreadable
        return given
    if not levels:
        raise Unreadable
    if isinstance(given, Mapping):
        return {_name(name, left): _copied(each, levels - 1, left) for name, each in given.items()}
    if isinstance(given, list | tuple):
        return [_copied(each, levels - 1, left) for each in given]
    raise Unreadable


def _name(given: Any, left: list[int]) -> str:
    if not isinstance(given, str):
        raise Unreadable
    left[0] -= len(given)
    return given


def _same(known: Message, given: Mapping[str, Any]) -> bool:
    """Whether a copy is of what is given now; Python's `1 == True` is no equality of JSON.

    What cannot be compared is not the same: objects of Python's may raise, or answer anything.
    """
    try:
        return len(known) == len(given) and _equal(known, given, DEEPEST)
    except RecursionError:
        return False


def _equal(known: Any, given: Any, levels: int) -> bool:
    if isinstance(known, str) or known is None:
        return type(given) is type(known) and bool(known == given)
    if isinstance(known, dict):
        return (
            isinstance(given, Mapping)
            and bool(levels)
            and len(known) == len(given)
            and all(
                name in given and _equal(value, given[name], levels - 1)
                for name, value in known.items()
            )
        )
    if isinstance(known, list):
        return (
            isinstance(given, list | tuple)
            and bool(levels)
            and len(known) == len(given)
            and _all_equal(known, given, levels - 1)
        )
    return type(known) is type(given) and bool(known == given)


def _all_equal(known: Sequence[Any], given: Iterable[Any], levels: int) -> bool:
    return all(_equal(one, other, levels) for one, other in zip(known, given, strict=True))


def _fingerprint(given: Mapping[str, Any]) -> tuple[Any, ...]:
    """What equal messages have in common, cheaply: Python keeps the hash of a string.

    Answers that only call tools differ by what they call.
    """
    called = given.get("tool_calls")
    first = called[0] if isinstance(called, list | tuple) and called else None
    function = first.get("function") if isinstance(first, Mapping) else None
    inner = function if isinstance(function, Mapping) else {}
    return tuple(
        value if isinstance(value, str) else _length(value)
        for value in (
            *(given.get(name) for name in ("role", "tool_call_id", "content")),
            first.get("id") if isinstance(first, Mapping) else None,
            *(inner.get(name) for name in ("name", "arguments")),
        )
    )


def _length(value: Any) -> int:
    """Of a list or an object."""
    return len(value) if isinstance(value, list | tuple | dict) else 0


MOST_CALLS: Final = 1_000
"""Tool calls of one answer that are read; others are left out, and named."""

TOKEN: Final = 40
"""Bytes of a token's id, or of its log-probability, and of the reference to it."""

USAGE: Final = {
    "input": ("prompt_tokens",),
    "output": ("completion_tokens",),
    "cached": ("prompt_tokens_details", "cached_tokens"),
    "reasoning": ("completion_tokens_details", "reasoning_tokens"),
}
"""Fields of `TokenUsage`, and where they are in a response's `usage`."""

NO_PARAMETERS: Final = (
    "messages",
    "tools",
    "stream",
    "stream_options",
    "extra_headers",
    "model",
    "user",
)
"""Fields of a request that are no parameters of sampling; a header may be a credential."""


@dataclass(slots=True)
class AnswerParts:
    """The parts of a response; the fields are those of a `Turn`."""

    response: Message | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    model: str = ""
    finish_reason: str = ""
    usage: TokenUsage = field(default_factory=TokenUsage)
    tokens: TokenTrace | None = None
    unread: list[str] = field(default_factory=list)


def read_response(response: Any, pool: BoundedPool) -> AnswerParts:
    """Read the parts of a chat completion.

    Args:
        response: as JSON data.
        pool: keeps its message.

    Raises:
        Full: the message does not fit.
    """
    found = AnswerParts()
    if not isinstance(response, Mapping):
        found.unread.append("response")
        return found
    choices = response.get("choices")
    choice = choices[0] if isinstance(choices, list | tuple) and choices else None
    message = choice.get("message") if isinstance(choice, Mapping) else None
    found.model = short(response.get("model"))
    found.usage = _read(found, "usage", lambda: _usage(response.get("usage")), TokenUsage())
    if not isinstance(choice, Mapping) or not isinstance(message, Mapping):
        found.unread.append("response")
        return found
    found.finish_reason = short(choice.get("finish_reason"))
    found.response = _read(found, "response", lambda: pool.message(message), None)
    found.tool_calls = _tool_calls(message, found)
    found.tokens = _read(found, "tokens", lambda: _tokens(response, choice, pool), None)
    return found


def short(value: Any) -> str:
    """A name; "" otherwise."""
    return value[:LONGEST_NAME] if isinstance(value, str) else ""


def parameters_of(request: Mapping[str, Any]) -> dict[str, Any]:
    """The sampling parameters of a request: what is a number, a string or a list of such."""
    plain = (bool, int, float, str)
    return {
        name[:LONGEST_NAME]: value
        for name, value in request.items()
        if isinstance(name, str) and name not in NO_PARAMETERS and type(value) in plain
    }


def _tool_calls(message: Mapping[str, Any], found: AnswerParts) -> tuple[ToolCall, ...]:
    given = message.get("tool_calls")
    old = message.get("function_call")
    if not given and isinstance(old, Mapping):
        given = [old]
    if not given:
        return ()
    if not isinstance(given, list | tuple):
        found.unread.append("tool_calls")
        return ()
    calls = []
    for each in given[:MOST_CALLS]:
        function = function_of(each) if isinstance(each, Mapping) else None
        if function is not None:
            id_ = short(each.get("id"))
            recovered = id_.startswith(RECOVERED)
            calls.append(
                ToolCall(id=id_, name=function[0], arguments=function[1], recovered=recovered)
            )
    if len(calls) < len(given):
        found.unread.append("tool_calls")
    return tuple(calls)


def _usage(given: Any) -> TokenUsage:
    if given is None:
        return TokenUsage()
    return TokenUsage(**{name: _count(given, path) for name, path in USAGE.items()})


def _count(given: Any, path: tuple[str, ...]) -> int | None:
    """A count of tokens; None where nobody says."""
    for name in path:
        if given is None:
            return None
        if not isinstance(given, Mapping):
            raise Unreadable
        given = given.get(name)
    if given is not None and (type(given) is not int or not 0 <= given <= MOST_TOKENS):
        raise Unreadable
    return given


def _tokens(
    response: Mapping[str, Any], choice: Mapping[str, Any], pool: BoundedPool
) -> TokenTrace | None:
    """The tokens of an answer; None where the engine gave none.

    Raises:
        MisalignedTokens: they do not belong together.
        Full: they do not fit.
    """
    prompt = response.get("prompt_token_ids", choice.get("prompt_token_ids"))
    completion, logprobs = choice.get("token_ids"), choice.get("logprobs")
    if prompt is None and completion is None:
        return None
    content = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    if content is not None:
        content = [each["logprob"] for each in content]
    if content is not None and None in content:
        content = None  # without one of them there are none: 0.0 would say that it was certain
    pool.take(TOKEN * sum(len(each or ()) for each in (prompt, completion, content)))
    return TokenTrace(
        prompt_ids=None if prompt is None else tuple(prompt),
        completion_ids=None if completion is None else tuple(completion),
        logprobs=None if content is None else tuple(content),
    )


def _read(found: AnswerParts, name: str, read: Callable[[], Any], otherwise: Any) -> Any:
    """A part of an answer, or what stands for it where it cannot be read."""
    try:
        return read()
    except Full:
        raise
    except (Unreadable, MisalignedTokens, AttributeError, KeyError, TypeError, RecursionError):
        found.unread.append(name)
        return otherwise


NOTHING: Final = "{}"
"""The arguments of a call that has none."""

MOST_EARLY: Final = 1_000
"""Results that are kept of calls that nobody has seen yet."""


class CallPlace(NamedTuple):
    """A call of an episode.

    Args:
        turn: its number.
        at: the number of the call in the turn's answer.
    """

    turn: int
    at: int


@dataclass(slots=True)
class _Made:
    """A call, and what is known of its result."""

    call: ToolCall
    result: ToolResult | None = None
    direct: bool = False


class ToolResults:
    """The calls of an episode with their results. Not safe for threads: its owner locks."""

    def __init__(self) -> None:
        self._made: dict[CallPlace, _Made] = {}
        self._by_id: defaultdict[str, list[CallPlace]] = defaultdict(list)
        self._by_call: defaultdict[tuple[str, str, str], list[CallPlace]] = defaultdict(list)
        self._early: list[ToolResult] = []

    def called(self, turn: int, calls: Iterable[ToolCall]) -> None:
        """An answer calls tools."""
        for at, call in enumerate(calls):
            place = CallPlace(turn, at)
            self._made[place] = _Made(call)
            self._by_id[call.id].append(place)
            self._by_call[_key(call)].append(place)
        early, self._early = self._early, []
        for result in early:
            self.gave(result)

    def discarded(self, turn: int) -> None:
        """The answer of a turn was thrown away: nothing is a result of its calls."""
        for place in [place for place in self._made if place.turn == turn]:
            call = self._made[place].call
            self._by_id[call.id].remove(place)
            self._by_call[_key(call)].remove(place)

    def gave(self, result: ToolResult) -> None:
        """The code that ran a tool reports its result; of a repeated attempt the last counts."""
        places = self._by_id.get(result.call_id)
        if not places:
            self._early = [*self._early, result][-MOST_EARLY:]
            return
        latest = [place for place in places if place.turn == places[-1].turn]
        waiting = [place for place in latest if not self._made[place].direct]
        made = self._made[(waiting or latest[-1:])[0]]
        made.result = _joined(result, made.result)
        made.direct = True

    def shown(self, messages: Sequence[Message]) -> Iterator[int]:
        """A request shows the results of earlier calls.

        Args:
            messages: of it.

        Yields:
            Turns whose recovered tool calls the agent got in place of the text.
        """
        seen: Counter[tuple[str, str, str]] = Counter()
        for message, function in reversed(list(_results(messages))):
            id_ = str(message.get("tool_call_id") or "")
            key = (id_, *(function or ("", "")))
            found = self._by_id.get(id_) if function is None else self._by_call.get(key)
            places = found or ()
            seen[key] += 1
            if seen[key] > len(places):
                continue
            place = places[-seen[key]]
            made = self._made[place]
            if made.call.recovered:
                yield place.turn
            if made.result is None or not made.result.content:
                shown = ToolResult(call_id=id_, content=text_of(message.get("content")))
                made.result = _joined(made.result, shown)

    def of(self, turn: int, calls: Sequence[ToolCall]) -> tuple[ToolResult, ...]:
        """The results of a turn's calls, in their order; "missing" without one."""
        found = (self._made[CallPlace(turn, at)].result for at in range(len(calls)))
        return tuple(
            result or ToolResult(call_id=call.id, status="missing")
            for call, result in zip(calls, found, strict=True)
        )


def _joined(first: ToolResult | None, second: ToolResult | None) -> ToolResult | None:
    """What counts of two reports of one result; a text where one has it."""
    if first is None or second is None:
        return first or second
    return first if first.content else replace(first, content=second.content)


def _results(messages: Sequence[Message]) -> Iterator[tuple[Message, tuple[str, str] | None]]:
    """The messages of tools, each with the function that the assistant's message before it calls.

    None where no such message is there, as it was cut away.
    """
    called: list[tuple[str, tuple[str, str] | None]] = []
    for message in messages:
        role = message.get("role")
        if role == "assistant":
            calls = message.get("tool_calls")
            called = [
                (str(call.get("id") or ""), _function(call))
                for call in (calls if isinstance(calls, list) else ())
                if isinstance(call, dict)
            ]
        elif role == "tool":
            id_ = str(message.get("tool_call_id") or "")
            at = next((at for at, (known, _) in enumerate(called) if known == id_), None)
            yield message, None if at is None else called.pop(at)[1]


def _function(call: Message) -> tuple[str, str] | None:
    found = function_of(call)
    return found and (found[0], found[1] or NOTHING)


def _key(call: ToolCall) -> tuple[str, str, str]:
    """What a call says; without arguments it says that they are empty."""
    return call.id, call.name, call.arguments or NOTHING


MOST_TURNS: Final = 10_000
"""Calls of one episode that are recorded."""

NOT_KEPT: Final = -1
"""The handle of a call behind the limit."""

_log = logging.getLogger("reward_functions.rollouts")


class Recording:
    """The record of one episode; shared by threads, and by all agents of the episode.

    Args:
        clock: seconds since the epoch.
        most: bytes that are kept, about.
        most_turns: calls that are recorded.
    """

    def __init__(
        self,
        *,
        clock: Callable[[], float] = steady,
        most: int = MOST,
        most_turns: int = MOST_TURNS,
    ) -> None:
        self._clock = clock
        self._most_turns = most_turns
        self._lock = Lock()
        self._pool = BoundedPool(most)
        self._turns: list[Turn] = []
        self._results = ToolResults()
        self._tools: tuple[Message, ...] = ()
        self._truncated = False

    def began(self, request: Mapping[str, Any]) -> int:
        """A policy call begins.

        Args:
            request: the body of a chat completion, in OpenAI's form.

        Returns:
            A handle, for what becomes of it.
        """
        with self._lock:
            if len(self._turns) >= self._most_turns:
                self._truncated = True
                return NOT_KEPT
            handle = len(self._turns)
            self._turns.append(Turn(index=handle, began=self._clock()))
            with self._reading(handle, "messages"):
                messages = self._pool.messages(request.get("messages") or ())
                self._set(handle, messages=messages)
                for turn in self._results.shown(messages):
                    self._set(turn, changed=True)
            with self._reading(handle, "tools"):
                tools = self._pool.messages(request.get("tools") or ())
                self._tools = self._tools if tools == self._tools else tools
                self._set(handle, tools=self._tools)
            with self._reading(handle, "parameters"):
                parameters = self._pool.copy(parameters_of(request))
                self._set(handle, parameters=parameters)
            return handle

    def answered(self, handle: int, response: Mapping[str, Any]) -> None:
        """The whole answer is there: a chat completion in OpenAI's form, assembled if streamed.

        Tool calls that it has as text are read too, and marked: `response` stays as it is given.
        """
        with self._lock, self._reading(handle, "response"):
            if not self._waits(handle):
                return
            self._timed(handle)
            found = read_response(response, self._pool)
            calls = found.tool_calls
            if not calls and found.response is not None:
                calls = _in_text(found.response, self._turns[handle].tools)
            self._set(
                handle,
                response=found.response,
                tool_calls=calls,
                model=found.model,
                finish_reason=found.finish_reason,
                usage=found.usage,
                tokens=found.tokens,
                changed=any(call.recovered for call in found.tool_calls),
                unread=(*self._turns[handle].unread, *found.unread),
            )
            self._results.called(handle, calls)

    def failed(self, handle: int, error: BaseException) -> None:
        """The call brought no answer; what fails after its answer is no failure of the call."""
        with self._lock, self._reading(handle, "response"):
            if self._waits(handle):
                self._timed(handle)
                self._set(handle, error=type(error).__name__)

    def discarded(self, handle: int) -> None:
        """The answer was thrown away, because a framework asks for it again."""
        with self._lock, self._reading(handle, "response"):
            if handle != NOT_KEPT and not self._turns[handle].discarded:
                self._set(handle, discarded=True)
                self._results.discarded(handle)

    def tool(self, result: ToolResult) -> None:
        """A tool gave its result; one that is seen in a later request too counts once."""
        with self._lock, self._reading(NOT_KEPT, "tool"):
            try:
                self._pool.text(result.content)
            except Full:
                self._truncated = True
                result = replace(result, content="")
            self._results.gave(result)

    def trajectory(self, **known: Any) -> Trajectory:
        """The record so far.

        Args:
            known: further fields of a `Trajectory`, its `id` among them.
        """
        with self._lock:
            turns = tuple(
                replace(turn, tool_results=self._results.of(at, turn.tool_calls))
                for at, turn in enumerate(self._turns)
            )
            return Trajectory(**{"turns": turns, "truncated": self._truncated, **known})

    def _waits(self, handle: int) -> bool:
        """Whether a call that is recorded has neither an answer nor a failure yet."""
        if handle == NOT_KEPT:
            return False
        turn = self._turns[handle]
        return turn.response is None and not turn.error

    def _timed(self, handle: int) -> None:
        self._set(handle, seconds=max(0.0, self._clock() - self._turns[handle].began))

    def _set(self, handle: int, **fields: Any) -> None:
        self._turns[handle] = replace(self._turns[handle], **fields)

    @contextmanager
    def _reading(self, handle: int, part: str) -> Iterator[None]:
        """What goes wrong in a block costs a part of a turn, and nothing else."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - an agent's objects raise what they like
            self._truncated = self._truncated or isinstance(error, Full)
            if not isinstance(error, Full | Unreadable):
                _log.warning("a part of a turn is not recorded, %s: %s", part, type(error).__name__)
            if handle != NOT_KEPT:
                self._set(handle, unread=(*self._turns[handle].unread, part))


def _in_text(message: Message, tools: tuple[Message, ...]) -> tuple[ToolCall, ...]:
    """Tool calls that an answer has as text."""
    found = recovered(message, tools)
    if found is None:
        return ()
    return tuple(
        ToolCall(
            id=call["id"],
            name=call["function"]["name"],
            arguments=call["function"]["arguments"],
            recovered=True,
        )
        for call in found["tool_calls"]
    )
