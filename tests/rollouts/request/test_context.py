"""Which rollout code runs for, and the headers of its policy calls: nothing crosses or stays."""

import asyncio
import contextvars
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest

from reward_functions.rollouts.request import context
from reward_functions.rollouts.request.context import (
    clear_rollout_context,
    get_inference_params,
    get_rollout_context,
    set_rollout_context,
)
from reward_functions.rollouts.request.headers import (
    JOB_HEADER,
    TRAJECTORY_HEADER,
    InferenceHeaders,
    LiveParams,
    get_inference_headers,
    make_inference_headers,
)


@pytest.fixture(autouse=True)
def nowhere():
    clear_rollout_context()
    yield
    clear_rollout_context()


# Vectors of sagemaker-train 1.27.
@pytest.mark.parametrize(
    ("metadata", "headers"),
    [
        ({"jobArn": "A", "rolloutId": "r"}, {JOB_HEADER: "A", TRAJECTORY_HEADER: "r"}),
        ({"trajectory_id": "", "rolloutId": "r"}, {TRAJECTORY_HEADER: "r"}),
        ({"job_arn": "a", "jobArn": "A"}, {JOB_HEADER: "a"}),
        ({}, {}),
    ],
)
def test_headers_of_a_rollout(metadata, headers):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert make_inference_headers(metadata) == headers


def test_outside_any_rollout_there_are_no_headers_and_a_warning():
    with pytest.warns(UserWarning, match="no rollout here"):
        assert get_inference_headers() == {}
    assert get_rollout_context() is None
    assert get_inference_params() is None


def test_what_is_set_is_kept_as_given():
    metadata, params = {"rolloutId": "r"}, {"topP": 1}
    set_rollout_context(metadata, params)
    assert get_rollout_context() is metadata
    assert get_inference_params() is params
    assert get_inference_headers() == {TRAJECTORY_HEADER: "r"}
    clear_rollout_context()
    assert (get_rollout_context(), get_inference_params()) == (None, None)


def test_the_platform_s_template_sets_the_metadata_twice_and_keeps_the_parameters():
    """It calls `set_rollout_context(metadata)` inside a handler that was given parameters."""
    set_rollout_context({"jobArn": "A", "rolloutId": "r"}, {"topP": 1})
    set_rollout_context({"job_arn": "A", "trajectory_id": "r"})
    assert get_inference_params() == {"topP": 1}
    set_rollout_context({"jobArn": "A", "rolloutId": "another"})
    assert get_inference_params() is None


def test_a_rollout_within_a_rollout_is_left_for_the_outer_one():
    with context.rollout({"rolloutId": "outer"}, {"topP": 1}):
        with context.rollout({"rolloutId": "inner"}):
            assert get_inference_headers() == {TRAJECTORY_HEADER: "inner"}
            assert get_inference_params() is None
        assert get_inference_headers() == {TRAJECTORY_HEADER: "outer"}
        assert get_inference_params() == {"topP": 1}
    assert get_rollout_context() is None


def test_live_mappings_answer_for_whoever_reads_them():
    headers, params = InferenceHeaders({"X-Own": "1"}), LiveParams({"temperature": 0.3, "seed": 7})
    assert (dict(headers), dict(params)) == ({"X-Own": "1"}, {"temperature": 0.3, "seed": 7})
    with context.rollout({"jobArn": "A", "rolloutId": "r"}, {"temperature": 1, "maxTokens": 5}):
        assert {**headers} == {"X-Own": "1", JOB_HEADER: "A", TRAJECTORY_HEADER: "r"}
        assert {**params} == {"temperature": 1.0, "max_tokens": 5, "seed": 7}
    assert (dict(headers), len(params)) == ({"X-Own": "1"}, 2)


def test_a_live_mapping_is_true_even_when_it_is_empty():
    """A client forgets headers that are false, and would never ask again."""
    assert InferenceHeaders()
    assert dict(InferenceHeaders()) == {}


def _mine(headers, name):
    with context.rollout({"rolloutId": name}):
        return [dict(headers)[TRAJECTORY_HEADER] for _ in range(50)]


def test_threads_and_tasks_over_one_mapping_see_their_own_rollout():
    headers = InferenceHeaders()
    names = [f"rollout-{number}" for number in range(64)]
    with ThreadPoolExecutor(64) as pool:
        assert list(pool.map(lambda name: _mine(headers, name), names)) == [[n] * 50 for n in names]

    async def task(name):
        with context.rollout({"rolloutId": name}):
            seen = []
            for _ in range(20):
                await asyncio.sleep(0)
                seen.append(dict(headers)[TRAJECTORY_HEADER])
            seen += await asyncio.to_thread(lambda: [dict(headers)[TRAJECTORY_HEADER]])
            return seen

    async def all_of_them():
        return await asyncio.gather(*map(task, names))

    assert asyncio.run(all_of_them()) == [[name] * 21 for name in names]


def test_a_thread_is_handed_its_rollout_by_a_copy_of_the_context():
    with ThreadPoolExecutor(1) as pool, context.rollout({"rolloutId": "r"}):
        assert pool.submit(get_rollout_context).result() is None
        here = contextvars.copy_context()
        assert pool.submit(here.run, get_rollout_context).result() == {"rolloutId": "r"}
