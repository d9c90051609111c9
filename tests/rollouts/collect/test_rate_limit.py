"""Calls are spaced evenly, in one process and in several."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from reward_functions.rollouts.collect.rate_limit import RateLimiter


def test_callers_of_many_threads_get_moments_of_their_own():
    limiter = RateLimiter(10, clock=lambda: 100.0)
    with ThreadPoolExecutor(8) as pool:
        waits = sorted(pool.map(lambda _: limiter.reserve(), range(40)))
    assert waits == pytest.approx([each / 10 for each in range(40)])


def test_limiters_of_one_file_share_a_budget(tmp_path):
    several = [RateLimiter(10, shared=tmp_path / "rate", clock=lambda: 1e9) for _ in range(3)]
    waits = [each.reserve() for _ in range(4) for each in several]
    assert waits == pytest.approx([each / 10 for each in range(12)], abs=1e-3)


@pytest.mark.parametrize("left", [b"", b"nonsense", b"nan", b"99999999999999"])
def test_a_file_of_nonsense_or_of_a_clock_set_back_holds_nobody(tmp_path, left):
    (tmp_path / "rate").write_bytes(left)
    assert RateLimiter(1, shared=tmp_path / "rate").reserve() == 0


def test_who_comes_late_does_not_catch_up():
    now = iter([0.0, 50.0, 50.0])
    limiter = RateLimiter(1, clock=lambda: next(now))
    assert [limiter.reserve() for _ in range(3)] == [0.0, 0.0, 1.0]
