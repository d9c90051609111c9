"""A run that skips too many tests, or one without a reason, fails."""

import pytest

from tests.skips import MOST, Skips
from tests.small_runs import run_pytest


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
    plugins = ("tests.skips", "no:cacheprovider")
    ended, said = run_pytest(tmp_path, {"test_a.py": source}, plugins=plugins)
    assert ended == status, said
    assert ("without a reason" in said) == bool(status)
