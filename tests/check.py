"""Check what changed, in seconds: linters, types, and the tests nearest to it.

    make check                  what differs from the last commit
    make check SINCE=main~3     what differs from that one

A changed module is checked by the tests of its folder, and by those of the folders that import it
directly. A changed test is run. Slow tests are left to `make test`, and so is what is further away.
"""

import argparse
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

from tests.architecture.rooms import PACKAGE, ROOT

TESTS = ROOT / "tests"

NO_TESTS = 5
"""What pytest ends with where none is left."""

HOSTS = TESTS / "hosts"
"""Its tests need environments of their own; pytest collects a file that is named, come what may."""

NEVER = (TESTS / "deploy", HOSTS)
"""Folders whose tests deploy, or cannot be collected here."""


def git(*arguments):
    """The lines that git prints."""
    done = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(done.stderr.strip())
    return done.stdout.splitlines()


def changed_since(commit):
    """The files that differ from a commit's, those that git does not know yet among them."""
    names = git("diff", "--name-only", "--diff-filter=d", commit)
    names += git("ls-files", "--others", "--exclude-standard")
    return [ROOT / name for name in names]


def module_of(path):
    """The dotted name that imports a file of the package."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def mirror(path):
    """The deepest folder of tests that stands for a file's folder."""
    folder = TESTS / path.parent.relative_to(PACKAGE)
    while not folder.is_dir():
        folder = folder.parent
    return folder


def importers(modules, files):
    """The files that import one of the modules directly."""
    patterns, names = [], []
    for module in modules:
        parent, _, name = module.rpartition(".")
        names.append(name)
        patterns.append(rf"(?:from|import) {re.escape(module)}\b(?!\.)")
        patterns.append(
            rf"from {re.escape(parent)} import (?:\([^)]*|[^\n(]*)\b{re.escape(name)}\b"
        )
    found = re.compile("|".join(patterns))
    # Most files do not hold the word: to look for it is much less work than the pattern.
    return [
        path
        for path in files
        if any(name in text_of(path) for name in names) and found.search(text_of(path))
    ]


@cache
def text_of(path):
    """The text of a file, read once."""
    return path.read_text(encoding="utf-8")


def chosen(changed):
    """The folders and files of tests that look at what changed."""
    package = [path for path in changed if path.suffix == ".py" and PACKAGE in path.parents]
    tests = {path for path in changed if path.match("test_*.py") and TESTS in path.parents}
    if package:
        modules = [module_of(path) for path in package]
        users = importers(modules, PACKAGE.rglob("*.py"))
        tests.update(importers(modules, TESTS.rglob("test_*.py")))
        tests.update(mirror(path) for path in [*package, *users] if mirror(path) != TESTS)
    for table in changed:
        if TESTS / "cases" in table.parents:
            tests.update(
                path for path in TESTS.rglob("test_*.py") if table.stem in path.read_text()
            )
    kept = sorted(path for path in tests if not {path, *path.parents} & {*NEVER})
    return [path for path in kept if not any(folder in path.parents for folder in kept)]


def main():
    """Run it; returns 1 where something is wrong."""
    parser = argparse.ArgumentParser("python -m tests.check", description=__doc__)
    parser.add_argument("--since", default="HEAD", help="the commit to compare with")
    changed = changed_since(parser.parse_args().since)
    if not changed:
        print("Nothing differs from the last commit; SINCE=HEAD~1 checks what that one changed.")
        return 0
    sources = [str(path) for path in changed if path.suffix == ".py"]
    typed = [name for name in sources if PACKAGE in Path(name).parents]
    tests = [str(path.relative_to(ROOT)) for path in chosen(changed)]
    print(f"{len(changed)} files differ; tests of: {', '.join(tests) or 'nothing'}", flush=True)
    wanted = (
        (sources, ["ruff", "check", "--quiet"]),
        (sources, ["ruff", "format", "--check", "--quiet"]),
        (typed, ["mypy", "--no-error-summary", "--follow-imports=silent"]),
        (tests, ["pytest", "--quiet", "--numprocesses=auto", "-m", "not slow"]),
    )
    failed = [tool[0] for names, tool in wanted if names and not passes(tool, names)]
    if failed:
        print("Not right:", *failed)
    return int(bool(failed))


def passes(tool, names):
    """Whether a tool is content with files; tests that are all slow are left to `make test`."""
    done = subprocess.run([sys.executable, "-m", *tool, *names], cwd=ROOT, check=False)
    return done.returncode in {0, NO_TESTS}


if __name__ == "__main__":
    sys.exit(main())
