"""Whether a verdict depends on how busy the machine is: bytes, idle and beside eight processes.

    python -m tests.benchmarks busy --times 20

A function of `math` is asked by 1, 4 and 16 threads: 9,000 real responses, where the labelled data
is at hand, and a batch of which half asks for algebra near and over the limit of calls. Each answer
is compared byte for byte with that of the idle machine by one thread. The batch is asked once more
with a deadline that is too short for it: no invocation may fail, and no sample may earn more than
on the idle machine.

Six processes ask at once, for all rounds: each is one more that computes beside the others, and the
rounds end in a third of the time. A line is printed for each round, and the sum at the end. All
processes are started here and ended by their ids. Not a part of `make test`: a round takes a minute
or two.
"""

import gzip
import hashlib
import json
import os
import subprocess
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import chain, islice
from multiprocessing import get_context
from operator import itemgetter
from time import monotonic

from rich.table import Table

from reward_functions.serving.handler import bind
from reward_functions.serving.imputation import BatchFailed
from reward_functions.serving.settings import LambdaSettings
from tests.conftest import SHARED

BUSY = 8
"""Processes that compute without end, more than there are processors."""

AT_ONCE = 6
"""Processes that ask."""

THREADS = (1, 4, 16)
REAL = 9_000
AMPLE, SHORT = 100_000.0, 4.0
"""Seconds that an invocation may take."""

FILES = ("math/real_boxed.jsonl.gz", "unseen/omni_rule.jsonl.gz", "unseen/gaokao26.jsonl.gz")

HARD = [
    (r"\lim_{n\to\infty}\frac{n!}{n^n}", "0"),
    (r"\int_0^{\pi/2}\sqrt{\tan x}\,dx", r"\frac{\pi}{\sqrt2}"),
    (r"\int_0^1 \frac{1}{\sqrt{1+x^4}}\,dx", "0.9"),
    (r"\int_0^{2\pi}\frac{1}{2+\cos x}\,dx", r"\frac{2\pi}{\sqrt3}"),
    (r"\int_0^1 \arcsin x\,dx", r"\frac{\pi}{2}-1"),
    (r"\sum_{k=0}^{n}\binom{n}{k}^2", r"\binom{2n}{n}"),
    (r"\int_0^{\infty}\frac{1}{1+x^4}\,dx", r"\frac{\pi}{2\sqrt2}"),
    (r"\int_0^1 x^{-x}\,dx", "1"),
]
"""References and answers whose comparison makes 200,000 calls and more."""


class Context:
    """Lambda's, of an invocation that has so many seconds."""

    aws_request_id = "busy"

    def __init__(self, seconds):
        self.ends = monotonic() + seconds

    def get_remaining_time_in_millis(self):
        """What is left of them."""
        return int(1000 * (self.ends - monotonic()))


def row(at, question, response, reference):
    """A sample as a trainer sends it."""
    turns = [{"role": "user", "content": question}, {"role": "assistant", "content": response}]
    return {"id": f"r{at}", "messages": turns, "reference_answer": reference}


def real():
    """Responses of models, as they were written."""
    files = [SHARED / each for each in FILES]
    lines = chain.from_iterable(
        gzip.decompress(file.read_bytes()).splitlines() for file in files if file.exists()
    )
    for at, line in enumerate(islice(lines, REAL)):
        held = json.loads(line)
        response = held["pred"]
        if held["pred_kind"] == "bare":
            response = f"\\boxed{{{response}}}"
        yield row(at, held.get("question") or held.get("prompt") or "", response, held["gold"])


def hard():
    """64 samples of 16 prompts; every second one asks for hard algebra, half of these wrongly."""
    for at in range(64):
        reference, answer = HARD[at // 2 % len(HARD)] if at % 2 else ("4", "4")
        given = answer if at % 4 < 2 else "7"
        yield row(at, f"Question {at // 4}?", f"It is \\boxed{{{given}}}", reference)


@cache
def batch(name):
    """The samples of a batch, made once in each process."""
    return list({"hard": hard, "real": real}[name]())


def asked(name, threads, seconds):
    """(bytes of the response or the name of what it failed with, seconds)."""
    rows = batch(name)
    function = bind(LambdaSettings(name="math", workers=threads, log_level="CRITICAL"))
    began = monotonic()
    try:
        answer = json.dumps(function(rows, Context(seconds)))
    except BatchFailed as failure:
        answer = type(failure).__name__
    return answer, monotonic() - began


@contextmanager
def busy():
    """Other processes compute meanwhile."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(BUSY)]
    try:
        yield
    finally:
        for each in others:
            each.kill()
        for each in others:
            each.wait()


def judged(answer, idle):
    """What of an answer counts: the same bytes, failed, and the samples that are paid too much."""
    if answer == BatchFailed.__name__:
        return Counter(failed=1)
    value = itemgetter("aggregate_reward_score")
    pairs = zip(json.loads(answer), json.loads(idle), strict=True)
    more = sum(value(now) > value(then) for now, then in pairs)
    imputed = sum(
        value(each) > 0 and any(m["name"] == "imputed" and m["value"] for m in each["metrics_list"])
        for each in json.loads(answer)
    )
    return Counter(same=int(answer == idle), more=more, imputed=imputed)


PARTS = [
    (name, threads, seconds)
    for name, deadlines in (("real", [AMPLE]), ("hard", [AMPLE, SHORT]))
    for seconds in deadlines
    for threads in THREADS
]
"""What is asked in one round, the longest first."""


def report(console, times=1):
    """Print how often a response differed, failed, or paid more, by round and in all."""
    began = monotonic()
    spawn = get_context("spawn")
    with ProcessPoolExecutor(AT_ONCE, mp_context=spawn, initializer=_silenced) as pool:
        idle = {name: pool.submit(asked, name, 1, AMPLE).result()[0] for name in ("hard", "real")}
        counts = {name: len(json.loads(answer)) for name, answer in idle.items()}
        console.print(
            f"{counts['real']:,} real and {counts['hard']} hard rows; idle: "
            f"{monotonic() - began:.0f} s"
        )
        sums, took = Counter(), Counter()
        with busy():
            rounds = [[(part, pool.submit(asked, *part)) for part in PARTS] for _ in range(times)]
            began = monotonic()
            for at, futures in enumerate(rounds, 1):
                total, digest = Counter(), hashlib.sha256()
                for part, future in futures:
                    answer, seconds = future.result()
                    found = judged(answer, idle[part[0]])
                    sums.update({(part, each): count for each, count in found.items()})
                    took[part] = max(took[part], seconds)
                    total += found
                    if part[2] == AMPLE:
                        digest.update(answer.encode())
                console.print(
                    f"round {at} of {times}: {digest.hexdigest()[:16]}, {_said(total)}, "
                    f"{monotonic() - began:.0f} s since the first began"
                )
    _table(console, times, counts, sums, took)
    ample = [part for part in PARTS if part[2] == AMPLE]
    equal = all(sums[part, "same"] == times for part in ample)
    every = Counter()
    for (_, each), count in sums.items():
        every[each] += count
    found = "all equal" if equal else "NOT EQUAL"
    console.print(f"{times} rounds: {found} to the idle machine, {_said(every)}")


def _said(counted):
    return (
        f"{counted['failed']} failed, {counted['imputed']} imputed above the minimum, "
        f"{counted['more']} paid more than idle"
    )


def _table(console, times, counts, sums, took):
    table = Table(
        title=f"math beside {BUSY} busy processes and {AT_ONCE - 1} that ask, {times} times"
    )
    for heading in ("rows", "threads", "deadline", "same bytes", "failed", "paid more", "seconds"):
        table.add_column(heading, justify="right" if heading != "rows" else "left")
    for part in PARTS:
        name, threads, seconds = part
        table.add_row(
            f"{counts[name]:,} {name}",
            str(threads),
            "ample" if seconds == AMPLE else f"{seconds:g} s",
            f"{sums[part, 'same']} of {times}",
            str(sums[part, "failed"]),
            str(sums[part, "more"]),
            f"{took[part]:.1f}",
        )
    console.print(table)


def _silenced():
    """The function writes its logs and metrics to standard output."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
