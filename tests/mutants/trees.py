"""A copy of the project to break, and the tests that are asked whether they see it."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from time import monotonic

from tests.architecture.rooms import PACKAGE, ROOT
from tests.architecture.sources import nodes
from tests.check import TESTS, importers, mirror, module_of
from tests.speed import AWS, SLOW

WORD = re.compile(r"\w+")

LATE = (*SLOW, *AWS, "tests/notebooks/", "tests/options/")
"""Where tests are dear: they are asked last, but for those of a file's own room."""

EVERYWHERE = ("tests/conformance",)
"""Folders that look at every room."""

FIRST = 6
"""So many files are asked first: most mutants die there."""


@cache
def _tests():
    """The text of every file of tests."""
    return {path: path.read_text(encoding="utf-8") for path in sorted(TESTS.rglob("test_*.py"))}


@cache
def tests_of(path):
    """The tests that may see a change of a file: the nearest, those of its room, what is further.

    Near is what imports the file, carries its name, or names much of what it defines. The room's
    are those of its folder and all that import it. Further are those of its direct users.
    """
    importing = set(importers([module_of(path)], _tests()))
    names, folder = _defined(path), mirror(path)
    ranked, last = [], []
    for test, text in _tests().items():
        inside = folder != TESTS and folder in test.parents
        name = str(test.relative_to(ROOT))
        if not inside and (test not in importing or name.startswith(LATE)):
            last += [name] if test in importing else []
            continue
        called = path.stem in test.stem or path.parent.name in test.stem
        rank = 4 * (test in importing) + 4 * called + 2 * inside
        rank += len(names & set(WORD.findall(text)))
        dear = "local_aws" in text or name.startswith(SLOW)
        ranked.append((dear, -rank, name))
    ordered = [name for *_, name in sorted(ranked)]
    users = importers([module_of(path)], PACKAGE.rglob("*.py"))
    folders = {mirror(user) for user in users} - {folder, TESTS}
    further = [*sorted(str(each.relative_to(ROOT)) for each in folders), *EVERYWHERE, *last]
    return ordered[:FIRST], ordered[FIRST:], further


def _defined(path):
    """The public names that a file defines, methods among them."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    found = {node.name for node in nodes(path) if isinstance(node, kinds)}
    return {name for name in found if not name.startswith("_")}


class Tree:
    """A copy of the project's files below a temporary folder.

    Args:
        whole: ask the tests that are further away, too.
        seconds: the most that one ask takes; a mutant that makes the tests hang is killed.
    """

    def __init__(self, whole, seconds):
        self._whole, self._seconds = whole, seconds

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="mutants-")
        self.path = Path(self._folder.name) / ROOT.name
        tracked = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True
        ).stdout.split(b"\0")
        for name in filter(None, map(os.fsdecode, tracked)):
            target = self.path / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, target)
        for name in (".venv", "node_modules"):
            (self.path / name).symlink_to(ROOT / name)
        self._green = {}
        self._broken = []
        return self

    def __exit__(self, *_):
        self._folder.cleanup()

    def fate(self, mutant):
        """Whether tests see a mutant.

        A test that fails without a mutant, too, is not asked again.

        Returns:
            `killed`, `survived` or `not run`; the test that saw it; the seconds that it took.
        """
        first, room, further = tests_of(mutant.path)
        reached = self.path / "reached"
        reached.unlink(missing_ok=True)
        target = self.path / mutant.path.relative_to(ROOT)
        mark = f"__import__('os').close(__import__('os').open({str(reached)!r}, 65, 384))"
        began = monotonic()
        target.write_bytes(mutant.source(mark))
        asked = (first, room, further if self._whole else ())
        seen = next(filter(None, map(self._run, asked)), None)
        shutil.copyfile(mutant.path, target)
        if seen and self._fails_anyway(seen):
            self._broken.append(f"--deselect={seen}")
            return self.fate(mutant)
        fate = "killed" if seen else "survived" if reached.exists() else "not run"
        return fate, seen or "", monotonic() - began

    def _fails_anyway(self, test):
        if test == "time":
            return False
        if test not in self._green:
            self._green[test] = not self._run([test])
        return not self._green[test]

    def _run(self, tests):
        """The first test that fails, `time` where they do not end, or None."""
        if not tests:
            return None
        command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header"]
        command += [
            "-p",
            "no:cacheprovider",
            "-p",
            "no:randomly",
            "--tb=no",
            "-rfE",
            *self._broken,
            *tests,
        ]
        path = {"PYTHONPATH": str(self.path), "PYTHONDONTWRITEBYTECODE": "1"}
        try:
            done = subprocess.run(
                command,
                cwd=self.path,
                env=os.environ | path,
                capture_output=True,
                text=True,
                timeout=self._seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return "time"
        if done.returncode in {0, 5}:
            return None
        for line in reversed(done.stdout.splitlines()):
            if line.startswith(("FAILED ", "ERROR ")):
                return line.split()[1].partition("[")[0]
        return tests[0]
