"""A chat completion: checked, assembled from the chunks of a stream, and what it says.

A delta of a tool call belongs to the call of its `index`; one without an index and with a new id
begins a call, and without either goes on with the last one. A name that is sent again is the same.

**Tokens** are kept as an engine gave them, or not at all:

| what the engine gave | what is kept |
| --- | --- |
| nothing | None |
| a list with a null, or with what is no id or no log-probability | None, with a reason |
| log-probabilities without ids | None, with a reason |
| as many ids as log-probabilities, and as its usage counts | a `TokenTrace` |
| another number of them | marked: nothing of them is kept, and `Session.traces` refuses |

Nothing is repaired: a list that is cut or padded gives one token the probability of another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.rollouts.record.types import MISALIGNED, TokenTrace, TokenUsage
from reward_functions.rollouts.request.errors import MisalignedTokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

MOST_CALLS: Final = 256
"""Tool calls of one answer."""

LONGEST_NAME: Final = 1024
"""Characters of a tool's name: engines write 64 at most."""

MOST_TOKENS: Final = 10**9
"""Of a call; who counts more does not count."""

REPLACED: Final = frozenset({"role", "id", "type", "finish_reason", "stop_reason"})
"""Fields whose text a stream repeats; any other text goes on."""

NUMBERED: Final = frozenset({"stop_reason"})
"""Those of them that may be a token's id in place of a text."""

APART: Final = frozenset({"delta", "index", "logprobs"})
"""Fields of a chunk's choice that are read by themselves."""

TOKENS: Final = frozenset({"token_ids", "prompt_token_ids", "meta_info"})
"""Further ones, which a `TokenCapture` keeps."""

OF_CALL: Final = frozenset({"index", "id", "function"})
"""The same of a tool call."""

TEXTS: Final = ("content", "reasoning_content", "reasoning", "refusal")
"""Fields of a message that a stream brings in pieces."""


class Malformed(ValueError):
    """A message is not of its declared kind. The exception is one sentence without its content."""


def require_completion(reply: Mapping[str, Any]) -> dict[str, Any]:
    """The one choice of a completion.

    Raises:
        Malformed: it is no chat completion, or has another number of choices.
    """
    choice = _only_choice(reply)
    if choice is None or not _is_message(choice.get("message")):
        raise _no_completion()
    return choice


def message_of(choice: Mapping[str, Any]) -> dict[str, Any]:
    """The message of a choice, without what is null or empty beside its content."""
    message = choice["message"]
    kept = {name: value for name, value in message.items() if value or value is False or value == 0}
    return {"role": "assistant", "content": message.get("content")} | kept


def finish_of(choice: Mapping[str, Any]) -> str:
    """Its finish reason; "" where it has none."""
    finish = choice.get("finish_reason")
    return finish if isinstance(finish, str) else ""


def usage_of(reply: Mapping[str, Any]) -> TokenUsage:
    """The engine's count of tokens."""
    given = reply.get("usage")
    usage = given if isinstance(given, dict) else {}
    prompt = usage.get("prompt_tokens_details")
    completion = usage.get("completion_tokens_details")
    return TokenUsage(
        input=_count(usage, "prompt_tokens"),
        output=_count(usage, "completion_tokens"),
        cached=_count(prompt, "cached_tokens"),
        reasoning=_count(completion, "reasoning_tokens"),
    )


class Assembly:
    """The completion that the chunks of a stream come to.

    Args:
        strict: whether chunks of one choice alone are taken, of the form of their API, and the
            stream has to end; tokens are left to a `TokenCapture`. Else what has another form is
            left out.
    """

    def __init__(self, *, strict: bool = False) -> None:
        self._strict = strict
        self._head: dict[str, Any] = {}
        self._choices: dict[int, _Choice] = {}

    def add(self, chunk: Mapping[str, Any]) -> None:
        """Take a chunk in.

        Raises:
            Malformed: it is no chunk of one choice.
        """
        if self._strict:
            _require_chunk(chunk)
        for name, value in chunk.items():
            # What is empty takes nothing away: an engine may end a stream with `"usage": {}`.
            if value or (value is not None and not self._head.get(name)):
                self._head[name] = value
        listed = chunk.get("choices")
        for each in listed if isinstance(listed, list) else ():
            if isinstance(each, dict):
                index = each.get("index")
                number = index if isinstance(index, int) else 0
                self._choices.setdefault(number, _Choice(strict=self._strict)).add(each)

    def completion(self) -> dict[str, Any]:
        """The whole of it, in OpenAI's form.

        Raises:
            Malformed: the stream ended before the answer did.
        """
        choices = [choice.whole(index) for index, choice in sorted(self._choices.items())]
        if self._strict and not any(map(finish_of, choices)):
            raise Malformed("the stream ended before the answer did")
        kind = {"object": "chat.completion"} if self._strict or "object" in self._head else {}
        return self._head | {"choices": choices} | kind


def joined(chunks: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The chat completion that the chunks of a stream are pieces of."""
    assembly = Assembly()
    for chunk in chunks:
        assembly.add(chunk)
    return assembly.completion()


class _Choice:
    """One choice of a stream: its message, and what else its chunks say of it."""

    def __init__(self, *, strict: bool) -> None:
        self._strict = strict
        self._message, self._rest = _Pieces(), _Pieces()
        self._calls: dict[int, _Call] = {}
        self._last = -1

    def add(self, choice: Mapping[str, Any]) -> None:
        delta = choice.get("delta")
        delta = delta if isinstance(delta, dict) else {}
        self._message.add({name: delta[name] for name in delta if name != "tool_calls"})
        calls = delta.get("tool_calls")
        for each in calls if isinstance(calls, list) else ():
            if isinstance(each, dict):
                self._last = self._place(each)
                self._calls.setdefault(self._last, _Call()).add(each, strict=self._strict)
        apart = APART | TOKENS if self._strict else APART
        self._rest.add({name: choice[name] for name in choice if name not in apart})
        logprobs = choice.get("logprobs")
        if isinstance(logprobs, dict) and not self._strict:
            # The log-probabilities of each chunk are further ones of the same list.
            self._rest.add(logprobs)

    def _place(self, call: Mapping[str, Any]) -> int:
        """Which call a piece belongs to."""
        index, identity = call.get("index"), call.get("id")
        if not isinstance(index, int):
            identity = identity if isinstance(identity, str) else ""
            known = {each.id: at for at, each in self._calls.items()}
            new = identity or self._last < 0
            index = known.get(identity, len(self._calls)) if new else self._last
        if self._strict and (isinstance(index, bool) or not 0 <= index < MOST_CALLS):
            raise Malformed("the index of a tool call is not a small number")
        return index

    def whole(self, index: int) -> dict[str, Any]:
        message = {"role": "assistant", "content": None} | self._message.whole()
        if self._calls:
            message["tool_calls"] = [call.whole() for _, call in sorted(self._calls.items())]
        if self._calls or self._strict:
            message["content"] = message["content"] or None  # as an answer says it that is whole
        rest = self._rest.whole()
        lists = {name: rest.pop(name) for name in ("content", "refusal") if name in rest}
        logprobs = {"logprobs": lists} if lists else {}
        return {"index": index, "finish_reason": None} | rest | logprobs | {"message": message}


class _Call:
    """One tool call of a stream."""

    def __init__(self) -> None:
        self.id = self._name = ""
        self._rest, self._function = _Pieces(), _Pieces()

    def add(self, call: Mapping[str, Any], *, strict: bool) -> None:
        given = call.get("function")
        function = {"name": ""} | (given if isinstance(given, dict) else {})
        self.id = self.id or (call["id"] if isinstance(call.get("id"), str) else "")
        name = function.pop("name")
        if isinstance(name, str) and name != self._name:
            self._name += name
        if strict and len(self._name) > LONGEST_NAME:
            raise Malformed(f"the name of a tool has more than {LONGEST_NAME} characters")
        self._function.add(function)
        self._rest.add({name: call[name] for name in call if name not in OF_CALL})

    def whole(self) -> dict[str, Any]:
        function = {"name": self._name, "arguments": ""} | self._function.whole()
        return {"id": self.id, "type": "function"} | self._rest.whole() | {"function": function}


class _Pieces:
    """Fields that come in pieces."""

    def __init__(self) -> None:
        self._texts: dict[str, list[str]] = {}
        self._lists: dict[str, list[Any]] = {}
        self._others: dict[str, Any] = {}

    def add(self, fields: Mapping[str, Any]) -> None:
        for name, value in fields.items():
            if name in REPLACED:
                known = str | int if name in NUMBERED else str
                if isinstance(value, known) and value != "":
                    self._others[name] = value
            elif isinstance(value, str):
                self._texts.setdefault(name, []).append(value)
            elif isinstance(value, list):
                self._lists.setdefault(name, []).extend(value)
            elif value is not None:
                self._others[name] = value

    def whole(self) -> dict[str, Any]:
        texts = {name: "".join(pieces) for name, pieces in self._texts.items()}
        return self._others | self._lists | texts


def chunks_of(completion: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A whole completion as the chunks of a stream; the last one has its usage."""
    head = {name: value for name, value in completion.items() if name not in {"choices", "usage"}}
    head["object"] = "chat.completion.chunk"
    (choice,) = completion["choices"]
    message = message_of(choice)
    calls = [
        {"index": index} | call for index, call in enumerate(message.pop("tool_calls", None) or ())
    ]
    delta = message | ({"tool_calls": calls} if calls else {})
    rest = {name: value for name, value in choice.items() if name != "message"}
    yield head | {"choices": [rest | {"delta": delta, "finish_reason": None}]}
    last = {"index": 0, "delta": {}, "finish_reason": finish_of(choice) or "stop"}
    yield head | {"choices": [last]}
    if completion.get("usage"):
        yield head | {"choices": [], "usage": completion["usage"]}


def _no_completion() -> Malformed:
    return Malformed("what was sent is not a chat completion of one choice")


def _only_choice(reply: Mapping[str, Any]) -> dict[str, Any] | None:
    choices = reply.get("choices")
    if not isinstance(choices, list) or len(choices) != 1:
        return None
    (choice,) = choices
    known = isinstance(choice, dict) and choice.get("index", 0) == 0
    return choice if known else None


def _require_chunk(chunk: Mapping[str, Any]) -> None:
    """Let no chunk pass of another form than its API's.

    Raises:
        Malformed: it is one.
    """
    if chunk.get("choices") == []:
        return
    choice = _only_choice(chunk)
    if choice is None:
        raise _no_completion()
    delta = choice.get("delta") or {}
    calls = delta.get("tool_calls") or [] if isinstance(delta, dict) else None
    texts = calls is not None and all(isinstance(delta.get(name), str | None) for name in TEXTS)
    if not texts or not isinstance(calls, list) or not all(map(_is_piece, calls)):
        raise _no_completion()


def _is_piece(call: Any) -> bool:
    function = call.get("function") or {} if isinstance(call, dict) else None
    if not isinstance(function, dict):
        return False
    if not isinstance(call.get("index"), int | None):
        raise Malformed("the index of a tool call is not a small number")
    given = (call.get("id"), function.get("name"), function.get("arguments"))
    return all(isinstance(each or "", str) for each in given)


def _is_message(message: Any) -> bool:
    if not isinstance(message, dict):
        return False
    calls = message.get("tool_calls") or []
    texts = all(isinstance(message.get(name) or "", str) for name in TEXTS)
    few = isinstance(calls, list) and len(calls) <= MOST_CALLS
    return texts and few and all(map(_is_call, calls))


def _is_call(call: Any) -> bool:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        return False
    name = function.get("name")
    if not isinstance(name, str) or len(name) > LONGEST_NAME:
        return False
    return all(isinstance(each or "", str) for each in (call.get("id"), function.get("arguments")))


def _count(usage: Any, name: str) -> int | None:
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if type(value) is int and 0 <= value <= MOST_TOKENS else None


MOST_ID: Final = 2**31
"""Ids are below: engines and trainers keep them in 32 bits."""

ID_BYTES: Final = 7
LOGPROB_BYTES: Final = 20


class Captured(NamedTuple):
    """The tokens of one answer.

    Args:
        trace: None without any.
        reason: why something is missing that the engine began to give; "" where nothing is.
    """

    trace: TokenTrace | None
    reason: str = ""

    @property
    def size(self) -> int:
        """About as many bytes as it takes as JSON."""
        trace = self.trace or TokenTrace()
        ids = len(trace.prompt_ids or ()) + len(trace.completion_ids or ())
        return ID_BYTES * ids + LOGPROB_BYTES * len(trace.logprobs or ())


class TokenCapture:
    """Gathers the tokens of one answer from a completion, or from the chunks of a stream."""

    def __init__(self) -> None:
        self._prompt: list[Any] | None = None
        self._ids: list[Any] | None = None
        self._logprobs: list[Any] | None = None

    def add(self, reply: Mapping[str, Any]) -> None:
        """Read the tokens of a completion, or of a chunk of one."""
        self._prompt = _first(self._prompt, reply.get("prompt_token_ids"))
        for choice in reply.get("choices") or ():
            self._prompt = _first(self._prompt, choice.get("prompt_token_ids"))
            pairs = _pairs(choice)
            if pairs is None:
                self._ids = _more(self._ids, choice.get("token_ids"))
                self._logprobs = _more(self._logprobs, _openai_logprobs(choice))
            else:
                self._logprobs = _more(self._logprobs, [pair[0] for pair in pairs])
                self._ids = _more(self._ids, [pair[1] for pair in pairs])

    def captured(self, counted: int | None) -> Captured:
        """The tokens that are kept.

        Args:
            counted: the tokens that the engine says it wrote; None where it does not.
        """
        gaps: list[str] = []
        prompt = _checked(self._prompt, _is_id, "the prompt's ids", gaps)
        ids = _checked(self._ids, _is_id, "the ids", gaps)
        logprobs = _checked(self._logprobs, _is_number, "the log-probabilities", gaps)
        if ids is None and logprobs is not None:
            logprobs = None
            gaps.append("log-probabilities came without ids")
        if ids is not None and counted is not None and len(ids) != counted:
            return Captured(None, f"{MISALIGNED}: {len(ids)} ids for {counted} counted tokens")
        if prompt is None and ids is None:
            return Captured(None, "; ".join(gaps))
        try:
            trace = TokenTrace(
                prompt_ids=prompt,
                completion_ids=ids,
                logprobs=None if logprobs is None else tuple(map(float, logprobs)),
            )
        except MisalignedTokens as error:
            return Captured(None, f"{MISALIGNED}: {error}")
        return Captured(trace, "; ".join(gaps))


def _pairs(choice: Mapping[str, Any]) -> list[Any] | None:
    """SGLang's: a list of log-probability, id and text."""
    info = choice.get("meta_info")
    pairs = info.get("output_token_logprobs") if isinstance(info, dict) else None
    if not isinstance(pairs, list):
        return None
    return [pair if isinstance(pair, list) and len(pair) > 1 else (None, None) for pair in pairs]


def _openai_logprobs(choice: Mapping[str, Any]) -> list[Any] | None:
    logprobs = choice.get("logprobs")
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    if not isinstance(content, list):
        return None
    return [each.get("logprob") if isinstance(each, dict) else None for each in content]


def _first(known: list[Any] | None, given: Any) -> list[Any] | None:
    return given if known is None and isinstance(given, list) else known


def _more(known: list[Any] | None, given: Any) -> list[Any] | None:
    if not isinstance(given, list):
        return known
    if known is None:
        return list(given)
    known += given
    return known


def _checked(
    values: list[Any] | None, valid: Callable[[Any], bool], what: str, gaps: list[str]
) -> tuple[Any, ...] | None:
    """The whole list, or None where one entry is not valid."""
    if values is None:
        return None
    if not all(map(valid, values)):
        gaps.append(f"one of {what} is null or not valid")
        return None
    return tuple(values)


def _is_id(value: Any) -> bool:
    return type(value) is int and 0 <= value < MOST_ID


def _is_number(value: Any) -> bool:
    return type(value) in {int, float} and -1e300 < value < 1e300  # noqa: PLR2004 - JSON's 1e999
