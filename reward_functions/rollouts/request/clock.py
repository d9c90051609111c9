"""The time of a process, which nobody can set.

Deadlines, leases and due dates are compared with `steady`: the seconds since the epoch as they were
when this process began, carried on by the monotonic clock. Setting the machine's clock changes
nothing in a process that runs. Between processes the outbox translates: see `outbox`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")
"""Linux's name of this start of the machine."""


AGREED: Final = 5.0
"""Seconds by which two clocks may differ and are still taken for one: a reply's date has seconds,
and a network its delays."""


@dataclass(frozen=True, slots=True)
class Clock:
    """Seconds since the epoch that only ever go on.

    Args:
        epoch: seconds since the epoch when the monotonic clock was 0.
        boot: names the start of the machine, within which processes share the monotonic clock; ""
            where the system does not say.
    """

    epoch: float
    boot: str = ""

    def __call__(self) -> float:
        """The time."""
        return self.epoch + time.monotonic()


def _boot() -> str:
    try:
        return BOOT_ID.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""


steady: Final = Clock(time.time() - time.monotonic(), _boot())
"""This process's."""


def wall(moment: float) -> float:
    """A moment of `steady` as the machine's clock has it now: for what other machines read."""
    return moment + _set_by()


def from_wall(moment: float) -> float:
    """A moment of the machine's clock as `steady` has it: of what another machine wrote."""
    return moment - _set_by()


def _set_by() -> float:
    """Seconds by which the machine's clock was set since this process began."""
    found = time.time() - steady()
    return found if abs(found) > AGREED else 0.0
