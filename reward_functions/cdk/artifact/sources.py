"""Whether a project takes a requirement from elsewhere than the lock would (`[tool.uv.sources]`).

A source is the project's own business and no part of its wheel. Without it the lock takes whatever
an index has under that name, which anybody may have published.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from reward_functions.cdk.artifact.packages import BadPackage, normalised, required
from reward_functions.cdk.artifact.pins import PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reward_functions.cdk.artifact.packages import Package, Wheel

ELSEWHERE: Final = frozenset({"git", "path", "url", "workspace"})
"""Kinds of sources that are no index."""


def insist_on_named(packages: Sequence[Package], wheels: Mapping[str, Wheel]) -> None:
    """Whatever a package takes from a source is a package of the stage as well.

    Args:
        packages: the stage's.
        wheels: of those that no index is asked for, by name.

    Raises:
        BadPackage: one is not.
    """
    named = {PROJECT, *(package.name for package in packages)}
    for package in packages:
        if isinstance(package.source, Path) and package.source.is_dir():
            requires = {required(each) for each in wheels[package.name].requires()}
            if missing := sorted(requires.intersection(_elsewhere(package.source)) - named):
                raise BadPackage(
                    f"{package} takes {missing[0]} from [tool.uv.sources], which the lock would "
                    "take from an index: name its folder or wheel in `packages`"
                )


def _elsewhere(folder: Path) -> Iterator[str]:
    """What a project takes from no index: by its own word, or by that of its workspace."""
    own = _uv_of(folder)
    yield from _named_by(own)
    for parent in folder.parents:
        above = _uv_of(parent)
        if "workspace" in above:
            yield from _named_by(above)
            return


def _named_by(settings: Mapping[str, Any]) -> Iterator[str]:
    for name, source in settings.get("sources", {}).items():
        several = source if isinstance(source, list) else [source]
        if any(ELSEWHERE.intersection(each) for each in several):
            yield normalised(name)


def _uv_of(folder: Path) -> Mapping[str, Any]:
    """`[tool.uv]` of a folder; nothing, where it has none that can be read."""
    try:
        project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return {}
    found = project.get("tool", {}).get("uv", {})
    return found if isinstance(found, dict) else {}
