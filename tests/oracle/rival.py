"""math-verify, the strongest public verifier, as an oracle: never part of the library.

`judge` calls it as its README says, for the main thread only (its time-outs are SIGALRM). `Rival`
asks a process of its own, which is killed when one case takes longer than its cap:

    python -m tests.oracle.rival     answers JSON lines on standard input with JSON lines
"""

import json
import logging
import select
import subprocess
import sys
from dataclasses import dataclass
from time import perf_counter

CAP_SECONDS = 10.0
"""Its own time-outs are 5 s for each of three steps; the measurements this project starts from cut
a case off here."""

MEMORY = 3 << 30
"""Bytes of address space: without a ceiling one hostile answer takes all there is."""

LATEX_NEEDS_DELIMITERS = "bare"
"""The kind of text that math-verify's README asks to put between delimiters."""


@dataclass(frozen=True)
class Judgement:
    """What math-verify made of a case.

    Args:
        right: its verdict; an error and a kill are never right.
        seconds: of both parses and the comparison.
        trouble: the error's type or "killed"; empty when it answered.
    """

    right: bool
    seconds: float
    trouble: str = ""


def judge(gold, response, gold_kind=LATEX_NEEDS_DELIMITERS):
    """Parse the reference, parse the response, compare: its defaults and time-outs throughout."""
    from math_verify import parse, verify

    began = perf_counter()
    trouble, right = "", False
    try:
        wanted = parse(f"${gold}$" if gold_kind == LATEX_NEEDS_DELIMITERS else gold)
        right = bool(verify(wanted, parse(response)))
    except Exception as error:  # noqa: BLE001 - whatever it raises is its answer
        trouble = type(error).__name__
    return Judgement(right, perf_counter() - began, trouble)


class Rival:
    """math-verify in a process that can be killed; started when first asked, and again after."""

    def __init__(self, cap_seconds=CAP_SECONDS):
        self._process = None
        self._cap = cap_seconds

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._kill()

    def judge(self, gold, response, gold_kind=LATEX_NEEDS_DELIMITERS):
        """What `judge` says, or "killed" after the seconds of the cap."""
        if self._process is None:
            self._start()
        began = perf_counter()
        try:
            self._process.stdin.write(json.dumps([gold, response, gold_kind]) + "\n")
            self._process.stdin.flush()
            answered, _, _ = select.select([self._process.stdout], [], [], self._cap)
            line = self._process.stdout.readline() if answered else ""
        except BrokenPipeError:
            line = ""
        if line:
            return Judgement(*json.loads(line))
        self._kill()
        return Judgement(right=False, seconds=perf_counter() - began, trouble="killed")

    def _start(self):
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.oracle.rival"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
        )
        self._process.stdout.readline()  # it is warm

    def _kill(self):
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


WARMING = (("5", "$5$"), ("\\frac{1}{2}", "$0.5$"), ("x^2-1", "$(x-1)(x+1)$"), ("(1,2)", "$[1,2]$"))
"""Cases that load what it loads late, so that no measured case pays for it."""


def serve(lines, answers):
    """Warm up and say so, then answer cases until there are no more."""
    for gold, response in WARMING:
        judge(gold, response)
    answers.write("warm\n")
    answers.flush()
    for line in lines:
        judged = judge(*json.loads(line))
        answers.write(json.dumps([judged.right, judged.seconds, judged.trouble]) + "\n")
        answers.flush()


if __name__ == "__main__":
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    logging.disable()
    serve(sys.stdin, sys.stdout)
