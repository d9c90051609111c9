"""Calling an agent, however it is written.

| an agent is | called |
| --- | --- |
| a function, sync or async, a generator or an async generator | as it is |
| a `functools.partial`, a bound method, an object with `__call__` | likewise |
| an object with `run` or `arun` and no `__call__` | by that method: one object for all rollouts |
| a class | by `__call__`, `run` or `arun` of a new instance for each rollout: nothing is shared |
| a method, decorated in its class | with its `self` |

| its second parameter | gets |
| --- | --- |
| `context` | what the caller passed, as AgentCore and Lambda do; else our `RolloutContext` |
| any other name, such as `ctx` or `rollout` | our `RolloutContext` |
| one that has a default, and no name of `CONTEXTS` | nothing: it keeps its default |
| one of `CONTEXTS` whose default is not None, as a partial binds it | likewise |
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence
    from contextvars import Context

Shape = Literal["function", "coroutine", "generator", "async generator"]

METHODS: Final = ("__call__", "run", "arun")
"""Of an agent's object, in this order: the first it has."""

PAYLOAD, CONTEXT = "payload", "context"

CONTEXTS: Final = frozenset({CONTEXT, "ctx", "rollout", "episode", "rft_context"})
"""Names of a second parameter that gets a context although it has a default."""

_POSITIONAL: Final = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_COLLECTING: Final = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of an agent, as its caller made it.

    Args:
        owner: the `self` of a decorated method, or nothing.
        payload: what the trainer sent.
        context: what the caller passed beside it; None where nothing.
    """

    owner: tuple[Any, ...] = ()
    payload: Any
    context: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """An agent, and how it is called.

    Args:
        function: takes the payload, and the second parameter if there is one.
        name: for logs.
        shape: of the function.
        signature: the visible one.
        methods: 1 where a `self` comes first, else 0.
        first: the name of the payload's parameter; "" where it is positional.
        second: the parameter beside it that gets a context, or None.
    """

    function: Callable[..., Any]
    name: str
    shape: Shape
    signature: inspect.Signature
    methods: int = 0
    first: str = ""
    second: inspect.Parameter | None = None

    def read(self, positional: Sequence[Any], named: Mapping[str, Any]) -> Call:
        """A call from its arguments: the payload, and perhaps a context, by place or by name.

        Raises:
            TypeError: others, or too many or too few.
        """
        owner, given = positional[: self.methods], positional[self.methods :]
        names = {self.first: PAYLOAD, PAYLOAD: PAYLOAD, CONTEXT: CONTEXT}
        if self.second is not None:
            names[self.second.name] = CONTEXT
        found = dict(zip((PAYLOAD, CONTEXT), given, strict=False))
        for name, value in named.items():
            if name not in names or names[name] in found:
                raise TypeError(f"{self.name}() got an unexpected argument {name!r}")
            found[names[name]] = value
        if PAYLOAD not in found or len(given) > len((PAYLOAD, CONTEXT)):
            raise TypeError(
                f"{self.name}() takes a payload and perhaps a context, not {len(given)} arguments"
            )
        return Call(owner=tuple(owner), **found)

    def start(self, call: Call, episode: Any) -> Any:
        """Call the agent: its result, or the coroutine or generator that it is.

        Args:
            call: as the caller made it.
            episode: our context.
        """
        arguments = [*call.owner, call.payload]
        if self.second is None:
            return self.function(*arguments)
        passed = self.second.name == CONTEXT and call.context is not None
        second = call.context if passed else episode
        if self.second.kind is inspect.Parameter.KEYWORD_ONLY:
            return self.function(*arguments, **{self.second.name: second})
        return self.function(*arguments, second)


def agent_of(given: Any) -> Agent:
    """An agent from any form that you write.

    Raises:
        TypeError: it cannot be called with a payload, or needs more than one argument beside it.
    """
    name = name_of(given)
    if isinstance(given, type):
        method = _method_of(given)
        function, methods = getattr(given, method), 0
        signature = _without_self(inspect.signature(function))
        call: Callable[..., Any] = partial(_on_new_instance, given, method)
    else:
        call = function = given if callable(given) else getattr(given, _method_of(type(given)))
        signature = inspect.signature(call)
        methods = int(next(iter(signature.parameters), "") == "self")
    first, second = _parameters(signature, methods, name)
    return Agent(
        function=call,
        name=name,
        shape=_shape(function),
        signature=signature,
        methods=methods,
        first=first,
        second=second,
    )


def _on_new_instance(owner: type, method: str, *arguments: Any, **named: Any) -> Any:
    return getattr(owner(), method)(*arguments, **named)


def _method_of(owner: type) -> str:
    """The method an object is called by; a class itself has a `__call__` that makes instances."""
    defined = {name for each in owner.__mro__ for name in vars(each)}
    for name in METHODS:
        if name in defined:
            return name
    raise TypeError(f"{owner.__name__} is no agent: it has none of {', '.join(METHODS)}")


def _without_self(signature: inspect.Signature) -> inspect.Signature:
    return signature.replace(parameters=list(signature.parameters.values())[1:])


def _parameters(
    signature: inspect.Signature, methods: int, name: str
) -> tuple[str, inspect.Parameter | None]:
    """The name of the payload's parameter, and the parameter that gets a context."""
    every = list(signature.parameters.values())[methods:]
    named = [each for each in every if each.kind not in _COLLECTING]
    positional = [each for each in named if each.kind in _POSITIONAL]
    collects = any(each.kind is inspect.Parameter.VAR_POSITIONAL for each in every)
    needed = [each for each in named if each.default is each.empty]
    if (not positional and not collects) or len(needed) > len((PAYLOAD, CONTEXT)):
        raise TypeError(
            f"{name}{signature} is no agent: it takes a payload and at most one argument beside it"
        )
    others = [each for each in named if each not in positional[:1]]
    second = next((each for each in others if each in needed), None)
    named_so = (each for each in others if each.name in CONTEXTS and each.default is None)
    free = next(named_so, None)
    return (positional[0].name if positional else ""), second or free


def name_of(given: Any) -> str:
    """The name of a function, also inside a partial; of another object that of its class."""
    named = _unbound(given)
    return str(getattr(named, "__name__", "") or type(named).__name__)


def _unbound(function: Any) -> Any:
    while isinstance(function, partial):
        function = function.func
    return function


def _shape(function: Any) -> Shape:
    function = _unbound(function)
    if not inspect.isroutine(function):
        function = type(function).__call__
    if inspect.iscoroutinefunction(function):
        return "coroutine"
    if inspect.isasyncgenfunction(function):
        return "async generator"
    return "generator" if inspect.isgeneratorfunction(function) else "function"


class Steps:
    """A generator, or what awaits a coroutine, each of whose steps runs in one Context.

    `yield from` it runs the code to its end, wherever the caller's next steps come from: Starlette
    takes every item of a generator in another copy of its context.

    Attributes:
        last: the item that it yielded last.
    """

    def __init__(self, inner: Generator[Any, Any, Any], context: Context) -> None:
        self.last: Any = None
        self._inner = inner
        self._context = context

    def __iter__(self) -> Steps:
        return self

    def __next__(self) -> Any:
        return self.send(None)

    def send(self, value: Any) -> Any:
        """The next item, after a value was sent in."""
        self.last = self._context.run(self._inner.send, value)
        return self.last

    def throw(self, *error: Any) -> Any:
        """The next item, after an exception was thrown in."""
        self.last = self._context.run(self._inner.throw, *error)
        return self.last

    def close(self) -> None:
        """End it where it stands."""
        self._context.run(self._inner.close)


class InContext:
    """An awaitable whose code runs in one Context, whichever task awaits it."""

    def __init__(self, awaitable: Any, context: Context) -> None:
        self._awaitable = awaitable
        self._context = context

    def __await__(self) -> Generator[Any, Any, Any]:
        return (yield from Steps(self._awaitable.__await__(), self._context))
