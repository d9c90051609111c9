"""How the time of some work grows with what it is given: the same on a fast machine and a slow one.

Seconds of a processor rise where the machine is slow, and where other programs share it. Four times
the length takes four times as long everywhere; what is quadratic takes sixteen times as long.
"""

from time import process_time

NOISE = 0.06
"""Seconds that a measurement may be off."""

TRIES = 5


def assert_linear(work, short, long):
    """Fail where `work(long)` takes almost twice as long as four times `work(short)`.

    A machine may be three times as fast for a moment that holds one short work and no long one. So
    where the first look fails, four short ones are compared with a long one, and what the machine
    adds once, it does not add in every try: the least of each counts.

    Args:
        long: four times as much as `short`.
    """
    looked = 4 * _seconds(work, short), _seconds(work, long)
    if _linear([looked]):
        return
    tried = []
    while len(tried) < TRIES and not (tried and _linear(tried)):
        tried.append((_seconds(work, *[short] * 4), _seconds(work, long)))
    assert _linear(tried), tried


def _linear(tried):
    four, long = map(min, zip(*tried, strict=True))
    return long < 1.75 * four + NOISE


def _seconds(work, *given):
    began = process_time()
    for each in given:
        work(each)
    return process_time() - began
