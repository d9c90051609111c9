"""Tables that are the same in every run: what scipy's statistics were recorded of."""

from random import Random


def tables(count=1_000):
    """(one, other) of as many things, from a few values, which tie, to many."""
    random = Random(29)
    for number in range(count):
        size = 2 + number % 40
        values = (2, 3, 5, 12, 1_000)[number % 5], (1_000, 4, 2, 7)[number % 4]
        yield tuple([int(random.random() * most) / most for _ in range(size)] for most in values)


def counts(count=1_000):
    """(k, n): none, all, and what lies between."""
    random = Random(31)
    for number in range(count):
        of = 1 + int(random.random() * (20, 300, 5_000)[number % 3])
        yield (
            (0, of)
            if number % 11 == 0
            else (of, of)
            if number % 13 == 0
            else (int(random.random() * (of + 1)), of)
        )
