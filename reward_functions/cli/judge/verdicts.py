"""`reward judge verdicts`: what is kept, and how to be rid of it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from reward_functions.cli._console import cell, facts, output
from reward_functions.cli._verdicts import Verdicts, default_store
from reward_functions.core.errors import ConfigurationError
from reward_functions.judge_runtime.verdict_store import VerdictStore


def verdicts(
    *,
    file: Verdicts = None,
    clear: Annotated[bool, typer.Option("--clear", help="Remove them.")] = False,
    older: Annotated[
        float, typer.Option("--older", min=0, metavar="DAYS", help="Remove only older ones.")
    ] = 0.0,
) -> None:
    """Show how many verdicts `reward score` keeps, and where; remove them with --clear.

    A verdict is removed after 90 days by itself. The file holds no prompt and no response; a
    judge's reasons in it may quote them.

    Exit status: 0, or 2 where the file cannot be used.
    """
    if older and not clear:
        raise ConfigurationError("--older says which ones --clear removes: add --clear")
    path = file or default_store()
    if not path.exists():
        output().print(facts({"file": cell(str(path)), "verdicts": cell("0")}))
        return
    store = VerdictStore(path)
    try:
        removed = store.clear(older) if clear else None
        held = store.holdings()
    finally:
        store.close()
    if store.failure:
        raise ConfigurationError(store.failure)
    oldest = None
    if held.oldest is not None:
        oldest = datetime.fromtimestamp(held.oldest, UTC).strftime("%Y-%m-%d %H:%M UTC")
    shown = {
        "file": cell(str(path)),
        "verdicts": cell(f"{held.verdicts:,}"),
        "oldest": cell(oldest),
        "bytes": cell(f"{held.size:,}"),
    }
    if removed is not None:
        shown["removed"] = cell(f"{removed:,}")
    output().print(facts(shown))
