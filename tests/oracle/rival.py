"""Public verifiers as oracles: math-verify, and two of verl's. None is part of the library.

`judge` calls math-verify as its README says, for the main thread only (its time-outs are SIGALRM).
`Rival` asks a process of its own, which is killed when one case takes longer than its cap:

    python tests/oracle/rival.py NAME    answers JSON lines on standard input with JSON lines
"""

import json
import logging
import select
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

CAP_SECONDS = 10.0
"""Its own time-outs are 5 s for each of three steps; the measurements this project starts from cut
a case off here."""

MEMORY = 3 << 30
"""Bytes of address space: without a ceiling one hostile answer takes all there is."""

VERL = Path(__file__).parents[2] / "build" / "hosts" / "verl" / "bin" / "python"
"""The interpreter that `make adapters HOSTS=verl` makes; without it verl's are left out."""

LATEX_NEEDS_DELIMITERS = "bare"
"""The kind of text that math-verify's README asks to put between delimiters."""


@dataclass(frozen=True)
class Judgement:
    """What a rival made of a case.

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


def prime_math(gold, response, _):
    """PRIME's verifier, as verl carries it: the last box, by text and then by sympy."""
    from verl.utils.reward_score.prime_math import compute_score

    return _answered(lambda: bool(compute_score(response, str(gold))[0]))


def math_dapo(gold, response, _):
    """DAPO's verifier, as verl carries it, told to read the last box: by text alone."""
    from verl.utils.reward_score.math_dapo import compute_score

    return _answered(lambda: compute_score(response, str(gold), strict_box_verify=True)["acc"])


def _answered(call):
    began = perf_counter()
    trouble, right = "", False
    try:
        right = bool(call())
    except Exception as error:  # noqa: BLE001 - whatever it raises is its answer
        trouble = type(error).__name__
    return Judgement(right, perf_counter() - began, trouble)


RIVALS = {
    "math-verify": (judge, Path(sys.executable)),
    "prime_math": (prime_math, VERL),
    "math_dapo": (math_dapo, VERL),
}
"""How each is called, and by which interpreter."""


def present():
    """The names of the rivals whose interpreter is there."""
    return [name for name, (_, python) in RIVALS.items() if python.exists()]


class Rival:
    """A rival in a process that can be killed; started when first asked, and again after."""

    def __init__(self, cap_seconds=CAP_SECONDS, name="math-verify"):
        self._process = None
        self._cap = cap_seconds
        self._name = name

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
            # By its path: an environment may hold a package `tests` of somebody else's.
            [RIVALS[self._name][1], "-P", __file__, self._name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
        )
        if self._process.stdout.readline() != WARM:
            self._kill()
            raise RuntimeError(
                f"{self._name} does not start: python {__file__} {self._name} says why"
            )

    def _kill(self):
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


WARM = "warm\n"

WARMING = (("5", "$5$"), ("\\frac{1}{2}", "$0.5$"), ("x^2-1", "$(x-1)(x+1)$"), ("(1,2)", "$[1,2]$"))
"""Cases that load what it loads late, so that no measured case pays for it."""


def serve(lines, answers, ask=judge):
    """Warm up and say so, then answer cases until there are no more."""
    for gold, response in WARMING:
        ask(gold, response, LATEX_NEEDS_DELIMITERS)
    answers.write(WARM)
    answers.flush()
    for line in lines:
        judged = ask(*json.loads(line))
        answers.write(json.dumps([judged.right, judged.seconds, judged.trouble]) + "\n")
        answers.flush()


if __name__ == "__main__":
    import resource

    (chosen,) = sys.argv[1:]
    if RIVALS[chosen][1] != VERL:  # torch, which verl imports, reserves more than it takes
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    logging.disable()
    answers = sys.stdout
    sys.stdout = sys.stderr  # what a rival prints is no answer
    serve(sys.stdin, answers, RIVALS[chosen][0])
