"""What two environments restored from one snapshot must not share, made anew (Lambda's SnapStart).

Lambda starts a function once, keeps the memory of its virtual machine, and begins every environment
as a copy of that. What was drawn, opened or read off a clock before is the same in all of them. So
the handler ends before the snapshot what cannot be copied, and makes anew behind it

    random numbers      of `random`, of numpy's own generator, of `tempfile`'s names
    what a judge keeps  connections, keys, credentials, rate limits, the secret of its marks
    sympy's process     which is ended before: a snapshot in the middle of its start would start all
    a reward's child    which is ended before: the first batch forks another

What a package of yours draws or opens while it is imported is its own affair, and so is what its
judge keeps of the first example: its hooks register the same way. `os.urandom`, and so `secrets`
and `uuid4`, differ by themselves.

Source: "Lambda SnapStart runtime hooks for Python" and "Handling uniqueness with Lambda SnapStart"
in the Lambda developer guide: hooks run in the reverse order of registration before the snapshot,
in that order behind it, and those behind it have ten seconds.
"""

from __future__ import annotations

import random
import sys
from typing import Protocol


class Copied(Protocol):
    """What becomes a snapshot: a `serving.handler.Handler`."""

    def suspend(self) -> None:
        """End what no snapshot can hold."""

    def resume(self) -> None:
        """Begin anew with what was ended, or grew old."""


def register(handler: Copied) -> None:
    """Have Lambda call `handler.suspend` before the snapshot, and behind each restoration `renew`.

    Raises:
        ModuleNotFoundError: the runtime has no hooks, and what came of a snapshot would be unsafe.
    """
    from snapshot_restore_py import (  # noqa: PLC0415 - in Lambda's runtime alone
        register_after_restore,
        register_before_snapshot,
    )

    register_before_snapshot(handler.suspend)
    register_after_restore(renew, handler)


def renew(handler: Copied) -> None:
    """Make anew what copies must not share: first the random numbers, which the rest may draw.

    Raises:
        BadJudge: a judge's key can no longer be read, say.
    """
    reseed()
    handler.resume()


def reseed() -> None:
    """Seed every generator of random numbers that is loaded from the operating system."""
    random.seed()
    if numbers := sys.modules.get("numpy.random"):
        numbers.seed()
    if files := sys.modules.get("tempfile"):
        # It reseeds by the process's id alone, which a restored process has kept.
        files._name_sequence = None  # type: ignore[attr-defined]  # noqa: SLF001
