"""The outbox under threads, on a small volume, and under a clock that is set.

`python -m tests.benchmarks outbox` takes some minutes; the volumes need root on Linux. A thousand
rollouts with faults and kills are in `rollouts`.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from time import perf_counter, sleep
from typing import TYPE_CHECKING

from rich.table import Table

from reward_functions.rollouts.report.outbox.sqlite import LOG_PAGES, PAGE, SqliteOutbox
from reward_functions.rollouts.request.clock import steady
from reward_functions.rollouts.request.outcomes import Reported
from tests.outbox_accidents import clock_is_set, full_and_killed, many_on_a_small_volume, volume
from tests.rollouts.report.outbox.reports import episode, outcome, reported

if TYPE_CHECKING:
    from rich.console import Console

THREADS, EACH = 128, 8
PAUSES = [0.0, 0.5]
"""Seconds that an episode takes on average; at 0.0 every thread writes all the time."""
HOUR = 3_600.0
CLOCKS = [HOUR, -HOUR, 24 * HOUR, -24 * HOUR]


def report(console: Console) -> None:
    """Print the figures of each accident."""
    commits(console)
    clocks(console)
    volumes(console)


def commits(console: Console) -> None:
    """From what an agent returned to its report on the disk."""
    table = Table(title=f"Returned to durable, {THREADS} threads (bar: 30 ms for p99)")
    for column in ("seconds an episode", "median, ms", "p99, ms", "reports a second", "fsync p99"):
        table.add_column(column, justify="right")
    for pause in PAUSES:
        bare = quantiles(fsyncs(), n=100)[98]
        began = perf_counter()
        took = durable(pause)
        rate = len(took) / (perf_counter() - began)
        p99 = quantiles(took, n=100)[98]
        figures = f"{median(took):.1f}", f"{p99:.1f}", f"{rate:.0f}", f"{bare:.1f}"
        table.add_row(f"{pause:g}", *figures)
    console.print(table)


def fsyncs(times: int = 200) -> list[float]:
    """The yardstick: milliseconds of appending the pages of a group to a file and waiting for them,
    by one thread that does nothing else."""
    took: list[float] = []
    with TemporaryDirectory() as folder, (Path(folder) / "bare").open("wb", buffering=0) as file:
        for _ in range(times):
            began = perf_counter()
            file.write(bytes(LOG_PAGES * PAGE))
            os.fsync(file.fileno())
            took.append((perf_counter() - began) * 1000)
    return took


def durable(pause: float) -> list[float]:
    """Milliseconds of each `add`, beside the other writes of 128 episodes at a time."""
    took: list[float] = []
    with TemporaryDirectory() as folder:
        store = SqliteOutbox(Path(folder) / "outbox.sqlite3")

        def episodes(thread: int) -> None:
            chance = Random(thread)
            for number in range(EACH):
                name, now = f"r{thread}-{number}", steady()
                store.begin(episode(name, began=now), owner="a", now=now)
                sleep(2 * pause * chance.random())
                intents = reported(name, created=now)
                began = perf_counter()
                store.add(intents, due=now + 5)
                took.append((perf_counter() - began) * 1000)
                for intent in intents:
                    store.settle(intent, outcome(Reported, intent))

        with ThreadPoolExecutor(THREADS) as threads:
            list(threads.map(episodes, range(THREADS)))
        store.close()
    return took


def clocks(console: Console) -> None:
    """Durable reports behind a clock that is set under a live process, and beside a kill."""
    table = Table(title="The clock is set under 200 durable reports (bar: 200)")
    for column in ("seconds", "kill -9", "rewarded", "after, s"):
        table.add_column(column, justify="right")
    for kill in (False, True):
        for seconds in CLOCKS:
            with TemporaryDirectory() as folder:
                counted, took = clock_is_set(folder, seconds, kill=kill)
            table.add_row(f"{seconds:+g}", "yes" if kill else "", str(counted), f"{took:.1f}")
    console.print(table)


def volumes(console: Console) -> None:
    """A volume of 3 MB: 10,000 reports through it, and 300 that lie on it when it is full."""
    table = Table(title="A volume of 3 MB")
    table.add_column("what")
    table.add_column("number", justify="right")
    with TemporaryDirectory() as folder, volume(folder) as place:
        if place is None:
            console.print("A volume of 3 MB: not measured, as this user may not mount one")
            return
        taken, log, used = many_on_a_small_volume(place)
    with TemporaryDirectory() as folder, volume(folder) as place:
        full = full_and_killed(folder, place)
    for name, figure in [
        ("reports taken, of 10,000", f"{taken:,}"),
        ("largest log, bytes", f"{log:,}"),
        ("space that was freed is used", str(used)),
        ("full and killed: rewarded, of 300", str(full.counted)),
        ("full and killed: sent again", str(full.again)),
        ("full and killed: lines that announce 109 episodes, in 45 s", str(full.said)),
        ("full and killed: seconds until all were rewarded", f"{full.seconds:.1f}"),
        ("full and killed: seconds from freed space to a drained outbox", f"{full.recorded:.1f}"),
    ]:
        table.add_row(name, figure)
    console.print(table)
