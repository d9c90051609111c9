"""Trace the acts of a rollout: nothing, unless `telemetry.use` has been called.

Everything here reports to one hook. Without one, a span costs a call that returns `NOTHING`, and
OpenTelemetry is not imported.

| span | of |
| --- | --- |
| `rollout` | an episode, until its report is settled or left to the outbox |
| `policy.call` | one attempt of a policy call, streams until their end |
| `tool` | a tool that ran |
| `reward.compute` | a pinned reward that scores an episode |
| `feedback.complete`, `feedback.reward` | one attempt of a report |

Attributes are ids, counts, rewards and states: never a prompt, a response, an argument or a token.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


class Span(Protocol):
    """What is being traced."""

    def set(self, attributes: Mapping[str, Any], /) -> None:
        """Add attributes; those that are None are left out."""

    def current(self) -> AbstractContextManager[None]:
        """A block whose spans are children of this one."""

    def end(self, error: BaseException | None = None, /) -> None:
        """It is over; what it failed with is shown by its type."""


class Hook(Protocol):
    """Where spans and figures go."""

    def begin(self, name: str, attributes: Mapping[str, Any], began: float | None, /) -> Span:
        """A span; its parent is the current one. `began` is in seconds since the epoch."""

    def add(self, name: str, number: float, attributes: Mapping[str, Any], /) -> None:
        """Add a number to a figure of this name."""

    def watch(self, name: str, read: Callable[[], float | None], /) -> None:
        """Read a figure whenever figures are exported."""


class _Nothing:
    """A span that nobody traces, and a hook that keeps nothing."""

    def set(self, _attributes: Mapping[str, Any], /) -> None:
        pass

    def current(self) -> AbstractContextManager[None]:
        return _NO_BLOCK

    def end(self, _error: BaseException | None = None, /) -> None:
        pass

    def begin(self, _name: str, _attributes: Mapping[str, Any], _began: float | None, /) -> Span:
        return self

    def add(self, _name: str, _number: float, _attributes: Mapping[str, Any], /) -> None:
        pass

    def watch(self, _name: str, _read: Callable[[], float | None], /) -> None:
        pass


_NO_BLOCK: Final = nullcontext()
NOTHING: Final = _Nothing()


class _Switch:
    """The hook of this process."""

    hook: Hook = NOTHING


def use(hook: Hook | None) -> None:
    """Report to a hook from now on; to none where None."""
    _Switch.hook = hook or NOTHING


def tracing() -> bool:
    """Whether anybody looks."""
    return _Switch.hook is not NOTHING


def begin(name: str, attributes: Mapping[str, Any], *, began: float | None = None) -> Span:
    """A span that its caller ends.

    Args:
        name: of the table above.
        attributes: those that are None are left out.
        began: seconds since the epoch; None for now.
    """
    return _Switch.hook.begin(name, attributes, began)


@contextmanager
def span(name: str, attributes: Mapping[str, Any]) -> Iterator[Span]:
    """A span for a block, and the parent of those that begin in it."""
    made = begin(name, attributes)
    error: BaseException | None = None
    try:
        with made.current():
            yield made
    except BaseException as raised:
        error = raised
        raise
    finally:
        made.end(error)


def add(name: str, number: float, attributes: Mapping[str, Any]) -> None:
    """Add a number to a figure: a counter, or a histogram."""
    _Switch.hook.add(name, number, attributes)


def watch(name: str, read: Callable[[], float | None]) -> None:
    """Have a figure read whenever figures are exported; it has no value where it is None."""
    _Switch.hook.watch(name, read)
