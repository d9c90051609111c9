"""Variables that look like keys: people who may look at a function or at a runtime read them.

A guess by name and value, so that it is a warning and no refusal, and shows names alone.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reward_functions.cdk.model.stages import Stage

KEYS: Final = re.compile(
    r"-----BEGIN |(?:AKIA|ASIA)[A-Z0-9]{16}|sk-|gh[a-z]_|github_pat_|glpat-|hf_|xox[a-z]-|eyJ[\w-]"
)
"""How keys begin that say what they are: PEM's, AWS's, and those of services; JSON web tokens."""

NAMED: Final = frozenset("key apikey secret password passwd token credential credentials".split())
"""Words of a variable's name, in lower case."""

SHORTEST: Final = 16
"""Characters of a key that says nothing of itself."""

ADDRESS: Final = re.compile(r"arn:|env:|[\w+.-]+://|[./~]|[\d.]+$")
"""How values begin that say where something is, or are numbers."""

SENTENCE: Final = (
    "{where}: the value of {name} looks like a key, and all who may look at its configuration "
    "read it: keep it in Secrets Manager{remedy}"
)


def exposed(stage: Stage) -> Iterator[str]:
    """A sentence for each variable of a stage's functions and agents that looks like a key."""
    in_secrets = ", and name its ARN in `secrets`"
    given = [
        (f"deployment {each.name!r}", each.environment, in_secrets) for each in stage.deployments
    ]
    given += [(f"agent {each.name!r}", each.environment, "") for each in stage.agents]
    for where, environment, remedy in given:
        for name, value in environment.items():
            if looks_like_a_key(name, value):
                yield SENTENCE.format(where=where, name=name, remedy=remedy)


def looks_like_a_key(name: str, value: str) -> bool:
    """Whether a value begins as keys do, or is long and has a name that says so."""
    if KEYS.match(value):
        return True
    named = NAMED & {*name.lower().split("_")}
    return bool(named) and len(value) >= SHORTEST and ADDRESS.match(value) is None
