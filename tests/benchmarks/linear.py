"""What a flood costs: every verifier, every flood, at n, 2n and 4n, at 200 KB and at 5 MB.

Each figure is the processor's, the least of a few runs; what is loaded once is loaded before.
"""

from contextlib import suppress
from itertools import product
from time import process_time

from reward_functions import RewardError, sample, specs
from reward_functions.testing.hostile import FLOODS, Flood

SIZE = 50_000
SMALL, LARGE = 200_000, 5_000_000
SMALL_BAR, LARGE_BAR = 0.05, 2.0
"""Seconds that a response of these sizes may take."""

RATIO = 6.0
"""Four times the length may take this many times as long; what is quadratic takes sixteen."""

NOISE = 0.01
"""Seconds below which a ratio says nothing."""

PROMPT = "How many?\nA) 5\nB) 6\nC) 7"
REFERENCES = {"multiple_choice": "A"}

LEADS = ("", "#### ab ", "The answer is ", "ANSWER: ", r"\boxed{", r"\boxed{5} ", "maybe ", "(A) ")
PIECES = (
    *(" ", "\n", r"\n", r"\a ", r"\{", r"\}", r"\%", r"\,", r"\\", "{", "}", "(", "[", "$"),
    *(r"\( 1 \) ", "$1$ ", "-", "1,", "1.", "1 ", "1/", "% \n", "**", "_", "~", "`", "<", "<s>"),
    *("<b hidden ", "<script>", "<think>", "<!--", r"\label{", r"% \boxed{", r"\phantom{"),
    *(r"\text{", r"\frac", r"\left(", r"\sqrt"),
    *("####", "or ", "e.g. ", ".", "?", ":", "=", "|", "^{", "中", "\u200b", "\u0301", "①", '"'),
    *("A) x\n", "yes ", "million "),
)  # fmt: skip
"""What is repeated behind each lead, and, short of a line's length, with it."""


def floods():
    """The floods of `hostile_responses`, and each lead with each piece, once and repeated."""
    yield from FLOODS
    for lead, piece in product(LEADS, PIECES):
        yield Flood(f"{lead!r}, {piece!r} …", lead, piece, "x")
        yield Flood(f"({lead!r}, {piece!r} …) …", "", lead + piece * (46 // len(piece)), "x")


def seconds(spec, text, runs):
    """The least of a few runs; a response that nobody can score takes its time as well."""
    taken = []
    for _ in range(runs):
        began = process_time()
        with suppress(RewardError):
            spec(sample(text, REFERENCES.get(spec.name, "5"), prompt=PROMPT))
        taken.append(process_time() - began)
    return min(taken)


def again(spec, flood, taken):
    """A figure that may be over the bar, measured again."""
    return taken if taken < SMALL_BAR / 2 else min(taken, seconds(spec, flood.text(SMALL), 2))


def report(console):
    """Print the slowest, and every flood that misses a bar."""
    verifiers = {name: spec for name, spec in specs().items() if not spec.needs.judge}
    every = list(floods())
    console.print(f"linear: {len(every)} floods, {len(verifiers)} verifiers")
    for name, spec in verifiers.items():
        for text in (r"\boxed{x+1}", "The answer is $5$ m", "−5", "ANSWER: 5% (0.05)"):
            seconds(spec, text, 1)
        rows = [(seconds(spec, flood.text(SMALL), 1), flood) for flood in every]
        rows = [(again(spec, flood, taken), flood) for taken, flood in rows]
        rows.sort(key=lambda row: -row[0])
        large = [(seconds(spec, flood.text(LARGE), 1), flood) for _, flood in rows[:10]]
        slowest, largest = rows[0], max(large, key=lambda row: row[0])
        console.print(
            f"  {name:16} 200 KB {slowest[0] * 1000:6.1f} ms {slowest[1].name}"
            f"   5 MB {largest[0]:5.2f} s {largest[1].name}"
        )
        for taken, flood in rows[:10]:
            if taken > SMALL_BAR:
                console.print(f"    over {SMALL_BAR} s at 200 KB: {flood.name} {taken:.3f} s")
            growth = [seconds(spec, flood.text(SIZE * times), 3) for times in (1, 2, 4)]
            if growth[2] > RATIO * growth[0] + NOISE:
                console.print(f"    not linear: {flood.name} {growth}")
        for taken, flood in large:
            if taken > LARGE_BAR:
                console.print(f"    over {LARGE_BAR} s at 5 MB: {flood.name} {taken:.2f} s")
