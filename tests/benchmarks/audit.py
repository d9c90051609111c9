"""`reward audit` beside two other auditors, over planted faults; and how long it takes.

Bars: each fault is found by the class that is meant to find it, and by none in its twin; 300 rows
and every class of `math` take at most 30 seconds. A row where another finds what ours does not is
named below the table.
"""

from tempfile import TemporaryDirectory
from time import perf_counter

from rich.table import Table

from reward_functions import get, sample, score_batch
from reward_functions.audit.engine import audit
from tests.audit import faults
from tests.audit.shipped import made
from tests.audit.test_engine import FAULTS, ROWS, found
from tests.benchmarks._auditors import RIVALS, found_by_others

MOST_SECONDS = 30.0

SLOW = "time grows with the square of the length"

PLANTED = {
    **{
        name: (reward, twin, meant)
        for name, (reward, twin, meant, _) in FAULTS.items()
        if not isinstance(reward, type)  # a class makes one that has no state yet
    },
    SLOW: (faults.slow, faults.good, "GROWTH"),
}

TIMED = {"classes": ["EX-EMPTY"], "latency": True}
"""Of the fault that is slow: what it takes beside the rest of an audit is measured alone."""


def rows():
    """Questions with a whole number as their answer, each another one."""
    asked = "What is {} times 4, plus 17? Write the answer behind ####, as in #### 5."
    return [
        sample("", str(at * 4 + 17), prompt=asked.format(at), id=f"r{at}") for at in range(ROWS)
    ]


def ours(name, asked):
    """What an audit finds of a fault, and not of its twin."""
    reward, twin, _ = PLANTED[name]
    options = TIMED if name == SLOW else {}
    return found(audit(reward, asked, **options)) - found(audit(twin, asked, **options))


def report(console):
    """Print who finds which fault, and the time of an audit of `math`."""
    asked = rows()
    with TemporaryDirectory() as folder:
        others = found_by_others({name: each[:2] for name, each in PLANTED.items()}, asked, folder)
    table = Table(title=f"{len(PLANTED)} planted faults: what finds them, and not their twins")
    for heading in ("fault", "reward audit", *RIVALS):
        table.add_column(heading)
    met, more = 0, []
    for name, (_, _, meant) in PLANTED.items():
        mine = ours(name, asked)
        met += meant in mine
        beside = [others[name][rival] for rival in RIVALS]
        if not mine and any(beside):
            more.append(name)
        table.add_row(name, _named(mine), *map(_named, beside))
    console.print(table)
    console.print(f"others find what `reward audit` does not: {'; '.join(more) or 'nowhere'}")
    console.print(f"bar: each is found by its own class, {met} of {len(PLANTED)}\n")
    _print_time(console)


def _named(found_here):
    """The first few, and how many more."""
    first = ", ".join(sorted(found_here)[:3])
    more = len(found_here) - 3
    return f"{first} and {more} more" if more > 0 else first or "–"


def _print_time(console):
    reward, data = get("math"), made("math")
    began = perf_counter()
    done = audit(reward, data)
    seconds = perf_counter() - began
    right = [each.answered(reward.gold_response(each)) for each in data]
    began = perf_counter()
    score_batch(reward, right)
    alone = perf_counter() - began
    table = Table(title=f"math: {len(data)} rows, every class")
    for heading in ("", "answers", "seconds", "µs an answer"):
        table.add_column(heading, justify="right" if heading else "left")
    answers = done.measured.measured
    table.add_row("right answers alone", str(len(right)), *_each(alone, len(right)))
    table.add_row("reward audit", f"{answers:,}", *_each(seconds, answers))
    console.print(table)
    console.print(f"bar: {MOST_SECONDS:g} s, {'met' if seconds <= MOST_SECONDS else 'MISSED'}\n")


def _each(seconds, answers):
    return f"{seconds:.1f}", f"{seconds / answers * 1e6:.0f}"
