"""How much a request computes, in calls of Python functions: a number that no clock enters.

The same request makes the same calls on every machine that runs the same Python, however busy it
is. From Python 3.12 on, `sys.monitoring` reports them, which makes a request 16 to 24 % slower; on
3.11 tracing makes it twice as slow. The numbers of two Pythons differ by up to a sixth: some
releases compile a comprehension as a call, and others do not.

A call counts for more where it does the work of many (`weights`).
"""

from __future__ import annotations

import sys
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import CodeType, FrameType

    Weight = Callable[[Mapping[str, Any]], int]
    Weights = Mapping[CodeType, Weight]

NONE: Final[Weights] = MappingProxyType({})


def limit_calls(
    limit: int,
    over: Callable[[], object],
    weights: Weights = NONE,
) -> None:
    """Count the calls that this thread makes from now on.

    Args:
        limit: calls that are free.
        over: is called at the next one. sympy catches many exceptions, so that it should end the
            process and not raise.
        weights: what a call of some functions counts for beyond one, by its arguments.
    """
    left = limit
    weight_of = weights.get

    def started(code: CodeType, _offset: int) -> None:
        nonlocal left
        weight = weight_of(code)
        left -= 1 if weight is None else 1 + weight(sys._getframe(1).f_locals)  # noqa: SLF001
        if left < 0:
            over()

    def traced(frame: FrameType, _event: str, _arg: object) -> None:
        nonlocal left
        weight = weight_of(frame.f_code)
        left -= 1 if weight is None else 1 + weight(frame.f_locals)
        if left < 0:
            over()

    if sys.version_info >= (3, 12):
        monitoring = sys.monitoring
        monitoring.use_tool_id(monitoring.PROFILER_ID, "limit_calls")
        monitoring.register_callback(monitoring.PROFILER_ID, monitoring.events.PY_START, started)
        monitoring.set_events(monitoring.PROFILER_ID, monitoring.events.PY_START)
    else:
        sys.settrace(traced)  # returns None, so that no line is traced
