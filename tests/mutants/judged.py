"""The mutants that change nothing that anybody can see: `equivalent.toml`, with reasons."""

import tomllib
from functools import cache
from pathlib import Path

from tests.architecture.rooms import PACKAGE

TABLE = Path(__file__).with_name("equivalent.toml")


def rows():
    """The rows of the table."""
    return tomllib.loads(TABLE.read_text(encoding="utf-8")).get("mutant", [])


@cache
def _lines(path):
    return path.read_text(encoding="utf-8").splitlines()


def name_of(mutant):
    """The dotted name of a mutant's file below the package."""
    return ".".join(mutant.path.relative_to(PACKAGE).with_suffix("").parts)


def matches(row, mutant):
    """Whether a row means a mutant: by its module, its line's text, its kind and what it does.

    `change` is part of what the tool prints for it, such as ":9 " for its column; it is needed
    where a line has several.
    """
    if mutant.kind != row["kind"] or name_of(mutant) != row["module"]:
        return False
    line = _lines(mutant.path)[mutant.line - 1]
    return line.strip() == row["line"] and row.get("change", "") in str(mutant)


def judged(found):
    """The reason of each mutant that has a row."""
    by_module = {}
    for row in rows():
        by_module.setdefault(row["module"], []).append(row)
    return {
        mutant: row["reason"]
        for mutant in found
        for row in by_module.get(name_of(mutant), ())
        if matches(row, mutant)
    }
