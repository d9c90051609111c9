"""Where in a reward's own code an exception came from: what its author needs to find a bug.

The frames of a traceback lead from this command through the library into the reward's module, and
often on into the standard library. The innermost of that module is the line its author wrote.
"""

from __future__ import annotations

from pathlib import Path
from traceback import walk_tb
from typing import TYPE_CHECKING, Final

from reward_functions.core.errors import PartFailed, RewardError
from reward_functions.core.spec import RewardSpec

if TYPE_CHECKING:
    from types import FrameType

CORE: Final = "reward_functions.core."
"""Between a reward that combines others and those."""


def complaint(error: BaseException) -> str:
    """An exception's message, and where it came from unless it was raised on purpose."""
    if isinstance(error, PartFailed) and str(error.__cause__ or ""):
        return f"{error}: {error.__cause__}"
    where = None if isinstance(error, RewardError) else origin(error)
    return " ".join([part for part in (str(error), where and f"({where})") if part])


def origin(error: BaseException) -> str | None:
    """`FILE, line N` of the innermost frame in the reward's own module; None outside of rewards."""
    calls = RewardSpec.__call__.__code__
    own, inside, found = None, False, None
    for frame, line in walk_tb(error.__traceback__):
        if frame.f_code is calls:
            own, inside = None, True
        elif inside and own is None and not _in_core(frame):
            own = frame.f_globals
        if inside and own is frame.f_globals:
            found = f"{Path(frame.f_code.co_filename).name}, line {line}"
    return found


def exit_message(error: SystemExit) -> str:
    """What a reward's code did that asked for the end of the command, and where."""
    return f"{origin(error) or 'a reward'}: called sys.exit({error.code!r})"


def _in_core(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__")).startswith(CORE)
