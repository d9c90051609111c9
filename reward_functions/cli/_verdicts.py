"""The verdicts that commands keep: where, and for how long.

| option | where |
| --- | --- |
| none | `verdicts.sqlite3` in `XDG_STATE_HOME/reward-functions`, else `~/.local/state/…` |
| `--verdicts FILE` | there |
| `--no-verdicts` | nowhere: every question is asked |

A default place that cannot be written to is said once, and costs the run nothing.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from reward_functions.cli._console import remark
from reward_functions.core.errors import BadJudge, ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.core.spec import RewardSpec
    from reward_functions.judge_runtime.verdict_store import VerdictStore

VARIABLE: Final = "RFT_VERDICTS"

Verdicts = Annotated[
    Path | None,
    typer.Option(
        "--verdicts",
        metavar="FILE",
        envvar=VARIABLE,
        show_envvar=True,
        help="Where a judge's verdicts are kept: none is asked for twice, by no run.",
        show_default="verdicts.sqlite3 in the user's state folder",
    ),
]
NoVerdicts = Annotated[
    bool,
    typer.Option("--no-verdicts", help="Keep no verdicts, and ask for all of them anew."),
]


def default_store() -> Path:
    """Where verdicts are kept unless somebody says otherwise.

    A relative `XDG_STATE_HOME` is not used, as the XDG Base Directory Specification wants it.
    """
    state = Path(os.environ.get("XDG_STATE_HOME", ""))
    if not state.is_absolute():
        state = Path("~/.local/state").expanduser()
    return state / "reward-functions" / "verdicts.sqlite3"


@contextmanager
def opened_store(
    spec: RewardSpec, file: Path | None, *, none: bool = False
) -> Iterator[VerdictStore | None]:
    """The store of a command; None where the reward asks nobody, or nothing is to be kept.

    Args:
        spec: the reward.
        file: as `--verdicts` names it.
        none: whether nothing is to be kept.

    Raises:
        ConfigurationError: a file is named, and nothing is to be kept.
        BadJudge: the named file cannot be used.
    """
    if none and file is not None and os.environ.get(VARIABLE) != str(file):
        raise ConfigurationError("--no-verdicts keeps none: leave --verdicts out")
    if none or not spec.needs.judge:
        yield None
        return
    from reward_functions.judge_runtime.verdict_store import VerdictStore

    try:
        store = VerdictStore(file or default_store())
    except (BadJudge, RuntimeError) as error:  # the second: nobody's home
        if file is not None:
            raise
        say(f"{error}; this run keeps no verdicts")
        yield None
        return
    try:
        yield store
    finally:
        if store.failure:
            say(f"not all verdicts are kept: {store.failure}")
        store.close()


def kept_verdicts(count: int) -> str:
    """What an interrupt says about a judge's verdicts; "" where none are kept."""
    if not count:
        return ""
    return "1 verdict is kept" if count == 1 else f"{count:,} verdicts are kept"


def calls_left(count: int) -> str:
    """What an interrupt says about calls that had no answer; "" where there are none."""
    if not count:
        return ""
    was = "1 call was" if count == 1 else f"{count:,} calls were"
    return f"; {was} left without an answer, and may be billed"


def say(message: str) -> None:
    """Print a sentence on standard error."""
    remark(message)
