"""A seeded search for answers that are paid and should not be, by changing those that are not.

A candidate begins as a known-bad answer to a row. A step wraps it, joins it with another, repeats,
cuts, swaps or disguises a part of it; none writes the row's right answer, in any form of equal
value. The candidates that earn most are changed further. A hit is made as short as it can be with
the same reward and without the right answer, and is printed as an `Example` to paste.
"""

from __future__ import annotations

import re
from random import Random
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.audit.corpus import CLASSES, FILLER, NEEDLESS, equal_forms, last_answer
from reward_functions.audit.gold import FORMS
from reward_functions.audit.results import ROWS, Figure, Finding, SeenRow
from reward_functions.core.types import Scored
from reward_functions.reports.statistics import share

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from reward_functions.audit.corpus import Corpus
    from reward_functions.audit.earning import Earnings
    from reward_functions.audit.trying import Score

BEAM: Final = 24
"""Candidates that are changed further."""

ROUND: Final = 64
"""Candidates that are scored together."""

SHORTEST_CALLS: Final = 200
"""Scorer calls that making one hit shorter may take."""

MOST_CHARACTERS: Final = 4_000

PIECES: Final = (
    "The answer is ",
    "Therefore, ",
    "= ",
    "\n",
    "**",
    "$",
    "\\boxed{",
    "}",
    "####",
    "<answer>",
    "</answer>",
    "</think>",
    "<think>",
    "yes",
    "True",
    "correct",
    "%",
    "not ",
    " or ",
    "\u200b",
    NEEDLESS,
    FILLER,
)
"""What a step puts in; none holds a number."""


class Candidate(NamedTuple):
    """An answer on its way.

    Attributes:
        at: the position of its row.
        text: of the answer.
        share: what it earned, of the way from nothing to all.
    """

    at: int
    text: str
    share: float


def search(
    corpus: Corpus,
    score: Score,
    earned: Earnings,
    *,
    calls: int,
    seed: int,
    name: str = "",
) -> tuple[Figure, Finding]:
    """Look for answers that are paid.

    Args:
        corpus: the rows.
        score: the reward over a batch.
        earned: what nothing and all are.
        calls: answers that are scored at most, beside those that make a hit shorter.
        seed: of every draw: equal seeds look at equal answers.
        name: of the reward, for the example.

    Returns:
        the share of the rows looked at with a hit, and the shortest hits.
    """
    found = _Search(corpus, score, earned.most(credit=True), Random(seed))  # noqa: S311
    hits = found.run(calls, earned)
    rows = len({at for at, _ in found.seen})
    if not rows:
        why = "no wrong answer can be changed"
        return (
            Figure("search", None, why=why),
            Finding("SEARCH", "a seeded search", "untested", why, figure="search"),
        )
    of = share(len(hits), rows, rows)
    figure = Figure("search", of.value, of.low, of.high, rows)
    shown = [
        SeenRow(
            corpus.cases[each.at].place,
            each.text,
            earned.score(each.share),
            earned.most(credit=True),
            _example(corpus, each, earned, name),
        )
        for each in hits[:ROWS]
    ]
    message = f"{len(found.seen):,} answers to {rows:,} prompts were scored; " + (
        f"{len(hits):,} prompts have one that is paid" if hits else "none is paid"
    )
    return figure, Finding(
        "SEARCH",
        "a seeded search",
        "broken" if hits else "ok",
        message,
        len(hits),
        rows,
        shown,
        "search",
    )


class _Search:
    def __init__(self, corpus: Corpus, score: Score, limit: float, random: Random) -> None:
        self.corpus = corpus
        self.score = score
        self.limit = limit
        self.random = random
        self.seen: set[tuple[int, str]] = set()
        self.held = {at: _right_words(case.right) for at, case in enumerate(corpus.cases)}

    def run(self, calls: int, earned: Earnings) -> list[Candidate]:
        """The shortest hits, one a row."""
        starts = [each for each in self.starts() if self.fair(each)]
        self.random.shuffle(starts)
        beam: list[Candidate] = []
        hits: dict[int, Candidate] = {}
        while len(self.seen) < calls:
            asked = self.next(starts, beam, min(ROUND, calls - len(self.seen)))
            if not asked:
                break
            tried = self.scored(asked, earned)
            for one in tried:
                if earned.score(one.share) > self.limit and one.at not in hits:
                    hits[one.at] = self.shorter(one, earned)
            beam = sorted(
                (one for one in (*beam, *tried) if one.at not in hits),
                key=lambda one: (-one.share, len(one.text)),
            )[:BEAM]
        return sorted(hits.values(), key=lambda each: len(each.text))

    def starts(self) -> Iterator[tuple[int, str]]:
        """Known-bad answers, as the classes write them."""
        for at, case in enumerate(self.corpus.cases):
            for answers in CLASSES:
                if answers.earns in ("nothing", "credit") and answers.id not in RIGHT_INSIDE:
                    ways = answers.ways(case, self.corpus)
                    if ways:
                        yield at, self.random.choice(ways)[:MOST_CHARACTERS]

    def next(
        self, starts: list[tuple[int, str]], beam: Sequence[Candidate], count: int
    ) -> list[tuple[int, str]]:
        """The next answers to score: known ones first, then changed ones; each once."""
        asked: list[tuple[int, str]] = []
        for _ in range(count * 20):
            if len(asked) == count:
                break
            if starts and (not beam or self.random.random() < FRESH):
                each = starts.pop()
            elif beam:
                chosen = self.random.choice(beam)
                each = (chosen.at, self.changed(chosen, beam))
            else:
                break
            if each not in self.seen and self.fair(each):
                self.seen.add(each)
                asked.append(each)
        return asked

    def fair(self, each: tuple[int, str]) -> bool:
        """Whether an answer is without the row's right one, and not too long."""
        at, text = each
        held = self.held[at]
        return held is not None and len(text) <= MOST_CHARACTERS and not held.search(text)

    def changed(self, one: Candidate, beam: Sequence[Candidate]) -> str:
        """The answer after one step."""
        return self.random.choice(STEPS)(one.text, self.random.choice(beam).text, self.random)

    def scored(self, asked: Sequence[tuple[int, str]], earned: Earnings) -> list[Candidate]:
        """The answers with what they earn; one that has no score is left out."""
        samples = [self.corpus.cases[at].sample.answered(text) for at, text in asked]
        return [
            Candidate(at, text, earned.share(result.score.value))
            for (at, text), result in zip(asked, self.score(samples), strict=True)
            if isinstance(result, Scored)
        ]

    def shorter(self, hit: Candidate, earned: Earnings) -> Candidate:
        """The same hit with as little text as earns as much."""
        best, size, calls = hit, max(1, len(hit.text) // 2), 0
        while size and calls < SHORTEST_CALLS:
            cuts = range(0, len(best.text), size)
            cut = ((best.at, best.text[:at] + best.text[at + size :]) for at in cuts)
            asked = [each for each in cut if self.fair(each)][: SHORTEST_CALLS - calls]
            calls += len(asked)
            kept = [each for each in self.scored(asked, earned) if each.share >= hit.share]
            if kept:
                best = min(kept, key=lambda each: len(each.text))
                size = min(size, max(1, len(best.text) // 2)) if best.text else 0
            else:
                size //= 2
        return best


FRESH: Final = 0.3
"""The share of candidates that are known answers, as long as there are some."""

RIGHT_INSIDE: Final = frozenset(
    {
        "EX-LIST",
        "EX-SPRAY",
        "EX-HEDGE",
        "EX-BOTH",
        "EX-DENIED",
        "EX-RETRACT",
        "EX-THOUGHT",
        "EX-CUT",
        "EX-NUMBER",
        "EX-DISGUISE",
    }
)
"""Classes whose answers hold the right one."""


def _cut(text: str, _: str, random: Random) -> str:
    start, end = sorted(random.randrange(len(text) + 1) for _ in range(2))
    return text[:start] + text[end:]


def _put(text: str, _: str, random: Random) -> str:
    at = random.randrange(len(text) + 1)
    return text[:at] + random.choice(PIECES) + text[at:]


def _swap(text: str, _: str, random: Random) -> str:
    lines = text.split("\n")
    random.shuffle(lines)
    return "\n".join(lines)


STEPS: Final[Sequence[Callable[[str, str, Random], str]]] = (
    _cut,
    _put,
    _put,
    _swap,
    lambda text, other, _: f"{text}\n{other}",
    lambda text, other, _: f"{text} or {other}",
    lambda text, _, random: random.choice([*FORMS.values()]).format(text),
    lambda text, _, __: f"{text}\n{text}",
    lambda text, _, __: text.upper(),
    lambda text, _, __: f"<think>{text}</think>",
)
"""The changes of one step: (text, another candidate's text, random)."""


def _right_words(right: str) -> re.Pattern[str] | None:
    """What a candidate must not hold: the right answer as a word, in any form of equal value.

    None where nobody can say it: every candidate might hold it.
    """
    found = last_answer(right)
    if found is None:
        return None
    before, answer, after = found
    forms = {
        each[len(before) : len(each) - len(after) or None] for each in equal_forms(right).values()
    }
    words = "|".join(map(re.escape, sorted({answer, *forms}, key=len, reverse=True)))
    return re.compile(rf"(?<![\w.])(?:{words})(?![\w])", re.IGNORECASE)


def _example(corpus: Corpus, hit: Candidate, earned: Earnings, name: str) -> str:
    """The hit as a worked example, ready to paste."""
    case = corpus.cases[hit.at]
    prompt = f", prompt={case.sample.prompt!r}" if case.sample.prompt else ""
    return (
        f'Example("attack", response={hit.text!r}, reference={case.sample.reference!r}, '
        f"score={earned.nothing:g}{prompt})," + (f"  # of {name}" if name else "")
    )
