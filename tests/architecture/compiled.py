"""Every pattern that the package compiles, and how it is applied.

    python -m tests.architecture.compiled       those that a fresh process compiles, and where

There the modules that use `re` are imported while `re` is listened to.
"""

from __future__ import annotations

import ast
import importlib
import json
import os
import re
import subprocess
import sys
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from reward_functions.core import patterns
from tests.architecture.sources import nodes, tree
from tests.wheel import sources_digest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "reward_functions"
KEPT = ROOT / "build" / "patterns.jsonl"
SEARCHING = {"search", "finditer", "findall", "sub", "subn", "split"}
USES_RE = re.compile(
    r"^(?:import re|from re import .*|from [\w.]+ import (?:lexicon.*|patterns as re))$",
    re.MULTILINE,
)
APPLIES = re.compile(
    r"^import re$|^from .* import .*(?:cues|words|lexicon|patterns as re)", re.MULTILINE
)
METHODS = {*SEARCHING, "match", "fullmatch", "scanner"}


class Compiled(NamedTuple):
    """A pattern of the package.

    Args:
        where: `file:name`, or `file:line` where it has no name.
        pattern: its source.
        flags: its flags.
        uses: the methods called on it; empty where nobody knows.
    """

    where: str
    pattern: str
    flags: int
    uses: tuple[str, ...]

    @property
    def searched(self):
        """Whether a match may begin anywhere."""
        return not self.uses or not SEARCHING.isdisjoint(self.uses)

    @property
    def whole(self):
        """Whether every match must end with the text."""
        return "fullmatch" in self.uses


def compiled():
    """Every pattern, in the order of their places; a checkout listens once to the same sources."""
    name = f"{sources_digest()} {sha256(Path(__file__).read_bytes()).hexdigest()}"
    lines = KEPT.read_text().splitlines() if KEPT.is_file() else []
    if lines[:1] != [name]:
        done = subprocess.run(
            [sys.executable, "-m", "tests.architecture.compiled"],
            cwd=ROOT, capture_output=True, text=True, check=True,
        )  # fmt: skip
        lines = [name, *done.stdout.splitlines()]
        keep(KEPT, "\n".join(lines))
    return [_compiled(*json.loads(line)) for line in lines[1:]]


def keep(path, text):
    """Write a file below `build`, of which others never read a half."""
    path.parent.mkdir(exist_ok=True)
    scratch = path.with_name(f"{path.stem}-{os.getpid()}")
    scratch.write_text(text)
    scratch.replace(path)


def _compiled(pattern, flags, places):
    """A pattern, by what was called at each of the places where it was compiled."""
    path, line = min((path, line) for path, line, _ in places)
    name, bound = _name(Path(path), line)
    uses = {*(called for *_, called in places), bound} - {"compile", ""}
    where = f"{Path(path).relative_to(PACKAGE)}:{name or line}"
    return Compiled(where, pattern, flags, tuple(sorted(uses or _methods(path, name))))


def _collected():
    made = {}
    compile_ = re._compile

    def listening(pattern, flags=0):
        result = compile_(pattern, flags)
        frame, called = sys._getframe(1), "compile"
        while frame and Path(frame.f_code.co_filename).parent.name == "re":
            called, frame = frame.f_code.co_name, frame.f_back
        if isinstance(pattern, (str, bytes)) and PACKAGE in Path(frame.f_code.co_filename).parents:
            place = (frame.f_code.co_filename, frame.f_lineno)
            text = pattern if isinstance(pattern, str) else pattern.decode("latin-1")
            made.setdefault((text, result.flags), {}).setdefault(place, called)
        return result

    re._compile = listening
    patterns.compile = re.compile  # at once, and not when they are first used
    for path in sorted(PACKAGE.rglob("*.py")):
        if USES_RE.search(path.read_text()) and path.name != "__main__.py":
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
            importlib.import_module(name)
    re._compile = compile_
    return made


def _name(path, line):
    """(name, method) of what a statement at a line binds or defines; "" for what is not known."""
    for node in tree(path).body:
        if not node.lineno <= line <= (node.end_lineno or node.lineno):
            continue
        if isinstance(node, ast.FunctionDef):
            return node.name, ""
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        value = getattr(node, "value", None)
        bound = value.attr if isinstance(value, ast.Attribute) else ""  # re.compile(…).search
        called = value.value if bound else value
        if isinstance(called, ast.Call) and ast.unparse(called.func) == "re.compile":
            return next((each.id for each in targets if isinstance(each, ast.Name)), ""), bound
    return "", ""


@cache
def _uses():
    """{(file, name): what is asked of a constant there}; "?" where it is handed on."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        if not APPLIES.search(path.read_text()):
            continue
        known, methods = _imported(path), {}
        for node in nodes(path):
            if isinstance(node, ast.Attribute) and node.attr in {*METHODS, "pattern", "flags"}:
                methods[id(node.value)] = node.attr
        for node in nodes(path):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                place = known.get(node.id, (str(path), node.id))
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                place = (known.get(node.value.id, ("",))[0], node.attr)
            else:
                continue
            if place[1].isupper():
                found.setdefault(place, set()).add(methods.get(id(node), "?"))
    return found


def _imported(path):
    """{name: (file, name there)} of what a module imports of the package."""
    known = {}
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("reward_functions"):
            folder = ROOT / node.module.replace(".", "/")
            for each in node.names:
                name, module = each.asname or each.name, folder / f"{each.name}.py"
                home = module if module.is_file() else folder.with_suffix(".py")
                known[name] = (str(home), each.name)
    return known


def _methods(path, name):
    methods = _uses().get((path, name), {"?"}) - {"pattern", "flags"}
    return () if "?" in methods else tuple(sorted(methods))


def main():
    """Print them: a pattern, its flags, and (file, line, what was called) of each place."""
    for (pattern, flags), places in sorted(_collected().items(), key=lambda each: sorted(each[1])):
        found = [[*place, called] for place, called in places.items()]
        print(json.dumps([pattern, flags & ~re.UNICODE, found]))


if __name__ == "__main__":
    main()
