"""The registry of rules: the rows that the pages of the rewards print, and that verdicts name.

The evidence of a score carries the id of the rule that decided. A rule that only says how something
is read ("a comma before three digits groups them") has a row as well; another one decides its
example. Rows are data in the files beside this module; nothing that scores reads them.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER: Final = Path(__file__).parent


class Rule(NamedTuple):
    """One rule of a reward.

    Attributes:
        id: its name, unique in the reward: what the evidence of a score carries.
        table: the table of the reward's page that it stands in.
        statement: what it says, one sentence.
        why: why it is so, one sentence.
        response: the response of an example.
        score: what the example earns.
        where: the file and the function that apply it, `finqa/final.py::final`, below the package.
        reference: the reference of the example.
        prompt: the prompt of the example; "" where it needs none.
        parameters: of the reward, for the example.
    """

    id: str
    table: str
    statement: str
    why: str
    response: str
    score: float
    where: str
    reference: Any = None
    prompt: str = ""
    parameters: Mapping[str, Any] = MappingProxyType({})


SHARED: Final = "extraction"
"""The rules of what a response says is its answer, which all verifiers share."""


@cache
def rows(name: str) -> tuple[Rule, ...]:
    """The rows of one file in the order of its page: a reward's own, or those of `SHARED`."""
    text = (FOLDER / f"{name}.toml").read_text(encoding="utf-8")
    return tuple(Rule(**row) for row in tomllib.loads(text)["rule"])


def rule_of(reward: str, rule: str) -> Rule | None:
    """The rule of an id; None where the registry has none of it, as for a reward of one's own."""
    if not (FOLDER / f"{reward}.toml").is_file():
        return None
    return next((row for row in (*rows(reward), *rows(SHARED)) if row.id == rule), None)
