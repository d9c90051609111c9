"""What a run costs and takes: arithmetic that was done by hand, and sentences before it begins."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from reward_functions.aws.failures import AwsFailed
from reward_functions.scoring import concurrency
from reward_functions.scoring.concurrency import Shares, refusal, shares
from reward_functions.scoring.prices import PRICES, Work, bill

GB = 10**9

LARGE = Work(rows=10**8, bytes=200 * GB, shards=3125)
"""A hundred million rows of 2 kB."""

BILLS = [
    # work, a line of its bill, and its dollars by hand
    (LARGE, "the reward's functions", 60_000 * 1769 / 1024 * 0.0000133334),  # $1.38
    (LARGE, "the shard function, which waits", 60_000 * 0.5 * 0.0000133334),  # $0.40
    (LARGE, "requests of Lambda", (200_000 + 2 * 3125) * 0.20 / 1e6),  # $0.04
    (LARGE, "the state machine", 2 * 3125 * 3 * 25 / 1e6),  # $0.47, half of it to count
    (
        LARGE,
        "requests of S3",
        2 * (200 * GB / 2**23 + 3125 * 5) * 0.4 / 1e6 + 3125 * 3 * 5 / 1e6,
    ),  # $0.08
    (LARGE._replace(counted=False), "the state machine", 3125 * 3 * 25 / 1e6),  # $0.23
    (LARGE._replace(shard_memory_mb=0), "the state machine", 0.0),
    (LARGE._replace(shard_memory_mb=0), "the shard function, which waits", 0.0),
    (LARGE._replace(model=0.001), "the judge's models", 100_000.0),
    (Work(rows=10, bytes=100, shards=3), "requests of Lambda", (3 + 2 * 3) * 0.2e-6),
    (Work(rows=0, bytes=0, shards=1), "the reward's functions", 0.0),
]


@pytest.mark.parametrize(("work", "line", "dollars"), BILLS)
def test_a_line_is_what_it_is_by_hand(work, line, dollars):
    assert bill(work).lines[line] == pytest.approx(dollars)


def test_a_hundred_million_rows_cost_about_two_dollars():
    made = bill(LARGE)
    assert made.dollars == pytest.approx(2.4, abs=0.1)
    assert made.a_month == pytest.approx(0.97, abs=0.01)  # 45 GB, in units of 2³⁰ bytes
    assert made.seconds / 500 == pytest.approx(120)  # at 500 at once


def test_every_price_has_its_page():
    assert all(each.source.startswith("https://aws.amazon.com/") for each in PRICES.values())


def test_a_judge_is_one_more_line():
    made = bill(LARGE._replace(model=0.001))
    assert made.lines["the judge's models"] == pytest.approx(100_000)


REFUSED = [
    # what an account has, the calls that a run wants, and what it is told
    (Shares(1000, 1000), 100, ""),
    (Shares(1000, 900), 900, ""),
    (Shares(1000, 900), 901, "wants 901 calls at once, and the account has 900 functions"),
    (Shares(10, 10), 100, "wants 100 calls at once, and the account has 10 functions at once"),
    (Shares(1000, 1000, 1, 950), 100, "1 training job that is paid for may need 950 of them"),
    (Shares(1000, 1000, 1, 900), 100, ""),
    (Shares(1000, 1000, 3, None), 600, "3 training jobs that are paid for may need 500 of them"),
    (Shares(1000, 1000, 0, 950), 100, ""),  # nobody is paid for
    (Shares(1000, 300, 2, 400), 1, "may need 400 of them"),
    (Shares(), 10_000, ""),  # nobody knows
]


@pytest.mark.parametrize(("found", "calls", "told"), REFUSED)
def test_a_paid_job_keeps_its_share(found, calls, told):
    said = refusal(found, calls)
    assert told in said
    assert bool(said) == bool(told)


ANSWERS = {
    "get_account_settings": {
        "AccountLimit": {"ConcurrentExecutions": 1000, "UnreservedConcurrentExecutions": 900}
    },
    "list_model_customization_jobs": {"modelCustomizationJobSummaries": [{}]},
    "list_training_jobs": {"TrainingJobSummaries": [{}, {}]},
    "get_metric_statistics": {"Datapoints": [{"Maximum": 64.0}, {"Maximum": 80.0}]},
}


def answering(answers):
    """What makes clients that answer so, and refuse every other call."""

    def refused(**_):
        raise AwsFailed("not authorized", kind="denied")

    calls = {name: lambda found=found, **_: found for name, found in answers.items()}
    made = SimpleNamespace(**{name: calls.get(name, refused) for name in ANSWERS})
    return lambda *_: made


def test_the_shares_of_an_account_are_its_limit_its_jobs_and_its_peak(monkeypatch):
    monkeypatch.setattr(concurrency, "client", answering(ANSWERS))
    assert shares() == Shares(1000, 900, 3, 80)


def test_what_may_not_be_seen_is_said_and_no_error(monkeypatch):
    monkeypatch.setattr(concurrency, "client", answering({}))
    found = shares()
    assert (found.account, found.jobs, found.free, len(found.unmeasured)) == (None, 0, None, 3)
