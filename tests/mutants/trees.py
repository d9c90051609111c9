"""A copy of the project to break, and the tests that are asked whether they see it."""

import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from time import monotonic

from tests.architecture.rooms import PACKAGE, ROOT

SECONDS = 600
"""The most that the tests of one mutant take; a mutant that makes them hang is killed."""

EVERYWHERE = ("tests/conformance", "tests/rewards")
"""Folders that look at every room."""


@cache
def tests_of(path):
    """The test files that may see a change of a file, the likeliest first.

    They lie in the folder of its room, or name its module, or a name that it defines in public.
    """
    dotted = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    folder = _mirror(path)
    ranked = []
    for test in sorted((ROOT / "tests").rglob("test_*.py")):
        text = test.read_text(encoding="utf-8")
        inside = folder in test.parents
        rank = 4 * text.count(dotted) + 3 * (path.stem in test.stem) + text.count(path.stem)
        if inside or dotted in text:
            ranked.append((-rank, str(test.relative_to(ROOT))))
    return tuple(name for _, name in sorted(ranked))


def _mirror(path):
    """The deepest folder of tests that stands for a file's folder."""
    folder = ROOT / "tests" / path.parent.relative_to(PACKAGE)
    while not folder.is_dir():
        folder = folder.parent
    return folder


class Tree:
    """A copy of the project's files below a temporary folder."""

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
        tests = tests_of(mutant.path)
        reached = self.path / "reached"
        reached.unlink(missing_ok=True)
        target = self.path / mutant.path.relative_to(ROOT)
        mark = f"__import__('os').close(__import__('os').open({str(reached)!r}, 65, 384))"
        began = monotonic()
        target.write_bytes(mutant.source(mark))
        seen = self._run(tests)
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
                timeout=SECONDS,
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
