"""The stages that `cdk.json` of this folder writes, as far as it can be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def emulator_hint() -> str:
    """How to point this shell at the emulator; "" where no stage of `cdk.json` is for one."""
    names = [name for name, given in written_stages().items() if given.get("emulated") is True]
    if not names:
        return ""
    return (
        f'; the stage {names[0]!r} is on the local emulator: `eval "$(reward local up '
        '--print-env)"` points this shell at it'
    )


def written_stages() -> Mapping[str, dict[str, Any]]:
    """The stages of `cdk.json`, each with the region of the one that it extends."""
    written = written_context().get("stages")
    stages = written if isinstance(written, dict) else {}
    found = {name: given for name, given in stages.items() if isinstance(given, dict)}
    return {name: _extended(found, name) for name in found}


def _extended(stages: Mapping[str, dict[str, Any]], name: str) -> dict[str, Any]:
    chain = [name]
    while "region" not in stages[chain[-1]]:
        base = stages[chain[-1]].get("extends")
        if not isinstance(base, str) or base in chain or base not in stages:
            return stages[name]
        chain.append(base)
    return stages[name] | {"region": stages[chain[-1]]["region"]}


def written_context() -> dict[str, Any]:
    """The context of `cdk.json` in this folder; empty where it cannot be read.

    The commands that deploy say what is wrong with it.
    """
    try:
        found = json.loads(Path("cdk.json").read_text(encoding="utf-8-sig"))
        context = found["context"]
    except (OSError, ValueError, RecursionError, LookupError, TypeError):
        return {}
    return context if isinstance(context, dict) else {}
