"""The tables of CONTRIBUTING.md that a table in code holds: make targets, parts, benchmarks."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.architecture.test_walls import INNER

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).parents[1]

_TARGET: Final = re.compile(r"^([a-z-]+):.*?## (.+)$", re.MULTILINE)


def targets() -> Iterator[list[str]]:
    """The targets of the Makefile, as `make help` shows them."""
    yield ["command", "does"]
    for name, what in _TARGET.findall((ROOT / "Makefile").read_text()):
        yield [f"`make {name}`", what]


def benchmarks() -> Iterator[list[str]]:
    """The names that `python -m tests.benchmarks` takes."""
    yield ["name", "measures"]
    for path in sorted((ROOT / "tests" / "benchmarks").glob("[a-z]*.py")):
        yield [f"`{path.stem}`", _idea(path)]


def parts(room: str) -> Iterator[list[str]]:
    """The parts of a room in their order, and which of them each may import."""
    yield ["part", "what it is", "may import"]
    folder = Path("reward_functions", room)
    for part, imports in INNER[room].items():
        path = folder / part / "__init__.py"
        path = path if (ROOT / path).exists() else folder / f"{part}.py"
        order = [f"`{each}`" for each in INNER[room] if each in imports]
        yield [f"[`{part}`]({path})", _idea(ROOT / path), ", ".join(order) or "nothing"]


def _idea(path: Path) -> str:
    """The first sentence of a module's docstring."""
    return (ast.get_docstring(ast.parse(path.read_text())) or "").partition("\n\n")[0]
