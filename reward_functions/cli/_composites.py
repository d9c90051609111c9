"""The parts of a composite as `reward show` and `reward explain` print them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reward_functions.cli._console import cell, table
from reward_functions.cli._results import number
from reward_functions.reports.rules.registry import rule_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.table import Table

    from reward_functions import RewardSpec
    from reward_functions.core.parts import Part
    from reward_functions.core.types import Score


def parts_table(spec: RewardSpec) -> Table:
    """The parts of a composite, those of its composites below them."""
    shown = table(
        "part", "reward", "version", "parameters", title="Parts", names=("part", "reward")
    )
    for name, part in _all_parts(spec):
        values = ", ".join(f"{key}={value!r}" for key, value in part.parameters.items())
        version = cell(str(part.spec.version) if part.spec.version else "prototype")
        shown.add_row(name, part.spec.name, version, values or None)
    return shown


def _all_parts(spec: RewardSpec, within: str = "") -> Iterator[tuple[str, Part]]:
    parts: tuple[Part, ...] = getattr(spec.function, "parts", ())
    for part in parts:
        yield f"{within}{part.name}", part
        yield from _all_parts(part.spec, f"{within}{part.name} > ")


def explained_parts(spec: RewardSpec, score: Score) -> Table:
    """What each part of a composite made of the response, and by which rule."""
    shown = table(
        *("part", "score", "answer", "reason", "rule"),
        title="Parts",
        names=("part",),
        numbers=("score",),
    )
    specs = {name: part.spec for name, part in _all_parts(spec)}
    ran = dict(_all_scores(score))
    for name, own in specs.items():
        found = ran.get(name)
        if found is None:
            shown.add_row(name, None, None, cell("not needed", "dim"), None)
            continue
        named = found.evidence.rule if found.evidence and not found.parts else ""
        rule = rule_of(own.name, named)
        shown.add_row(
            name,
            number(found.value),
            found.answer,
            found.reason or None,
            rule.statement if rule else named or None,
        )
    return shown


def _all_scores(score: Score, within: str = "") -> Iterator[tuple[str, Score]]:
    for name, part in score.parts:
        yield f"{within}{name}", part
        yield from _all_scores(part, f"{within}{name} > ")
