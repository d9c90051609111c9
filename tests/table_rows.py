"""Runs the rows of a table as one test, where they need nothing of their own.

What pytest does around a test takes longer than most rows of a table do. So the first row brings
the others along: the function is called for each, and one that fails is reported under its own
name, with what it printed. Rows that pass count as the test of the first. A row is a test of its
own where a fixture is made anew for it, where a mark is for it, and where each is to be seen: with
`-v`, `--pdb` and `--collect-only`. What a row has logged is shown only where it runs alone.
"""

from copy import copy

import pytest

from tests.costs import BROUGHT

ROWS = pytest.StashKey()
"""The other rows of a table, at its first."""

MARKS = {"aws", "parametrize", "slow", "usefixtures"}
"""Marks that ask for nothing while a row runs."""

PLAIN = {"argnames", "argvalues", "ids"}
"""What a table says that no fixture asks for: with a scope, one that is shared may."""


def _values(item):
    """The names of what the rows of a table are; not of what fixtures may ask for."""
    found = set()
    for mark in item.iter_markers("parametrize"):
        names = mark.args[0] if mark.args else mark.kwargs["argnames"]
        if len(mark.args) <= 2 and mark.kwargs.keys() <= PLAIN:
            found.update(names.replace(",", " ").split() if isinstance(names, str) else names)
    return found


def _table(item):
    """The table that a test is a row of; None where it must be a test of its own."""
    if not isinstance(item, pytest.Function) or not hasattr(item, "callspec") or item.cls:
        return None
    values, fixtures = _values(item), item._fixtureinfo.name2fixturedefs
    shared = [name for name in item.fixturenames if name not in values]
    alone = (
        not item.callspec.params.keys() <= values
        or any(name not in fixtures or fixtures[name][-1].scope == "function" for name in shared)
        or any(mark.name not in MARKS for mark in item.iter_markers())
    )
    return None if alone else (item.parent, item.originalname)


def gather(items):
    """The tests to run: the first row of each table, and what is no row."""
    firsts, found = {}, []
    for item in items:
        table = _table(item)
        if table in firsts:
            firsts[table].stash[ROWS].append(item)
            continue
        if table:
            firsts[table] = item
            item.stash[ROWS] = []
        found.append(item)
    return found


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtestloop(session):
    """Gather them: all that chooses among tests has chosen, by the names of rows."""
    option = session.config.option
    if not (option.collectonly or option.usepdb or option.verbose > 0):
        session.items = gather(session.items)
        session.testscollected = len(session.items)
    return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Call the function for the rows that it brought along, then for its own."""
    rows = pyfuncitem.stash.get(ROWS, [])
    for row in rows:
        _run(row, pyfuncitem)
        if pyfuncitem.session.shouldfail:
            break
    if rows:
        pyfuncitem.user_properties.append((BROUGHT, len(rows)))
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Skip the rows, or let them fail, where what they share does at the first."""
    report = yield
    if call.when == "setup" and not report.passed:
        for row in item.stash.get(ROWS, []):
            own = copy(report)
            own.nodeid, own.location = row.nodeid, row.location
            row.ihook.pytest_runtest_logreport(report=own)
    return report


def _run(row, first):
    row.config.hook.pytest_row_begins(item=row)
    values = {**first.funcargs, **row.callspec.params}
    call = pytest.CallInfo.from_call(
        lambda: row.obj(**{name: values[name] for name in row._fixtureinfo.argnames}),
        "call",
        reraise=(pytest.exit.Exception, KeyboardInterrupt),
    )
    capture = row.config.pluginmanager.getplugin("capturemanager")
    for stream, text in zip(("stdout", "stderr"), capture.read_global_capture(), strict=True):
        row.add_report_section("call", stream, text)
    if call.excinfo:
        report = row.ihook.pytest_runtest_makereport(item=row, call=call)
        row.ihook.pytest_runtest_logreport(report=report)


class Hooks:
    """What others may do."""

    @pytest.hookspec
    def pytest_row_begins(self, item):
        """Make a row's state its own."""


def pytest_addhooks(pluginmanager):
    """Add it."""
    pluginmanager.add_hookspecs(Hooks)
