"""The gates: commands whose exit status says whether something may be relied on.

`GATES` is what the documentation says. The files `test_gates.py` below `tests/cli` try it, and of a
probe and of a preflight without rows the tests beside theirs. None stands for a
case that a command cannot meet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from typer.testing import Result

EMPTY, UNSCORED, INVALID, HALF = CASES = (
    "no rows",
    "nothing is scored",
    "everything is invalid",
    "half is invalid",
)
"""What a gate is given. Invalid is a row that is no sample, a verdict that is not legal, or a
function's result that is no score."""

GATES: Final[dict[str, tuple[int | None, int | None, int | None, int | None]]] = {
    "audit": (2, 2, 2, 1),
    "score": (2, 2, 2, 1),
    "runs watch": (2, 2, 2, 1),
    "runs resume": (2, 2, 2, 1),
    "invoke": (2, 2, None, 1),
    "data convert": (2, None, 1, 1),
    "judge probe": (None, 2, 1, 1),
    "deployed invoke": (2, 2, 2, 1),
    "job baseline": (2, 2, 2, 1),
    "job preflight": (1, 1, 1, 1),
    "job evaluate": (2, 2, 2, 1),
    "rollouts run": (2, 2, None, 1),
}
"""The exit status of each case."""


def cases(*commands: str) -> list[tuple[str, str, int]]:
    """Every case of these commands, with its status."""
    return [
        (command, case, status)
        for command in commands
        for case, status in zip(CASES, GATES[command], strict=True)
        if status is not None
    ]


def ended_with(ran: Result, status: int) -> None:
    """Assert that a command ended with this status by itself, and not by an exception."""
    assert ran.exit_code == status, ran.output
    assert ran.exception is None or isinstance(ran.exception, SystemExit), ran.exception


def table() -> str:
    """The table of the documentation."""
    lines = [f"| command | {' | '.join(CASES)} |", "| --- |" + " --- |" * len(CASES)]
    for command, statuses in GATES.items():
        shown = " | ".join("–" if status is None else str(status) for status in statuses)
        lines.append(f"| `reward {command}` | {shown} |")
    return "\n".join(lines)
