"""No chance in the worker: what sympy draws while it is imported decides what it does later.

It shuffles the facts that it asks of a symbol, and numbers its dummy variables from a random start.
With its own seeds, the calls that one request makes differ by up to a tenth from worker to worker;
with ours by a few in ten thousand, which hashes of addresses cause.
"""

from __future__ import annotations

import random


def seed_generators() -> None:
    """Give each generator that this process makes from now on the seed 0 where it names none."""

    class Seeded(random.Random):
        def __init__(self, seed: int = 0) -> None:
            super().__init__(seed)

    random.Random = Seeded  # type: ignore[misc, assignment]
