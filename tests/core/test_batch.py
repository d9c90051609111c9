"""A batch keeps its length, order, ids and deadline, whatever its samples do."""

from itertools import count
from threading import Event, Semaphore
from time import monotonic

import pytest

from reward_functions import (
    BadReference,
    BadSample,
    Message,
    Needs,
    Sample,
    Score,
    Scored,
    Unscored,
    reward_function,
    score_batch,
)
from reward_functions.core.errors import DeadlineReached, SampleBlocked
from reward_functions.core.threads import mapped


def sample_of(text, id="s"):
    return Sample(id=id, messages=(Message(role="assistant", content=text),))


def temperamental(sample):
    match sample.response:
        case "bug":
            raise ZeroDivisionError
        case "memory":
            raise MemoryError
        case "deep":
            return temperamental(sample)
        case "reference":
            raise BadReference("there is no reference")
        case "nan":
            return Score(float("nan"))
    return Score(1.0)


@pytest.mark.parametrize("workers", [1, 4])
def test_one_bad_sample_never_harms_its_neighbours(workers):
    texts = ["ok", "bug", "memory", "ok", "deep", "reference", "nan", "ok"]
    results = score_batch(temperamental, [sample_of(text, text) for text in texts], workers=workers)
    assert [result.id for result in results] == texts
    errors = [type(result.error) for result in results if isinstance(result, Unscored)]
    assert errors == [ZeroDivisionError, MemoryError, RecursionError, BadReference, ValueError]
    assert all(isinstance(result, Scored) for result in results if result.id == "ok")


def test_rows_found_to_be_no_samples_keep_their_place():
    row = Unscored("b", BadSample("messages is missing"))
    results = score_batch(temperamental, [sample_of("ok", "a"), row, sample_of("ok", "c")])
    assert results[1] is row
    assert [result.id for result in results] == ["a", "b", "c"]


def test_duplicate_ids_each_have_their_result():
    results = score_batch(temperamental, [sample_of("ok"), sample_of("bug"), sample_of("ok")])
    assert [type(result) for result in results] == [Scored, Unscored, Scored]


@pytest.mark.parametrize("workers", [1, 3])
def test_after_the_deadline_nothing_is_begun_and_nothing_is_lost(workers):
    results = score_batch(
        temperamental,
        [sample_of("ok", str(n)) for n in range(5)],
        deadline=monotonic(),
        workers=workers,
    )
    assert [result.id for result in results] == list("01234")
    assert all(isinstance(result.error, DeadlineReached) for result in results)


def test_the_deadline_is_checked_between_samples(monkeypatch):
    clock = iter(range(100))
    monkeypatch.setattr("reward_functions.core.batch.monotonic", lambda: next(clock))
    results = score_batch(temperamental, [sample_of("ok") for _ in range(6)], deadline=4)
    assert [type(result) for result in results] == [Scored] * 4 + [Unscored] * 2


def test_an_empty_batch_has_no_results():
    assert score_batch(temperamental, []) == []


def test_an_interrupt_is_not_a_result():
    def interrupted(sample):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        score_batch(interrupted, [sample_of("ok")])


def test_a_reward_that_waits_says_how_many_threads_it_needs():
    import threading

    barrier = threading.Barrier(3, timeout=10)

    @reward_function(version=1, needs=Needs(workers=3))
    def patient(sample: Sample) -> Score:
        barrier.wait()
        return Score(1.0)

    results = score_batch(patient, [sample_of("ok") for _ in range(3)])
    assert [type(result) for result in results] == [Scored] * 3


@pytest.fixture
def sleeping(monkeypatch):
    """A call that sleeps until the test ends; the batch gives up once `expected` of them do.

    A busy machine begins a call late: a deadline in seconds would be over before.
    """
    begun, awake = Semaphore(0), Event()

    def sleep():
        begun.release()
        awake.wait(60)

    def given_up(expected, after=0):
        """Wait for `after` calls as long as they take, and for no other."""
        waits = count()

        def clock():
            if (wait := next(waits)) < after:
                return 0.0
            if wait == after:
                assert all(begun.acquire(timeout=60) for _ in range(expected))
            return float("inf")

        monkeypatch.setattr("reward_functions.core.threads.monotonic", clock)
        return monotonic() + 60

    yield sleep, given_up
    awake.set()


def test_in_threads_a_sample_that_sleeps_is_left_at_the_deadline(sleeping):
    sleep, given_up = sleeping

    @reward_function(version=1, needs=Needs(workers=2))
    def sleepy(sample: Sample) -> Score:
        if sample.response == "sleep":
            sleep()
        return Score(1.0)

    samples = [sample_of(text) for text in ("ok", "ok", "ok", "sleep")]
    results = score_batch(sleepy, samples, deadline=given_up(1, after=3))
    assert all(isinstance(result, Scored) for result in results[:3])
    assert type(results[3].error) is SampleBlocked


def test_in_threads_a_sample_that_none_has_begun_was_not_reached(sleeping):
    sleep, given_up = sleeping
    samples = [sample_of("ok") for _ in range(3)]
    results = score_batch(lambda sample: sleep(), samples, deadline=given_up(2), workers=2)
    errors = [type(result.error) for result in results]
    assert errors == [SampleBlocked, SampleBlocked, DeadlineReached]


def test_a_judge_that_sleeps_is_left_at_the_deadline_though_it_has_one_sample(sleeping):
    sleep, given_up = sleeping

    @reward_function(version=1, needs=Needs(judge=True))
    def sleepy(sample: Sample, ask) -> Score:
        sleep()
        return Score(1.0)

    bound = sleepy.bind({}, ask=lambda question: None)
    (result,) = score_batch(bound, [sample_of("ok")], deadline=given_up(1))
    assert type(result.error) is SampleBlocked


def test_what_was_no_sample_is_no_late_one():
    unread = Unscored("b", BadSample("messages is null"))
    given = [sample_of("ok"), unread]
    results = score_batch(temperamental, given, deadline=monotonic() - 1, workers=2)
    assert results[1] is unread
    assert type(results[0].error) is DeadlineReached


@pytest.mark.parametrize("count", [1, 3])
def test_what_a_call_raises_is_raised_to_who_waits_for_it(count):
    def call(number):
        if number == 3:
            raise KeyError(number)
        return number * 2

    assert mapped(call, [1, 2], count) == [2, 4]
    with pytest.raises(KeyError, match="3"):
        mapped(call, [1, 2, 3, 4], count)
