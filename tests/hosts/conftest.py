"""Tests of a host are collected in its own environment alone, by `make adapters`."""

from importlib.metadata import version
from importlib.util import find_spec

import pytest

from tests.hosts.table import HOSTS

collect_ignore = [host.name for host in HOSTS if not find_spec(host.name)]

MEASURED = pytest.StashKey()


def pytest_configure(config):
    config.stash[MEASURED] = []


def pytest_report_header():
    here = [host for host in HOSTS if find_spec(host.name)]
    shown = dict.fromkeys(name for host in here for name in (*host.shown, *host.torch * ("torch",)))
    return ["hosts: " + ", ".join(f"{name} {version(name)}" for name in shown)] if shown else []


def pytest_terminal_summary(terminalreporter, config):
    for sentence in config.stash[MEASURED]:
        terminalreporter.write_line(f"measured: {sentence}")


@pytest.fixture
def measured(request):
    """Takes a sentence that is printed at the end of the run."""
    return request.config.stash[MEASURED].append
