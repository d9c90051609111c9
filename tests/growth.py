"""How the time of some work grows with what it is given: the same on a fast machine and a slow one.

Seconds of a processor rise where the machine is slow, and where other programs share it. Four times
the length takes four times as long everywhere; what is quadratic takes sixteen times as long.
"""

from time import process_time

NOISE = 0.06
"""Seconds that a measurement may be off."""

TRIES = 5


def assert_linear(work, short, long):
    """Fail where `work(long)` takes more than seven times as long as `work(short)`.

    What the machine adds once, it does not add in every try: the least of each counts.

    Args:
        long: four times as much as `short`.
    """
    tried = []
    while not tried or (len(tried) < TRIES and not _linear(tried)):
        tried.append((_seconds(work, short), _seconds(work, long)))
    assert _linear(tried), tried


def _linear(tried):
    once, four_times = map(min, zip(*tried, strict=True))
    return four_times < 7 * once + NOISE


def _seconds(work, given):
    began = process_time()
    work(given)
    return process_time() - began
