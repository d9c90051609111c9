"""A run that skips too many tests, or one without a reason, fails."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.skips import MOST, Skips

ROOT = Path(__file__).parents[1]


class Report:
    skipped = True

    def __init__(self, reason):
        self.longrepr = ("test_a.py", 1, f"Skipped: {reason}")


@pytest.mark.parametrize(
    ("reasons", "complaint"),
    [
        ([], ""),
        (["no Chromium"] * MOST, ""),
        (["no Chromium"] * (MOST + 1), f"{MOST + 1} tests were skipped; {MOST} may be"),
        (["no Chromium", ""], "1 tests were skipped without a reason"),
    ],
)
def test_skips_are_few_and_have_a_reason(reasons, complaint):
    skips = Skips()
    for reason in reasons:
        skips.pytest_runtest_logreport(Report(reason))
    assert skips.complaint().startswith(complaint)
    assert bool(skips.complaint()) == bool(complaint)


@pytest.mark.parametrize(("reason", "status"), [("not here", 0), ("", 1)])
def test_the_whole_run_fails(tmp_path, reason, status):
    source = f"import pytest\ndef test_a(): pytest.skip({reason!r})\ndef test_b(): pass\n"
    (tmp_path / "test_a.py").write_text(source, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.skips", "-p", "no:cacheprovider"]
    command += ["-p", "no:hypothesispytest", "-p", "no:langsmith_plugin", "--rootdir", tmp_path]
    done = subprocess.run(
        [*command, tmp_path], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == status, done.stdout
    assert ("without a reason" in done.stdout) == bool(status)
