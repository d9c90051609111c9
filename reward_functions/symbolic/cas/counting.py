"""How much a request computes, in calls of Python functions: a number that no clock enters.

The same request makes the same calls on every machine that runs the same Python, however busy it
is. From Python 3.12 on, `sys.monitoring` reports them, which makes a request 16 to 24 % slower; on
3.11 tracing makes it twice as slow. The numbers of two Pythons differ by up to a sixth: some
releases compile a comprehension as a call, and others do not.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def limit_calls(limit: int, over: Callable[[], object]) -> None:
    """Count the calls that this thread makes from now on.

    Args:
        limit: calls that are free.
        over: is called at the next one. sympy catches many exceptions, so that it should end the
            process and not raise.
    """
    left = limit

    def count(_code: object, _event: object, _arg: object = None) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            over()

    if sys.version_info >= (3, 12):
        monitoring = sys.monitoring
        monitoring.use_tool_id(monitoring.PROFILER_ID, "limit_calls")
        monitoring.register_callback(monitoring.PROFILER_ID, monitoring.events.PY_START, count)
        monitoring.set_events(monitoring.PROFILER_ID, monitoring.events.PY_START)
    else:
        sys.settrace(count)  # returns None, so that no line is traced
