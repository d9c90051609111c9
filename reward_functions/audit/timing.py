"""How long a reward takes, and whether its time grows faster than a response.

A time depends on how busy the machine is: it is measured where somebody asks for it, and no gate of
an audit looks at it by itself.
"""

from __future__ import annotations

from itertools import pairwise
from math import log2
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Final

from reward_functions.audit.results import Figure, Finding, SeenRow
from reward_functions.reports.statistics import quantile

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reward_functions.audit.corpus import Corpus
    from reward_functions.audit.trying import Score
    from reward_functions.core.types import Sample

TIMED: Final = 100
"""Rows whose right answer is timed alone."""

SLOWEST: Final = 5

BASE: Final = 5_000
"""Characters of the shortest flood; it is doubled twice."""

BEST_OF: Final = 5
"""Measurements of which the shortest counts."""

NOTICED: Final = 0.005
"""Seconds of the longest flood below which nothing is said about growth."""

LINEAR: Final = 1.3
"""The largest exponent that is taken for linear."""

FLOODS: Final[Mapping[str, Callable[[int], str]]] = {
    "digits": lambda size: "1" * size,
    "spaces": lambda size: " " * size + "x",
    "a letter": lambda size: "a" * size + "!",
    "numbers": lambda size: "12 " * (size // 3),
    "brackets": lambda size: "(" * size,
    "boxes": lambda size: r"\boxed{1}" * (size // 9),
    "lines": lambda size: "x = 1\n" * (size // 6),
}
"""Responses of about so many characters, by their name."""

FLOODED: Final = len(FLOODS) * 3 * BEST_OF
"""Floods that are scored at most."""


def latency(corpus: Corpus, score: Score, *, elsewhere: bool) -> tuple[list[Figure], list[Finding]]:
    """Seconds a sample, and how they grow with the length of a response.

    Args:
        corpus: the rows, at least one.
        score: the reward over a batch.
        elsewhere: whether it is scored outside this process: then the wall's clock counts, else
            this process's time.
    """
    clock = perf_counter if elsewhere else process_time
    timed = [(_once(corpus, score, at, clock), at) for at in range(len(corpus.cases[:TIMED]))]
    seconds = [each for each, _ in timed]
    figures = [
        Figure(name, quantile(seconds, part), n=len(seconds), unit="seconds")
        for name, part in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("slowest", 1.0))
    ]
    slowest = sorted(timed, reverse=True)[:SLOWEST]
    rows = [
        SeenRow(corpus.cases[at].place, corpus.cases[at].right[:200], None, None, f"{taken:.4f} s")
        for taken, at in slowest
    ]
    message = f"a right answer takes {figures[0].value:.4f} s, {figures[1].value:.4f} s at p95"
    findings = [Finding("LATENCY", "time a sample", "note", message, n=len(seconds), rows=rows)]
    growth, finding = _growth(corpus, score, clock)
    return [*figures, growth], [*findings, finding]


def _once(corpus: Corpus, score: Score, at: int, clock: Callable[[], float]) -> float:
    case = corpus.cases[at]
    began = clock()
    score([case.sample.answered(case.right)])
    return clock() - began


def _growth(corpus: Corpus, score: Score, clock: Callable[[], float]) -> tuple[Figure, Finding]:
    """The largest exponent of a flood's time, where it is long enough to say."""
    sample = corpus.cases[0].sample
    steepest: tuple[float, str] | None = None
    for name, write in FLOODS.items():
        times = []
        for size in (BASE, 2 * BASE, 4 * BASE):
            answer = [sample.answered(write(size))]
            times.append(min(_timed(score, answer, clock) for _ in range(BEST_OF)))
        if times[-1] > NOTICED:
            exponent = max(log2(after / max(before, 1e-6)) for before, after in pairwise(times))
            steepest = max(steepest or (exponent, name), (exponent, name))
    if steepest is None:
        why = f"no flood of {4 * BASE:,} characters takes {NOTICED * 1000:g} ms: undecided"
        return Figure("growth", None, unit="exponent", why=why), Finding(
            "GROWTH", "time beside length", "ok", why, figure="growth"
        )
    exponent, name = steepest
    slow = exponent > LINEAR
    message = f"time grows with the power {exponent:.2f} of the length of {name}"
    return Figure("growth", exponent, n=1, unit="exponent"), Finding(
        "GROWTH",
        "time beside length",
        "broken" if slow else "ok",
        message,
        int(slow),
        1,
        [SeenRow(corpus.cases[0].place, name, None)] if slow else [],
        "growth",
    )


def _timed(score: Score, answer: Sequence[Sample], clock: Callable[[], float]) -> float:
    began = clock()
    score(answer)
    return clock() - began
