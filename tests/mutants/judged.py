"""The mutants that change nothing that anybody can see: `equivalent.toml`, with reasons."""

import tomllib
from pathlib import Path

from tests.architecture.rooms import PACKAGE

TABLE = Path(__file__).with_name("equivalent.toml")


def rows():
    """The rows of the table."""
    return tomllib.loads(TABLE.read_text(encoding="utf-8")).get("mutant", [])


def matches(row, mutant):
    """Whether a row means a mutant: by its module, its line's text, its kind and what it does.

    `change` is part of what the tool prints for it, such as ":9 " for its column; it is needed
    where a line has several.
    """
    name = ".".join(mutant.path.relative_to(PACKAGE).with_suffix("").parts)
    if name != row["module"] or mutant.kind != row["kind"]:
        return False
    line = mutant.path.read_text(encoding="utf-8").splitlines()[mutant.line - 1]
    return line.strip() == row["line"] and row.get("change", "") in str(mutant)


def judged(found):
    """The reason of each mutant that has a row."""
    modules = {row["module"] for row in rows()}
    known = {}
    for mutant in found:
        if ".".join(mutant.path.relative_to(PACKAGE).with_suffix("").parts) in modules:
            for row in rows():
                if matches(row, mutant):
                    known[mutant] = row["reason"]
    return known
