"""A digest of the sources a reward consists of: change one byte of them, and it is another.

Covered, by path and content:

| what | how it is found |
| --- | --- |
| the module that defines the reward | by its name |
| modules of `reward_functions`, and of its own package or beside its file | by their imports |
| the prompt of a judge | by the name of its module |
| data beside a module | by a string that names it |
| the shipped rubrics | with the module that reads them |
| a rubric of one's own | by the parameter that names the file |

and, of a combination of rewards, its parts, their names, and its weights and thresholds; of a
function, its defaults and what it has closed over; of an object, its fields: see `values`.

Not covered: installed packages such as sympy, Python itself, and the model that a judge asks. Rooms
of `reward_functions` that score nothing are passed over: a change of the command line makes no
reward another.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import fields, is_dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import reward_functions
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.mentions import mentions
from reward_functions.core.spec import RewardSpec
from reward_functions.rollouts.episode.scoring.values import held, written

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

OURS: Final = "reward_functions"

PACKAGE: Final = Path(reward_functions.__file__).parent

SCORE_NOTHING: Final = frozenset({"cdk", "cli", "rollouts", "serving", "testing", "tools"})

FOLDERS: Final = {"reward_functions.judge_runtime.rubric_file": "judges/rubrics"}
"""A module, and the folder whose files it finds by name."""

PROMPT: Final = ".md"
"""A judge's prompt has the name of its module."""

INSTALLED: Final = frozenset({"site-packages", "dist-packages"})
"""What lies beside a module there is not its author's."""


def digest_of(reward: object, parameters: Mapping[str, Any]) -> str:
    """The SHA-256 of the sources of a reward, in hexadecimal digits.

    Args:
        reward: a declaration, a function, or a combination of several.
        parameters: that are bound; the files that they name are read.

    Raises:
        ConfigurationError: its source is not in a file, as in a notebook.
    """
    parts = tuple(_parts(reward))
    files = {
        name: path for part in parts if part.module for name, path in files_of(part.module).items()
    }
    found = sorted([*files.items(), *_named(parameters.values())])
    contents = [(name, sha256(path.read_bytes()).hexdigest()) for name, path in found]
    whole = json.dumps([contents, [part.label for part in parts]])
    return sha256(whole.encode()).hexdigest()


class _Part(NamedTuple):
    """A piece of a reward: code of a module, or a value that the code is given."""

    label: str
    module: str = ""


def _parts(reward: object) -> Iterator[_Part]:
    """What a reward is made of, in its order."""
    if isinstance(reward, RewardSpec):
        yield _Part(f"{reward.name} {reward.version}")
        yield from _parts(reward.function)
    elif isinstance(reward, partial):
        yield from _parts(reward.func)
        given = reward.keywords.items()
        yield from (_Part(f"{name}={written(value)}") for name, value in sorted(given))
    elif isinstance(reward, tuple):
        for each in reward:
            yield from _parts(each)
    elif callable(reward):
        named = reward if hasattr(reward, "__qualname__") else type(reward)
        yield _Part(named.__qualname__, named.__module__)
        if is_dataclass(reward):
            for each in fields(reward):
                yield from _parts(getattr(reward, each.name))
        else:
            yield _Part(written(held(reward)))
    else:
        yield _Part(written(reward))


def files_of(module: str) -> dict[str, Path]:
    """The files of a reward, by what they are called wherever they are installed.

    Raises:
        ConfigurationError: the module has no file.
    """
    root = _path(module, beside=None)
    if root is None:
        raise ConfigurationError(
            f"the source of {module} is not in a file, so that nobody can pin it: "
            "put the reward into a module"
        )
    alone = "." not in module and root.parent.name not in INSTALLED
    beside = root.parent if alone else None
    found: dict[str, Path] = {}
    waiting = [module]
    while waiting:
        name, path = _resolved(waiting.pop(), module, beside)
        if path is None or name in found:
            continue
        found[name] = path
        waiting.append(name.rpartition(".")[0])
        waiting += mentions(path.read_bytes()).modules
    data = {
        f"{name}:{each.name}": each for name, path in found.items() for each in _data(name, path)
    }
    return found | data


def _resolved(name: str, root: str, beside: Path | None) -> tuple[str, Path | None]:
    """The module of a dotted name, which may go on into it; no path where it is not followed."""
    top = root.partition(".")[0]
    while name:
        first, _, rest = name.partition(".")
        if first == OURS and rest.partition(".")[0] in SCORE_NOTHING:
            return name, None
        if first in {OURS, top}:
            path = _path(name, beside=None)
        else:
            path = None if beside is None else _path(name, beside=beside)
        if path is not None:
            return name, path
        name = name.rpartition(".")[0]
    return name, None


def _path(name: str, *, beside: Path | None) -> Path | None:
    """The file of a module, in its package or beside another; None where there is none."""
    first, *rest = name.split(".")
    if beside is None:
        file = Path(getattr(sys.modules.get(name), "__file__", None) or "")
        if file.suffix == ".py":
            return file
        folders, parts = _folders(first), rest
    else:
        folders, parts = [beside], [first, *rest]
    places = (Path(folder, *parts) for folder in folders)
    files = (file for at in places for file in (at.with_suffix(".py"), at / "__init__.py"))
    return next((file for file in files if file.is_file()), None)


def _folders(package: str) -> list[Path]:
    return [Path(each) for each in getattr(sys.modules.get(package), "__path__", ())]


def _data(name: str, path: Path) -> Iterator[Path]:
    """The files that are no modules and that a module reads."""
    strings = mentions(path.read_bytes()).strings
    beside = (path.parent / each for each in sorted(strings) if re.fullmatch(r"\w+\.\w+", each))
    yield from (each for each in beside if each.suffix != ".py" and each.is_file())
    if (prompt := path.with_suffix(PROMPT)).is_file():
        yield prompt
    if name in FOLDERS:
        yield from (each for each in sorted((PACKAGE / FOLDERS[name]).iterdir()) if each.is_file())


def _named(given: Iterable[Any]) -> Iterator[tuple[str, Path]]:
    """The files that parameters name, each by its content and not by its place."""
    for value in given:
        if isinstance(value, str) and re.fullmatch(r"[^\0\n]{1,1000}\.(?:toml|json|md|txt)", value):
            path = Path(value)
            if path.is_file():
                yield f":{path.name}", path
