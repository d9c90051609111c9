"""Whether a verdict depends on how busy the machine is: bytes, idle and beside eight processes.

    python -m tests.benchmarks busy --times 20

A function of `math` is asked by 1, 4 and 16 threads: 9,000 real responses, where the labelled data
is at hand, and a batch of which half asks for algebra near and over the limit of calls. Each answer
is compared byte for byte with that of the idle machine by one thread. The batch is asked once more
with a deadline that is too short for it: no invocation may fail, and no sample may earn more than
on the idle machine. The busy processes are started here and ended by their ids. Not a part of
`make test`: one round takes some minutes.
"""

import gzip
import json
import subprocess
import sys
from contextlib import contextmanager
from itertools import chain, islice
from operator import itemgetter
from time import monotonic

from rich.table import Table

from reward_functions.serving.handler import bind
from reward_functions.serving.imputation import BatchFailed
from reward_functions.serving.settings import LambdaSettings
from tests.conftest import SHARED

BUSY = 8
"""Processes that compute without end, more than there are processors."""

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


def asked(rows, threads, seconds):
    """(bytes of the response or the name of what it failed with, seconds)."""
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


def paid_more(answer, idle):
    """How many samples earn more than on the idle machine."""
    if answer == BatchFailed.__name__:
        return 0
    pairs = zip(json.loads(answer), json.loads(idle), strict=True)
    value = itemgetter("aggregate_reward_score")
    return sum(value(now) > value(then) for now, then in pairs)


def report(console, times=1):
    """Print how often a response differed, failed, or paid more."""
    table = Table(title=f"math beside {BUSY} busy processes, {times} times")
    for heading in ("rows", "threads", "deadline", "same bytes", "failed", "paid more", "seconds"):
        table.add_column(heading, justify="right" if heading != "rows" else "left")
    batches = {"hard": list(hard()), "real": list(real())}
    with _silenced():
        idle = {name: asked(rows, 1, AMPLE)[0] for name, rows in batches.items()}
        with busy():
            for name, rows in batches.items():
                for seconds in (AMPLE, SHORT) if name == "hard" else (AMPLE,):
                    for threads in THREADS:
                        found = [asked(rows, threads, seconds) for _ in range(times)]
                        answers = [answer for answer, _ in found]
                        table.add_row(
                            f"{len(rows):,} {name}",
                            str(threads),
                            "ample" if seconds == AMPLE else f"{seconds:g} s",
                            f"{answers.count(idle[name])} of {times}",
                            str(answers.count(BatchFailed.__name__)),
                            str(sum(paid_more(answer, idle[name]) for answer in answers)),
                            f"{max(took for _, took in found):.1f}",
                        )
    console.print(table)


@contextmanager
def _silenced():
    """The function writes its logs and metrics to standard output."""
    with open("/dev/null", "w") as nowhere:  # noqa: PTH123 - a device
        kept, sys.stdout = sys.stdout, nowhere
        try:
            yield
        finally:
            sys.stdout = kept
