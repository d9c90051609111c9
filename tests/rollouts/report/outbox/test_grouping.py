"""Writes of many threads become one commit; each thread gets what became of its own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from reward_functions.rollouts.report.outbox.sqlite import Grouping, Write
from reward_functions.rollouts.request.errors import ConflictingReport, OutboxUnavailable
from tests.waiting import until


class Disk:
    """A commit that waits until it may go on; `groups` are what it wrote."""

    def __init__(self):
        self.began, self.go = Event(), Event()
        self.groups = []
        self.fails = False

    def commit(self, group):
        self.began.set()
        assert self.go.wait(60.0)
        self.groups.append(len(group))
        if self.fails:
            self.fails = False
            raise KeyboardInterrupt
        for each in group:
            each.do(self)


def together(disk, works):
    """What several threads get that write while a first one waits for the disk."""
    grouping = Grouping(disk.commit)

    def outcome(work):
        try:
            return grouping.write(Write(work, durable=True))
        except (ConflictingReport, OutboxUnavailable, KeyboardInterrupt) as error:
            return type(error).__name__

    with ThreadPoolExecutor(len(works) + 1) as threads:
        first = threads.submit(outcome, lambda _: "first")
        assert disk.began.wait(60.0)
        rest = [threads.submit(outcome, work) for work in works]
        until(lambda: len(grouping._queue) == len(works))
        disk.go.set()
        return [first.result(), *[each.result() for each in rest]], grouping


def test_what_comes_during_a_commit_is_the_next_one():
    disk = Disk()
    got, _ = together(disk, [lambda _, number=number: number for number in range(9)])
    assert got == ["first", *range(9)]
    assert disk.groups == [1, 9]


def conflict(_):
    raise ConflictingReport


def test_an_error_of_one_is_nobody_elses():
    disk = Disk()
    got, _ = together(disk, [lambda _: 1, conflict, lambda _: 3])
    assert got == ["first", 1, "ConflictingReport", 3]
    assert disk.groups == [1, 3]


def test_who_leads_and_is_interrupted_leaves_the_lead_to_the_next():
    disk = Disk()
    disk.fails = True
    got, grouping = together(disk, [lambda _: 1, lambda _: 2])
    assert got == ["KeyboardInterrupt", 1, 2]
    assert grouping.write(Write(lambda _: 4, durable=False)) == 4


def test_who_waits_for_an_interrupted_leader_is_told_that_nothing_is_durable():
    disk = Disk()
    grouping = Grouping(disk.commit)
    disk.go.set()
    disk.fails = True
    waiting = Write(lambda _: 1, durable=True)
    grouping._queue.append(waiting)
    with pytest.raises(KeyboardInterrupt):
        grouping.write(Write(lambda _: 2, durable=True))
    assert isinstance(waiting.error, OutboxUnavailable)
    assert waiting.woken.is_set()


@pytest.mark.parametrize("chosen", [False, True], ids=["waiting", "chosen to lead"])
def test_who_is_interrupted_while_it_waits_stops_nobody(chosen):
    grouping = Grouping(lambda group: [each.do(None) for each in group])
    gone, other = Write(lambda _: 1, durable=True), Write(lambda _: 2, durable=True)
    gone.leads = chosen
    grouping._led = True
    grouping._queue += [gone, other]

    class Interrupted(Event):
        def wait(self, timeout=None):
            raise KeyboardInterrupt

    gone.woken = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        grouping._wait(gone)
    assert grouping._queue == [other]
    assert other.leads == chosen
