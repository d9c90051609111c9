"""How many tests a run may skip: each says why, and together they are few.

A test that needs what is not there (a Chromium, torch, `../shared`) is skipped with its reason. A
run that skips more than `MOST` fails: promises that nobody asks about any more are no promises.
"""

import pytest

MOST = 68
"""A clone without `../shared` skips 65, of which 39 ask for it."""


class Skips:
    """The tests that a run has skipped."""

    def __init__(self):
        self.reasons = []

    def pytest_runtest_logreport(self, report):
        """Note a skipped test."""
        if report.skipped and not hasattr(report, "wasxfail"):
            self.reasons.append(report.longrepr[2])

    def pytest_collectreport(self, report):
        """Note a file that skipped itself."""
        if report.skipped:
            self.reasons.append(report.longrepr[2])

    def complaint(self):
        """What is wrong with them, or ""."""
        if silent := sum(not reason.partition("Skipped:")[2].strip() for reason in self.reasons):
            return f"{silent} tests were skipped without a reason"
        if len(self.reasons) > MOST:
            return f"{len(self.reasons)} tests were skipped; {MOST} may be (tests/skips.py)"
        return ""


def pytest_configure(config):
    """Count."""
    config.pluginmanager.register(Skips(), "skips")


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session):
    """Fail a run that skipped too much."""
    skips = session.config.pluginmanager.getplugin("skips")
    if skips.complaint() and not session.exitstatus:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter, config):
    """Say so."""
    if complaint := config.pluginmanager.getplugin("skips").complaint():
        terminalreporter.write_line(complaint, red=True)
