"""A reward to start from, and a test that passes before the first edit."""

from __future__ import annotations

import builtins
import keyword
import re
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from string import Template
from typing import Final, NamedTuple

from reward_functions.core.declaring import NAME
from reward_functions.core.errors import ConfigurationError, UnknownReward
from reward_functions.core.registry import get

TEMPLATES: Final = {
    path.stem: Template(path.read_text(encoding="utf-8"))
    for path in (Path(__file__).parent / "templates").glob("*.tmpl")
}

WRITTEN: Final = ("reward.py", "reward_test.py", "judge.py", "judge_test.py")

OTHERS: Final = frozenset(
    "ask holds complaint conftest get lint reading_error rows samples_of train".split()
)
"""Names that the written tests bind, that the tests of rows import, or that pytest knows."""

TAKEN: Final = OTHERS | frozenset(
    name
    for written in WRITTEN
    for names in re.findall(r"(?m)^from \S+ import (.+)$", TEMPLATES[written].template)
    for name in names.split(", ")
)
"""Names that mean something else in the written files."""


class RewardFiles(NamedTuple):
    """The files of a reward.

    Args:
        name: of the reward, as the written function declares it, or would with a team's prefix.
        stem: of its file, and the function's name.
        module: that an entry point names.
        reward: the name of its file.
        test: the name of its test's file.
        texts: what each file holds, by its name; a judge's prompt is one of them.
    """

    name: str
    stem: str
    module: str
    reward: str
    test: str
    texts: dict[str, str]


def reward_files(name: str, packages: list[str], *, judge: bool) -> RewardFiles:
    """A reward of this name, and its test.

    Args:
        name: such as `length`, or `acme.length`.
        packages: that its module stands in, outermost first.
        judge: whether it asks a model.

    Raises:
        ConfigurationError: it is not a reward name, it is taken, or means something else in Python.
    """
    stem = _stem(name)
    kind = "judge" if judge else "reward"
    reward, test = f"{stem}.py", f"test_{stem}.py"
    templates = {reward: TEMPLATES[f"{kind}.py"], test: TEMPLATES[f"{kind}_test.py"]}
    if judge:
        templates[f"{stem}.md"] = TEMPLATES["judge.md"]
    words = {
        "stem": stem,
        "title": stem.replace("_", " ").capitalize(),
        "qualified": f'\n    name="{name}",' if "." in name else "",
        "module": ".".join([*packages, stem]),
    }
    return RewardFiles(
        name if "." in name else f"acme.{stem}",
        stem,
        words["module"],
        reward,
        test,
        {file: template.substitute(words) for file, template in templates.items()},
    )


def packages_of(folder: Path) -> list[str]:
    """The packages a folder is in, outermost first: a test imports through them, as pytest does."""
    folder = folder.resolve()
    if not (folder / "__init__.py").exists() or not folder.name.isidentifier():
        return []
    return [*packages_of(folder.parent), folder.name]


def _stem(name: str) -> str:
    """The name of the file and the function.

    Raises:
        ConfigurationError: it is not a reward name, it is taken, or means something else in Python.
    """
    if not NAME.fullmatch(name):
        raise ConfigurationError(f"{name!r} is not a reward name{_nearest(name)}")
    stem = name.rpartition(".")[2]
    if "." not in name:
        with suppress(UnknownReward):
            raise ConfigurationError(f"{get(name).name!r} is a reward already; choose another name")
    if stem.startswith("test"):
        raise ConfigurationError(f"{stem!r} is a test by its name, for pytest; choose another name")
    if keyword.iskeyword(stem) or hasattr(builtins, stem) or stem in TAKEN:
        raise ConfigurationError(f"{stem!r} means something else in Python; choose another name")
    if find_spec(stem):
        raise ConfigurationError(
            f"{stem!r} is an installed module, which a test would import instead; choose another"
        )
    return stem


def _nearest(name: str) -> str:
    near = re.sub(r"[^a-z0-9_.]+", "_", name.lower()).strip("_.")
    rule = ": lower case letters, digits and underscores, such as length or acme.length"
    return f". Did you mean {near!r}?" if NAME.fullmatch(near) else rule
