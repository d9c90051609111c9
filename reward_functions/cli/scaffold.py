"""`reward new`: a reward to start from, and a test that passes before the first edit."""

from __future__ import annotations

import builtins
import keyword
import re
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from string import Template
from typing import Annotated, Final

import typer

from reward_functions import get
from reward_functions.cli._console import output
from reward_functions.cli._options import Folder  # noqa: TC001 - typer reads annotations
from reward_functions.core.declaring import NAME
from reward_functions.core.errors import ConfigurationError, UnknownReward
from reward_functions.data.atomic import named

TEMPLATES: Final = {
    path.stem: Template(path.read_text(encoding="utf-8"))
    for path in (Path(__file__).parent / "templates").glob("*.tmpl")
}

TAKEN: Final = frozenset(
    name
    for template in TEMPLATES.values()
    for names in re.findall(r"(?m)^from \S+ import (.+)$", template.template)
    for name in names.split(", ")
)
"""Names that the written files import."""

COMMANDS: Final = (
    "audit {}",
    "explain {} --response Paris --reference paris",
    "score {} responses.jsonl",
)
JUDGE_COMMANDS: Final = ("audit {} --scripted", "show {}")


def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Such as length, or acme.length.")],
    *,
    into: Folder = Path(),
    judge: Annotated[
        bool, typer.Option("--judge", help="A reward that asks a model, and its prompt.")
    ] = False,
) -> None:
    """Write a reward with worked examples, and its test, which needs pytest."""
    stem = _stem(name)
    reward, test = into / f"{stem}.py", into / f"test_{stem}.py"
    kind = "judge" if judge else "reward"
    templates = {reward: TEMPLATES[f"{kind}.py"], test: TEMPLATES[f"{kind}_test.py"]}
    if judge:
        templates[into / f"{stem}.md"] = TEMPLATES["judge.md"]
    for path in templates:
        if path.exists():
            raise ConfigurationError(f"{path} exists; it is not overwritten")
    shown = quote(str(reward) if into.parts else f"./{reward}")
    words = {
        "name": name if "." in name else f"acme.{stem}",
        "stem": stem,
        "title": stem.replace("_", " ").capitalize(),
        "qualified": f'\n    name="{name}",' if "." in name else "",
        "module": ".".join([*_packages(into), stem]),
        "pytest": "" if find_spec("pytest") else "\n  pip install pytest",
        "written": _listed([quote(str(path)) for path in templates]),
        "commands": "\n".join(
            f"  reward {each.format(shown)}" for each in (JUDGE_COMMANDS if judge else COMMANDS)
        ),
        "test": quote(str(test)),
    }
    into.mkdir(parents=True, exist_ok=True)
    for path, template in templates.items():
        with named(path):
            path.write_text(template.substitute(words), encoding="utf-8")
    output().out(TEMPLATES["next.txt"].substitute(words), end="")


def _listed(names: list[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


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


def _packages(folder: Path) -> list[str]:
    """The packages a folder is in, outermost first: a test imports through them."""
    folder = folder.resolve()
    if not (folder / "__init__.py").exists():
        return []
    return [*_packages(folder.parent), folder.name]
