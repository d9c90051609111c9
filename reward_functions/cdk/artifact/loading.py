"""Whether every deployment's entry point can be imported from its artifact, before it is deployed.

| the target | what is done |
| --- | --- |
| runs on this machine, and its Python is here | imports it, as Lambda would: nothing but these folders and the standard library on the path |
| any other | looks for the files: of the entry point's package and of ours every module that one imports when it is imported, of other packages the package |
"""  # noqa: E501

from __future__ import annotations

import ast
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.core.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

SECONDS: Final = 120
"""What importing may take, on a busy machine; Lambda allows 10."""

OURS: Final = "reward_functions"

IMPORTED: Final = """
import json, sys
sys.path[:0] = json.loads(sys.argv[1])
from importlib import import_module
from traceback import walk_tb
wrong = None
for module in json.loads(sys.argv[2]):
    try:
        import_module(module)
    except BaseException as error:  # a module may call sys.exit() where it is imported
        *_, (frame, _) = walk_tb(error.__traceback__)
        wrong = [module, type(error).__name__, str(error), frame.f_globals.get("__name__")]
        break
sys.stdout.write("\\n" + json.dumps(wrong))
"""


class NotLoaded(ConfigurationError):
    """An entry point cannot be imported from its artifact. The message names module and cause."""


class Fault(NamedTuple):
    """Why a module cannot be imported."""

    module: str
    cause: str


def fault(
    modules: Sequence[str],
    trees: Sequence[Path],
    *,
    runner: Path | None,
    environment: Mapping[str, str],
) -> Fault | None:
    """The first of some modules that cannot be imported from some folders; None where all can.

    Args:
        modules: dotted names.
        trees: the folders, which together are the artifact.
        runner: the target's Python, where this machine has one that runs there.
        environment: of the function.
    """
    if runner is not None:
        return _import(modules, trees, runner, environment)
    return next(filter(None, (_look_for(module, trees) for module in modules)), None)


def _import(
    modules: Sequence[str], trees: Sequence[Path], runner: Path, environment: Mapping[str, str]
) -> Fault | None:
    # The command line names its output folder from where it stands.
    arguments = [json.dumps([str(tree.absolute()) for tree in trees]), json.dumps(modules)]
    try:
        done = subprocess.run(  # noqa: S603 - an interpreter that was asked who it is, no shell
            [str(runner), "-I", "-S", "-B", "-c", IMPORTED, *arguments],
            cwd=trees[-1],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired:
        return Fault(modules[-1], f"importing it took longer than {SECONDS} s")
    try:
        found = json.loads(done.stdout.splitlines()[-1])
    except (ValueError, IndexError):
        return Fault(modules[-1], f"the interpreter ended with status {done.returncode}")
    if found is None:
        return None
    module, kind, message, where = found
    return Fault(module, f"{kind} in {where}: {' '.join(message.split())}")


def _look_for(module: str, trees: Sequence[Path]) -> Fault | None:
    """The same by the files alone."""
    followed = {module.partition(".")[0], OURS}
    seen: set[str] = set()
    waiting = [(module, module)]
    while waiting:
        name, importing = waiting.pop()
        top = name.partition(".")[0]
        if name in seen or top in sys.stdlib_module_names:
            continue
        seen.add(name)
        wanted = name if top in followed else top
        path = _file(wanted, trees)
        if path is None:
            cause = f"{importing} imports {wanted}" if importing != wanted else "it"
            return Fault(module, f"{cause}, which is not in the artifact")
        if top in followed and path.suffix == ".py":
            waiting += [(each, name) for each in _imports_of(path, name, trees)]
    return None


def _file(module: str, trees: Sequence[Path]) -> Path | None:
    """The file of a module, or the folder of a package without one."""
    for tree in trees:
        path = tree.joinpath(*module.split("."))
        places = (path / "__init__.py", path.with_name(f"{path.name}.py"), path)
        native = path.parent.glob(f"{path.name}.*.so")
        if found := next((place for place in (*places, *native) if place.exists()), None):
            return found
    return None


def _imports_of(path: Path, name: str, trees: Sequence[Path]) -> Iterator[str]:
    """What a module imports whenever it is imported itself."""
    package = (name if path.name == "__init__.py" else name.rpartition(".")[0]).split(".")
    for node in _statements(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            stem = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join(filter(None, (*stem, node.module)))
            yield module
            members = (f"{module}.{alias.name}" for alias in node.names)
            yield from (member for member in members if _file(member, trees))


def _statements(path: Path) -> list[ast.stmt]:
    """Those of a module; none, where it is written in a newer Python than this one."""
    try:
        return ast.parse(path.read_bytes()).body
    except (SyntaxError, ValueError):
        return []
