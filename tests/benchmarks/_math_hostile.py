"""The hostile suite in a process of its own, so that its memory can be watched from outside.

    python -m tests.benchmarks._math_hostile

prints "ready" when the library is loaded, waits for a line, reads the cases, starts what `math`
starts late, judges every case, and prints [[id, answer, seconds], …]. The cases themselves count as
memory, too.
"""

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from time import perf_counter, sleep

from reward_functions import sample
from tests.oracle import ours, suites

BETWEEN_LOOKS = 0.005
"""Seconds between two looks at the memory. A peak that is shorter may be missed."""


def main():
    """Judge the cases; see the module's docstring."""
    ours.answered(sample("\\boxed{1/2}", "0.5"))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    samples = [case.sample for case in suites.hostile()]
    ours.warmed()
    results = []
    for each in samples:
        began = perf_counter()
        answer = ours.answered(each)
        results.append((each.id, answer, perf_counter() - began))
    sys.stdout.write(json.dumps(results) + "\n")


def judged(*, watched):
    """(the results, bytes of memory above the start at their peak: 0 where nobody watched)."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.benchmarks._math_hostile"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        process.stdout.readline()
        start = memory(process.pid) if watched else 0
        process.stdin.write("go\n")
        process.stdin.flush()
        peak = start
        while watched and running(process.pid):
            peak = max(peak, memory(process.pid))
            sleep(BETWEEN_LOOKS)
        return json.loads(process.stdout.readline()), peak - start


def running(process):
    """Whether a process has neither ended nor become a zombie."""
    with suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def memory(process):
    """Bytes of a process and its descendants by PSS: a page that two share counts half in each."""
    total = 0
    with suppress(OSError):  # it may end while it is looked at
        rollup = Path(f"/proc/{process}/smaps_rollup").read_text()
        total = 1024 * int(rollup.partition("\nPss:")[2].split()[0])
    return total + sum(map(memory, children(process)))


def children(process):
    """The processes that any thread of a process started."""
    with suppress(OSError):
        for thread in Path(f"/proc/{process}/task").iterdir():
            yield from map(int, (thread / "children").read_text().split())


def watchable():
    """Whether this system tells what is asked of it here; Linux does."""
    return Path("/proc/self/smaps_rollup").exists()


if __name__ == "__main__":
    main()
