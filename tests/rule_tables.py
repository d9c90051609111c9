"""The rule tables of the pages, one for each table of the registry (`math-rules-units`)."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from reward_functions.reports.rules.registry import FOLDER, Rule, rows

if TYPE_CHECKING:
    from collections.abc import Iterator

PLACE: Final = "../reward_functions"

FIELDS: Final = {"answer": "answer", "exe_ans": "value", "question": "question"}
"""The fields of a FinQA record that have a column each."""


def table(reward: str, name: str) -> Iterator[list[str]]:
    """One table of a reward's page."""
    rules = [rule for rule in rows(reward) if rule.table == name]
    prompted = any(rule.prompt for rule in rules)
    given = list(reference(rules[0])) + (["prompt"] if prompted else [])
    yield ["rule", "what it says", "why", *given, "response", "score", "where"]
    for rule in rules:
        shown = reference(rule) | ({"prompt": rule.prompt} if prompted else {})
        yield [
            code(rule.id),
            rule.statement,
            rule.why,
            *(code(shown[key]) for key in given),
            code(rule.response),
            f"{rule.score:g}",
            place(rule),
        ]


def reference(rule: Rule) -> dict[str, Any]:
    """The cells of a reference by their headings."""
    if isinstance(rule.reference, dict):
        return {heading: rule.reference.get(key, "") for key, heading in FIELDS.items()}
    given = rule.reference
    return {"reference": given if isinstance(given, str) else json.dumps(given)}


def place(rule: Rule) -> str:
    """A link to the function that applies a rule."""
    path, function = rule.where.split("::")
    return f"[{code(function)}]({PLACE}/{path})"


def code(text: str) -> str:
    """A cell as code, on one line; nothing where it is empty."""
    return f"`{text.replace(chr(10), ' ⏎ ')}`" if text else ""


TABLES: Final = {
    f"{reward}-rules-{name}": partial(table, reward, name)
    for reward in sorted(file.stem for file in FOLDER.glob("*.toml"))
    for name in dict.fromkeys(rule.table for rule in rows(reward))
}
