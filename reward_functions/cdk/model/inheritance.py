"""A stage that takes another's settings: `"prod": {"extends": "dev", "production": true}`.

The stage's own settings are a JSON merge patch (RFC 7396) of those that it extends:

| a stage says | it gets |
| --- | --- |
| nothing of a field | the other's value |
| a string, a number, `true` or `false` | its own |
| an object, such as `tags` or `job_rights` | both, key by key and at every depth; its own where both have one |
| a list, such as `deployments` or `packages` | its own, whole |
| `null` | neither: the default |

A chain may be as long as somebody likes. Where a value came from is kept beside it.
"""  # noqa: E501

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

EXTENDS: Final = "extends"
"""The key that names the other stage."""

Steps = tuple[str, ...]
"""Keys that lead to a value."""


class BadInheritance(ConfigurationError):
    """A stage extends what cannot be extended. The message names the stage."""


@dataclass(frozen=True, slots=True)
class Inherited:
    """The settings of a stage with those of the stages that it extends.

    Args:
        settings: merged, without `extends`.
        chain: the stage, what it extends, what that extends.
        origins: which stage said a value, by the keys that lead to it. A list or an empty object
            is one value.
    """

    settings: dict[str, Any]
    chain: tuple[str, ...]
    origins: Mapping[Steps, str]


def inherited(stages: Mapping[str, Any], name: str) -> Inherited:
    """The settings of a stage as if it had said everything itself.

    Args:
        stages: of `cdk.json`.
        name: one of them, an object.

    Raises:
        BadInheritance: it extends no stage, or itself in the end.
    """
    chain = _chain(stages, name)
    *patches, root = chain
    settings = _own(stages[root])
    origins = {steps: root for steps, _ in leaves(settings)}
    for at in reversed(patches):
        own = _own(stages[at])
        settings = _patched(settings, own)
        changed = {steps for steps, _ in leaves(own)}
        origins = {
            steps: at if steps in changed else origins.get(steps, at)
            for steps, _ in leaves(settings)
        }
    return Inherited(settings, chain, origins)


def leaves(settings: Mapping[str, Any], above: Steps = ()) -> Iterator[tuple[Steps, Any]]:
    """The values of nested objects, each with the keys that lead to it."""
    for key, value in settings.items():
        if isinstance(value, dict) and value:
            yield from leaves(value, (*above, key))
        else:
            yield (*above, key), value


def _chain(stages: Mapping[str, Any], name: str) -> tuple[str, ...]:
    chain = [name]
    while EXTENDS in (given := stages[chain[-1]]):
        base = given[EXTENDS]
        where = f"stage {chain[-1]!r}: extends"
        if not isinstance(base, str):
            raise BadInheritance(f"{where} names one other stage, a string")
        if base in chain:
            raise BadInheritance(f"{where}: {' → '.join([*chain, base])} leads back to itself")
        if base not in stages:
            raise BadInheritance(f"{where}: there is no stage {base!r}{did_you_mean(base, stages)}")
        if not isinstance(stages[base], dict) or "name" in stages[base]:
            raise BadInheritance(f"{where}: stage {base!r} is not an object of settings")
        chain.append(base)
    return tuple(chain)


def _own(given: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in given.items() if key != EXTENDS}


def _patched(below: Any, patch: Any) -> Any:
    """RFC 7396, "MergePatch"."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(below) if isinstance(below, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = _patched(merged.get(key), value)
    return merged
