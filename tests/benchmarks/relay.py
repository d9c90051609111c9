"""The relay: 10,000 calls, 64 at a time, every token the engine's; what one costs, and memory.

The engine is scripted and in a process of its own. The yardstick is the same calls of the same
clients straight to the engine. Each session is closed after 100 calls and its trajectory dropped;
then 10,000 turns are held at once, for the memory of a turn.
"""

from __future__ import annotations

import gc
import multiprocessing
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter, process_time
from typing import TYPE_CHECKING

from rich.table import Table

from reward_functions.rollouts.relay import Relay
from tests.rollouts.record.relay.engines import Engine
from tests.rollouts.record.relay.load import Caller, load

if TYPE_CHECKING:
    from rich.console import Console

SESSIONS, CALLS, AT_ONCE = 100, 100, 64


def report(console: Console) -> None:
    """Print what the calls came to, and what they cost."""
    table = Table(title=f"{SESSIONS * CALLS:,} calls, {AT_ONCE} at a time, half of them streamed")
    for column in ("what", "calls/s", "processor, ms a call", "wrong", "MB resident"):
        table.add_column(column, justify="left" if column == "what" else "right")
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    child = context.Process(target=serve, args=(theirs,), daemon=True)
    child.start()
    url = ours.recv()
    try:
        row(table, "straight to the engine (yardstick)", lambda: direct(url))
        with Relay(url).serving() as relay:
            row(table, "through the relay, checked", lambda: load(relay, SESSIONS, CALLS).wrong)
            refused(console, relay)
            before = resident()
            with relay.session("held") as session:
                hold(session)
                gc.collect()
                each = (resident() - before) * 1024 / CALLS**2 * 1.0
                console.print(f"a turn of one message and 26 numbers of tokens: {each:.1f} KB held")
    finally:
        ours.send(None)
        child.join()
    console.print(table)


def row(table: Table, what: str, run: object) -> None:
    """One line of the table."""
    wall, processor = perf_counter(), process_time()
    wrong = run()
    wall, processor = perf_counter() - wall, process_time() - processor
    calls = SESSIONS * CALLS
    cost, held = f"{processor / calls * 1000:.2f}", f"{resident():.0f}"
    table.add_row(what, f"{calls / wall:.0f}", cost, str(len(wrong)), held)


def direct(url: str) -> list[str]:
    """The same calls without a relay."""

    def one(at: int) -> None:
        caller = Caller(url, "none")
        for number in range(CALLS):
            caller.chat(f"s{at} {number}", stream=bool(number % 2))
        caller.close()

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(one, range(SESSIONS)))
    return []


def hold(session: object) -> None:
    """As many turns again, in one session."""

    def one(at: int) -> None:
        caller = Caller(session.base_url, session.key)
        for number in range(CALLS):
            caller.chat(f"h{at} {number}", stream=False)
        caller.close()

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(one, range(CALLS)))


def refused(console: Console, relay: Relay) -> None:
    """What closed and foreign sessions are answered."""
    closed, mine, foreign = relay.session(), relay.session(), relay.session()
    closed.close()
    found = [
        Caller(url, key).chat("x", stream=False)[0]
        for url, key in (
            (closed.base_url, closed.key),
            (mine.base_url, foreign.key),
            (f"{relay.url}/v1", closed.key),
            (f"{relay.url}/sessions/none/v1", mine.key),
        )
    ]
    names = ("closed", "foreign key", "key of a closed one", "unknown")
    console.print(", ".join(f"{name}: {status}" for name, status in zip(names, found, strict=True)))
    mine.close()
    foreign.close()


def serve(pipe: object) -> None:
    """The engine's process."""
    with Engine().serving() as engine:
        pipe.send(engine.url)
        pipe.recv()


def resident() -> float:
    """Megabytes of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    found = dict(line.split(":") for line in lines)
    return int(found["VmRSS"].split()[0]) / 1024
