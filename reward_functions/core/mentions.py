"""The mentions in the source of a module: the modules that it imports, and its strings.

Imports count wherever they stand, and so does a string that names a module of ours; what is
imported for types alone does not. A deployment finds its files so, and a pinned reward its sources.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from functools import cache
from typing import Final

NAMED: Final = re.compile(r"\breward_functions(?:\.\w+)+")


@dataclass(frozen=True, slots=True)
class Mentions:
    """The mentions in the source of a module.

    Args:
        modules: dotted names of everything it imports or names in a string.
        strings: its string constants, docstrings aside.
    """

    modules: frozenset[str]
    strings: frozenset[str]

    @property
    def tops(self) -> frozenset[str]:
        """The packages that it imports from."""
        return frozenset(module.partition(".")[0] for module in self.modules)


@dataclass
class _Reader(ast.NodeVisitor):
    modules: set[str] = field(default_factory=set)
    strings: set[str] = field(default_factory=set)

    def visit_If(self, node: ast.If) -> None:
        for each in node.orelse if _is_for_types(node.test) else ast.iter_child_nodes(node):
            self.visit(each)

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> None:
        self.modules.update(alias.name for alias in node.names)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.level == 0 and node.module:
            self.modules.add(node.module)
            self.modules.update(f"{node.module}.{alias.name}" for alias in node.names)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            self.strings.add(node.value)
            self.modules.update(NAMED.findall(node.value))


def _is_for_types(test: ast.expr) -> bool:
    match test:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name == "TYPE_CHECKING"
    return False


@cache
def mentions(source: str | bytes) -> Mentions:
    """Find the mentions in a module's source; no mentions where Python cannot read it."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return Mentions(frozenset(), frozenset())
    reader = _Reader()
    reader.visit(tree)
    return Mentions(frozenset(reader.modules), frozenset(reader.strings))
