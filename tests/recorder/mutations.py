"""Labelled rows with slips and tricks put in, the same ones whatever else changes.

A mutation is drawn from its own generator, seeded by (seed, index), and its row is the next one
behind a drawn point among the rows' names. A row that is added to a table therefore changes the few
mutations that draw it, and moves no other.
"""

from bisect import bisect
from collections import defaultdict
from random import Random

from tests.recorder.labelled import VARIANTS
from tests.recorder.operations import OPERATIONS, change_digit, flip_sign, wrap_part
from tests.recorder.rows import Trial

TURNS = (
    *("math", "gsm8k", "math", "finqa", "math", "multiple_choice", "math", "reference"),
    *("math", "gsm8k", "math", "finqa", "math", "exact_match"),
)
"""Whose rows are mutated, in turn: `math` has most to read, and most that can go wrong."""

LONGEST = 6_000
"""Characters of a response that is mutated: the hostile ones are large, and large ones are slow."""

CHANGES = (1, 1, 2, 3)
"""How many changes one response gets: after several it is seldom near being right."""

CHANGED_REFERENCE = 0.2
OTHER_PARAMETERS = 0.3
FROM_OUR_TABLES = 0.5
"""The shares of mutations in which the reference is changed too, in which parameters are not the
defaults, and whose row is one of ours: those are short, and each is there for a rule."""

MISSING = 0.4
"""How often a changed field of a reference is left out."""

SHAPES = (
    lambda reference: {"answer": reference},
    lambda reference: {"final_answer": reference, "text": "?"},
    lambda reference: {"text": reference},
    lambda reference: f"${reference}$",
    lambda reference: f"\\boxed{{{reference}}}",
    lambda reference: f"The answer is {reference}.",
    lambda reference: f"So it is.\n#### {reference}",
    lambda reference: f'{{"answer": "{reference}"}}',
)
"""Other shapes of a reference that is a text."""


class Pool:
    """The rows that are mutated, by reward.

    Args:
        ours: (reward, row) of our tables.
        others: (reward, row) of the labelled data.
    """

    def __init__(self, ours, others):
        self.ours, self.others = _rings(ours), _rings(others)

    def trial(self, seed, index):
        """One mutation."""
        chance = Random(f"{seed}:{index}")
        reward = TURNS[index % len(TURNS)]
        row, other = self._drawn(reward, chance), self._drawn(reward, chance)
        response, rival = row.response, text_of(other.reference)
        for _ in range(chance.choice(CHANGES)):
            response = chance.choice(OPERATIONS)(response, chance, rival)
        reference = row.reference
        if chance.random() < CHANGED_REFERENCE:
            reference = changed(reference, chance, other.reference)
        others = VARIANTS[reward]
        parameters = chance.choice(others) if chance.random() < OTHER_PARAMETERS else {}
        mutated = row.changed(f"mutations/{row.file}:{index}", response, reference)
        return Trial(reward, (mutated,), parameters, prefix=f"{seed}:{index}:")

    def _drawn(self, reward, chance):
        ours = chance.random() < FROM_OUR_TABLES
        ring = (self.ours if ours else self.others)[reward] or self.ours[reward]
        point = f"{chance.getrandbits(64):016x}"
        return ring[bisect(ring, point, key=_name) % len(ring)]


def changed(reference, chance, other):
    """Another reference: another row's, one in another shape, or one with a slip."""
    way = chance.randrange(4)
    if way == 0:
        return other
    if isinstance(reference, dict):
        return _other_field(reference, chance)
    text = text_of(reference)
    if way == 1:
        return chance.choice(SHAPES)(text)
    slip = chance.choice((change_digit, flip_sign, wrap_part))
    return slip(text, chance, text_of(other))


def _other_field(reference, chance):
    """A reference of several fields, one of which is missing or says something else."""
    key = chance.choice(sorted(reference))
    value = reference[key]
    if isinstance(value, dict):
        return {**reference, key: _other_field(value, chance)}
    if chance.random() < MISSING:
        return {name: reference[name] for name in reference if name != key}
    if isinstance(value, int | float):
        others = (-value, value * 100, value / 100, str(value), None)
        return {**reference, key: chance.choice(others)}
    return {**reference, key: change_digit(text_of(value), chance, "")}


def text_of(reference):
    """The answer of a reference, as far as it is plain to see."""
    if isinstance(reference, dict):
        inner = reference.get("qa", reference)
        known = [inner[key] for key in ("final_answer", "answer", "exe_ans") if inner.get(key)]
        return str(known[0]) if known else ""
    return str(reference)


def _rings(pairs):
    """The rows by reward, in the order of their names; of equal rows the first of the tables."""
    rings = defaultdict(dict)
    for reward, row in sorted(pairs, key=lambda pair: pair[1].where, reverse=True):
        if reward in VARIANTS and len(row.response) <= LONGEST:
            rings[reward][row.name] = row
    return defaultdict(
        list, {reward: [rows[name] for name in sorted(rows)] for reward, rows in rings.items()}
    )


def _name(row):
    return row.name
