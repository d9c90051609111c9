"""`python -m tests.architecture [CHECKOUT …]`: the structure of checkouts in numbers.

Read from the sources alone, so that an older checkout can stand beside this one.
"""

import ast
import re
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rich.console import Console
from rich.table import Table

TOPS = ("reward_functions", "helpers", "infra")
LONG_FUNCTION = 50
LONG_MODULE = 400


@dataclass(frozen=True)
class Checkout:
    """The product's sources in a checkout."""

    root: Path

    @cached_property
    def trees(self):
        """The syntax tree of every module, by its dotted name."""
        return {
            name_of(path.relative_to(self.root)): ast.parse(path.read_text())
            for top in TOPS
            for path in sorted((self.root / top).rglob("*.py"))
        }

    @cached_property
    def imports(self):
        """The modules of the checkout that a module imports, for types as well, by its name."""
        return {
            name: {found for target in targets(tree) if (found := self.module(target))} - {name}
            for name, tree in self.trees.items()
        }

    def module(self, target):
        """The module that an imported name is or lies in; None for another project's."""
        names = (target, folder_of(target))
        return next((name for name in names if name in self.trees), None)

    @property
    def folder_arrows(self):
        """(importing folder, imported folder), wherever one imports another."""
        return {
            (folder_of(name), folder_of(found))
            for name, all_found in self.imports.items()
            for found in all_found
            if folder_of(name) != folder_of(found)
        }

    @property
    def folder_cycles(self):
        """Pairs of folders that import each other, a folder and one inside it aside."""
        arrows = self.folder_arrows
        return {
            frozenset(arrow) for arrow in arrows if arrow[::-1] in arrows and not nested(*arrow)
        }

    @property
    def module_cycles(self):
        """Pairs of modules that import each other."""
        return {
            frozenset((name, found))
            for name, all_found in self.imports.items()
            for found in all_found
            if name in self.imports[found]
        }

    @property
    def levels(self):
        """The longest chain of imports from the top down, cycles cut where they close."""
        depths = {}

        def depth(name, above=()):
            if name not in depths:
                below = [each for each in self.imports[name] if each not in above]
                depths[name] = 1 + max((depth(each, (*above, name)) for each in below), default=0)
            return depths[name]

        return max(map(depth, self.imports))

    @property
    def functions(self):
        """The lines of every function."""
        return [
            node.end_lineno - node.lineno + 1
            for tree in self.trees.values()
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        ]

    @property
    def sources(self):
        """The text of every module."""
        return [path.read_text() for top in TOPS for path in (self.root / top).rglob("*.py")]


def name_of(path):
    """The dotted name of a module."""
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def folder_of(name):
    """The package a module lies in."""
    return name.rpartition(".")[0]


def nested(one, other):
    """Whether one folder lies in the other."""
    return one.startswith(f"{other}.") or other.startswith(f"{one}.")


def targets(tree):
    """Every dotted name that a module imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def counts(checkout):
    """What is counted, by its name."""
    lines = [len(text.splitlines()) for text in checkout.sources]
    noqas = [found for text in checkout.sources for found in re.findall("# noqa", text)]
    return {
        "modules": len(lines),
        "lines": sum(lines),
        "folders": len({folder_of(name) for name in checkout.trees}),
        "arrows between folders": len(checkout.folder_arrows),
        "pairs of folders that import each other": len(checkout.folder_cycles),
        "pairs of modules that import each other": len(checkout.module_cycles),
        "levels of imports": checkout.levels,
        f"modules over {LONG_MODULE} lines": sum(each > LONG_MODULE for each in lines),
        "functions": len(checkout.functions),
        f"functions over {LONG_FUNCTION} lines": sum(
            each > LONG_FUNCTION for each in checkout.functions
        ),
        "noqas": len(noqas),
    }


def main(folders):
    """Print one column for each checkout."""
    found = [counts(Checkout(Path(folder))) for folder in folders]
    table = Table("", *folders)
    for row in found[0]:
        table.add_row(row, *(str(each[row]) for each in found))
    Console().print(table)


if __name__ == "__main__":
    main(sys.argv[1:] or ["."])
