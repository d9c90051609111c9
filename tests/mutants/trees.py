"""A copy of the project to break, and the tests that are asked whether they see it."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from time import monotonic

from tests.architecture.rooms import PACKAGE, ROOT
from tests.architecture.sources import nodes
from tests.check import HOSTS, TESTS, importers, mirror, module_of, text_of
from tests.mutants.copies import ANEW, ASKED, EARLY, SAID
from tests.speed import AWS, SLOW

WORD = re.compile(r"\w+")

LATE = (*SLOW, *AWS, "tests/notebooks/", "tests/options/")
"""Where tests are dear: they are asked last, but for those of a file's own room."""

EVERYWHERE = (TESTS / "conformance", TESTS / "verifiers")
"""Folders that look at every room, or at most."""

FURTHER = 10
"""So many times the seconds of a processor may pass for tests of other rooms."""

FIRST = 6
"""So many files are asked first: most mutants die there."""


@cache
def _tests():
    """The text of every file of tests that can be collected here."""
    here = [path for path in sorted(TESTS.rglob("test_*.py")) if HOSTS not in path.parents]
    return {path: text_of(path) for path in here}


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
        own = inside or TESTS / path.relative_to(PACKAGE).parts[0] in test.parents
        if not inside and (test not in importing or (name.startswith(LATE) and not own)):
            last += [name] if test in importing else []
            continue
        called = path.stem in test.stem or path.parent.name in test.stem
        rank = 4 * (test in importing) + 4 * called + 2 * inside
        rank += len(names & set(WORD.findall(text)))
        dear = "local_aws" in text or name.startswith(SLOW)
        ranked.append((dear, -rank, name))
    ordered = [name for *_, name in sorted(ranked)]
    users = importers([module_of(path)], PACKAGE.rglob("*.py"))
    folders = {mirror(user) for user in users} - {folder, TESTS} | {*EVERYWHERE}
    beside = [str(test.relative_to(ROOT)) for test in _tests() if folders & {*test.parents}]
    further = dict.fromkeys(sorted(beside, key=lambda name: name.startswith(LATE)) + last)
    return ordered[:FIRST], ordered[FIRST:], [name for name in further if name not in ordered]


def nearer(path):
    """The tests that are asked of every mutant of a file."""
    first, room, _ = tests_of(path)
    return [*first, *room]


def further(path):
    """The tests that are asked where the nearer ones see nothing: no dear ones of another room."""
    folders = (*EVERYWHERE, TESTS / path.relative_to(PACKAGE).parts[0])
    asked = tuple(f"{folder.relative_to(ROOT)}/" for folder in folders)
    names = tests_of(path)[2]
    return [name for name in names if name.startswith(asked) or not name.startswith(LATE)]


def _defined(path):
    """The public names that a file defines, methods among them."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    found = {node.name for node in nodes(path) if isinstance(node, kinds)}
    return {name for name in found if not name.startswith("_")}


class Tree:
    """A copy of the project's files below a temporary folder, and a process that runs tests there.

    Args:
        files: that are to be broken; the tests of these are collected.
        whole: where the nearer tests see nothing, ask those that are further away, too, but the
            dear ones of other rooms.
        seconds: of a processor, the most that one ask takes; a mutant that makes the tests hang is
            killed.
    """

    def __init__(self, files, whole, seconds):
        self._files, self._whole, self._seconds = files, whole, seconds

    def __enter__(self):
        with ExitStack() as undo:
            folder = undo.enter_context(tempfile.TemporaryDirectory(prefix="mutants-"))
            self.path = Path(folder) / ROOT.name
            _copy_to(self.path)
            self._begun = {}
            self._green, self._broken = {}, []
            self._undo = undo.pop_all()
        return self

    def __exit__(self, *_):
        self._undo.close()

    def _runner(self, asked):
        """The process that answers for these tests of every file; it begins when it is needed."""
        if asked not in self._begun:
            wanted = {name for file in self._files for name in asked(file)}
            runner = Runner(self.path, sorted(wanted))
            self._begun[asked] = self._undo.enter_context(runner)
        return self._begun[asked]

    def fate(self, mutant):
        """Whether tests see a mutant.

        A test that fails without a mutant, too, is not asked again. What runs while tests are
        collected is seen by a new process alone: the nearest tests are asked again in one, and all
        of the room's where `whole` is asked for.

        Returns:
            `killed`, `survived` or `not run`; the test that saw it; the seconds that it took.
        """
        reached = self.path / "reached"
        reached.unlink(missing_ok=True)
        mark = f"__import__('os').close(__import__('os').open({str(reached)!r}, 65, 384))"
        began, broken, ran = monotonic(), mutant.source(mark), False
        for asked in (nearer, further) if self._whole else (nearer,):
            seen = self._seen_broken(mutant, broken, asked)
            if "::" in seen and self._fails_anyway(mutant.path, seen, asked):
                self._broken.append(seen)
                return self.fate(mutant)
            ran = ran or reached.exists()
            if seen:
                break
        fate = "killed" if seen else "survived" if ran else "not run"
        return fate, seen, monotonic() - began

    def _seen_broken(self, mutant, broken, asked):
        """What tests see while the file is broken, and is whole again."""
        target, tests = self._there(mutant.path), asked(mutant.path)
        if not tests:
            return ""
        runner = self._runner(asked)  # it imports what is not yet broken
        target.write_bytes(broken)
        try:
            seen = runner.seen(target, mutant.line, tests, self._broken, self._limit(asked))
            if asked is further:
                # These have no end of their own: only a test that fails shows anything.
                return seen if "::" in seen else ""
            if seen in {ANEW, EARLY}:
                seen = self._seen_anew(target, mutant.line, tests, early=seen == EARLY)
            return seen
        finally:
            shutil.copyfile(mutant.path, target)

    def _there(self, path):
        return self.path / path.relative_to(ROOT)

    def _limit(self, asked):
        return self._seconds * (1 if asked is nearer else FURTHER)

    def _seen_anew(self, target, line, tests, *, early):
        """What a process sees that imports the broken file; all of its tests may fail at once."""
        tests = tests[:FIRST] if early and not self._whole else tests
        try:
            with Runner(self.path, tests) as anew:
                seen = anew.seen(target, line, tests, self._broken, self._seconds)
                return "" if seen == EARLY else seen
        except RuntimeError:
            return "import"

    def _fails_anyway(self, path, test, asked):
        if test not in self._green:
            tests = asked(path)
            before = tests[: tests.index(test.partition("::")[0]) + 1]
            seen = self._runner(asked).seen(
                self._there(path), 0, before, self._broken, self._limit(asked)
            )
            self._green[test] = seen != test
        return not self._green[test]


def _copy_to(folder):
    """Copy the files that git knows, and lead to what was installed."""
    tracked = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True
    ).stdout.split(b"\0")
    for name in filter(None, map(os.fsdecode, tracked)):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, target)
    for name in (".venv", "node_modules"):
        (folder / name).symlink_to(ROOT / name)


class Runner:
    """A process that has collected tests; see `tests.mutants.copies`."""

    def __init__(self, folder, tests):
        self._folder, self._tests = folder, tests

    def __enter__(self):
        asks, told = os.pipe()
        heard, said = os.pipe()
        self._output = tempfile.TemporaryFile()
        command = [sys.executable, "-m", "pytest", "-q", "--no-header", "--tb=no"]
        command += ["-p", "tests.mutants.copies", "-p", "no:cacheprovider", "-p", "no:randomly"]
        environment = {ASKED: str(asks), SAID: str(said), "PYTHONDONTWRITEBYTECODE": "1"}
        self._process = subprocess.Popen(
            [*command, *self._tests],
            cwd=self._folder,
            env=os.environ | environment | {"PYTHONPATH": str(self._folder)},
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=subprocess.STDOUT,
            pass_fds=(asks, said),
        )
        os.close(asks)
        os.close(said)
        self._asks, self._said = os.fdopen(told, "w", buffering=1), os.fdopen(heard)
        self._heard()  # what is broken before would be imported broken
        return self

    def __exit__(self, *_):
        self._asks.close()
        self._process.wait()
        self._said.close()
        self._output.close()

    def seen(self, file, line, tests, skip, seconds):
        """What the copies answer of tests, where a line of a file is broken."""
        ask = {"file": str(file), "line": line, "tests": [*tests]}
        ask |= {"skip": skip, "seconds": seconds}
        print(json.dumps(ask), file=self._asks)
        return self._heard()

    def _heard(self):
        line = self._said.readline()
        if not line:
            self._output.seek(0)
            raise RuntimeError(self._output.read().decode())
        return line.strip()
