"""Find our own files that a function can reach: the imports of its module, followed to the end.

A deployment carries these files and no others, so that a change in one verifier moves no neighbour.
Imports count wherever they stand, and so does a string that names a module; what is imported for
types alone does not. A file beside the module joins where the module names it in a string.

| rule | table |
| --- | --- |
| an import that runs for certain rewards only is followed for these | `ON_DEMAND` |
| files that are found by their folder | `FOLDERS` |
| what a whole room, or a folder of one, is carried by | `ROWS` |
"""

from __future__ import annotations

import json
import os
import re
from functools import cache
from hashlib import sha256
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Final

import reward_functions
from reward_functions.cdk.artifact.cache import Cache
from reward_functions.core import mentions as reader
from reward_functions.core import registry
from reward_functions.core.mentions import Mentions, mentions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from reward_functions.core.spec import Needs, RewardSpec

HANDLER: Final = "reward_functions.serving.handler"

PACKAGE: Final = Path(reward_functions.__file__).parent

REWARDS: Final = "rewards"
FUNCTIONS: Final = "functions that are no rewards, and agents"
SHARDS: Final = "the function that scores shards"
NOBODY: Final = "nobody"

ROWS: Final[Mapping[str, str]] = {
    "reward_functions": REWARDS,
    "reward_functions.adapters": NOBODY,
    "reward_functions.audit": NOBODY,
    "reward_functions.aws": SHARDS,
    "reward_functions.calibration": NOBODY,
    "reward_functions.cdk": NOBODY,
    "reward_functions.cli": NOBODY,
    "reward_functions.data": SHARDS,
    "reward_functions.export": NOBODY,
    "reward_functions.feedback": FUNCTIONS,
    "reward_functions.jobs": NOBODY,
    "reward_functions.local": NOBODY,
    "reward_functions.reports": SHARDS,
    "reward_functions.rollouts": FUNCTIONS,
    "reward_functions.rollouts.drive": NOBODY,
    "reward_functions.scaffold": NOBODY,
    "reward_functions.scoring": SHARDS,
    "reward_functions.testing": SHARDS,
    "reward_functions.view": NOBODY,
}
"""Who carries the modules below a dotted name: a room, or a folder of a room. The longest that a
module lies below counts. Trainers run `adapters`, from no artifact of ours."""

LAPTOP: Final = frozenset(row for row, carrier in ROWS.items() if carrier != REWARDS)
"""Rows that no reward's function runs."""

BESIDE_REWARDS: Final = frozenset(row for row, carrier in ROWS.items() if carrier == FUNCTIONS)
"""Of these, the rows that functions of a stage run which are no rewards."""

OF_SHARDS: Final = frozenset(row for row, carrier in ROWS.items() if carrier == SHARDS)
"""And those that the function runs which scores shards."""

THEIRS: Final = ""
"""No need of a reward: its artifact holds every module, as `all_files` does."""

ON_DEMAND: Final = {
    (HANDLER, "reward_functions.judge_runtime.panel"): "judge",
    (HANDLER, "reward_functions.symbolic"): "symbolic",
    (HANDLER, "reward_functions.serving.isolation"): THEIRS,
}
"""(importing module, imported module): what a reward must need for this import to run; `THEIRS`
where none of ours runs it."""

FOLDERS: Final = {"reward_functions.judge_runtime.rubric_file": "judges/rubrics"}
"""A module, and the folder whose files it finds by the name of a rubric."""

BESIDE: Final = (".md", ".toml")
"""A judge's prompt, and a table, have the name of their module."""


@cache
def modules() -> Mapping[str, Path]:
    """Every module that some function may run by its dotted name, in order."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        inside = path.relative_to(PACKAGE.parent).with_suffix("")
        parts = inside.parts[:-1] if inside.name == "__init__" else inside.parts
        if ROWS[row(name := ".".join(parts))] != NOBODY:
            found[name] = path
    return found


def module_of(reward: str) -> str:
    """The module that the registry imports for a reward.

    Raises:
        UnknownReward: the module does not exist.
    """
    points = entry_points(group=registry.ENTRY_POINT_GROUP)
    theirs = (point.module for point in points if point.name == reward)
    return next(theirs, None) or str(registry.get(reward).function.__module__)


def row(name: str) -> str:
    """The row of `ROWS` that the dotted name of one of our files lies below; the longest of them.

    Args:
        name: of a module, or of another file, whose folders are parts of it.
    """
    while name not in ROWS:
        name = name.rpartition(".")[0]
    return name


def rewards_in(spec: RewardSpec, name: str) -> list[str]:
    """The registered rewards that a reward is made of: the parts of a composite, or itself.

    Args:
        spec: the reward.
        name: as it is registered; a composite of a stage is not, and its parts are.
    """
    parts = getattr(spec.function, "parts", ())
    if not parts or registry.distribution(name) is not None:
        return [name]
    found = [each for part in parts for each in rewards_in(part.spec, part.spec.name)]
    return list(dict.fromkeys(found))


def reached(
    roots: Iterable[str], needs: Needs, *, beside: frozenset[str] = frozenset()
) -> frozenset[str]:
    """Our modules that these can reach, themselves and all packages around them included.

    Args:
        roots: dotted names; what is no module of ours is passed over.
        needs: of the reward, which decides about `ON_DEMAND`.
        beside: rows that are followed too; no reward reaches any of `BESIDE_REWARDS`.
    """
    known = {name: path for name, path in modules().items() if row(name) not in LAPTOP - beside}
    found: set[str] = set()
    waiting = list(roots)
    while waiting:
        name = _in(waiting.pop(), known)
        if name is None or name in found:
            continue
        found.add(name)
        waiting.append(name.rpartition(".")[0])
        waiting += (each for each in _mentions(name).modules if _followed(name, each, needs))
    return frozenset(found)


def reached_by_theirs(
    sources: Iterable[bytes], needs: Needs, strings: Iterable[str] = ()
) -> frozenset[str]:
    """Our modules that somebody else's sources can reach, and those of the rewards they name.

    Args:
        sources: of their modules.
        needs: of the reward.
        strings: what else may name a reward, such as its parameters.
    """
    read = [mentions(source) for source in sources]
    named = {*strings, *(string for each in read for string in each.strings)}
    ours = (f"{folder}.{name}" for folder in registry.FOLDERS for name in sorted(named))
    return reached([HANDLER, *(each for one in read for each in one.modules), *ours], needs)


def imported_packages(names: Iterable[str]) -> frozenset[str]:
    """The packages, ours and others, from which our modules of these names import."""
    return frozenset(top for name in names for top in _mentions(name).tops)


def files(names: Iterable[str]) -> dict[str, Path]:
    """The files of our modules, and the data they read, by their place in the zip, in order."""
    paths = {path for name in names for path in (modules()[name], *_data(name))}
    return {path.relative_to(PACKAGE.parent).as_posix(): path for path in sorted(paths)}


def all_files(beside: frozenset[str] = frozenset()) -> dict[str, Path]:
    """Whole runtime rooms, as code that we do not know may import any of their modules.

    Args:
        beside: rows of `BESIDE_REWARDS` that go with them.
    """
    left_out = LAPTOP - beside
    found = {path.relative_to(PACKAGE.parent): path for path in sorted(_ours())}
    return {
        place.as_posix(): path
        for place, path in found.items()
        if row(".".join(place.parts)) not in left_out
    }


def _ours() -> Iterator[Path]:
    """Our files, and not what a desktop, an editor or Python left among them."""
    for folder, inner, names in os.walk(PACKAGE):
        inner[:] = [each for each in inner if each[0] != "." and each != "__pycache__"]
        paths = (Path(folder, name) for name in names if name[0] != ".")
        yield from filter(Path.is_file, paths)


def _in(name: str, known: Mapping[str, Path]) -> str | None:
    """The module of a dotted name, which may go on into the module."""
    while name and name not in known:
        name = name.rpartition(".")[0]
    return name or None


def _followed(importing: str, imported: str, needs: Needs) -> bool:
    for (source, target), need in ON_DEMAND.items():
        if importing == source and f"{imported}.".startswith(f"{target}."):
            return need != THEIRS and bool(getattr(needs, need))
    return True


def _mentions(name: str) -> Mentions:
    source = modules()[name].read_bytes()
    return known().get(_digest(source)) or mentions(source)


@cache
def known() -> Mapping[str, Mentions]:
    """The mentions of today's modules, by the digests of their sources.

    To read them all takes a second, so that it is kept for the next run; nothing is in it where
    nothing can be kept.
    """
    sources = {_digest(each): each for each in map(Path.read_bytes, modules().values())}
    facts = [_digest(Path(reader.__file__).read_bytes()), *sorted(sources)]

    def make(folder: Path) -> None:
        read = {digest: mentions(source) for digest, source in sources.items()}
        found = {digest: [[*each.modules], [*each.strings]] for digest, each in read.items()}
        (folder / _digest(text := json.dumps(found).encode())).write_bytes(text)

    cache = Cache.of_user(Path(os.devnull))
    try:
        folder = cache.folder_of(f"mentions-{_digest(json.dumps(facts).encode())}", make, _is_whole)
        (file,) = folder.iterdir()
        kept = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return {}
    return {digest: Mentions(*map(frozenset, found)) for digest, found in kept.items()}


def _is_whole(folder: Path) -> bool:
    """Whether what was kept is what was read: a disk, or a person, may have changed it."""
    return all(_digest(file.read_bytes()) == file.name for file in folder.iterdir())


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()


def _data(name: str) -> Iterator[Path]:
    """The files that are no modules and that a module of ours reads."""
    module = modules()[name]
    beside = (module.parent / string for string in _mentions(name).strings if _plain(string))
    yield from (path for path in beside if path.suffix != ".py" and path.is_file())
    yield from filter(Path.is_file, map(module.with_suffix, BESIDE))
    if name in FOLDERS:
        yield from (path for path in (PACKAGE / FOLDERS[name]).iterdir() if path.is_file())


def _plain(string: str) -> bool:
    """Whether a string can be the name of a file."""
    return re.fullmatch(r"\w+\.\w+", string) is not None
