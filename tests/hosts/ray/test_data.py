"""Ray Data over a real cluster: `RewardScorer` gives the lines of `reward score`."""

import json
from math import isnan

import pytest
import ray

from reward_functions.adapters.ray_data import RewardScorer, actors
from reward_functions.core.errors import ConfigurationError
from tests.hosts.clusters import expected, lines, samples


@pytest.fixture
def cluster(request):
    """A cluster of so many processors."""
    ray.init(num_cpus=request.param, address="local", include_dashboard=False, log_to_driver=False)
    yield request.param
    ray.shutdown()


@pytest.mark.parametrize("cluster", [2], indirect=True)
def test_a_pool_below_the_size_of_the_cluster_scores_every_row(cluster, tmp_path):
    rows = [{**row, "id": f"r{at}"} for at, row in enumerate(samples(2_000))]
    path = tmp_path / "rows.jsonl"
    path.write_bytes(lines(rows))
    ray.data.DataContext.get_current().execution_options.preserve_order = True
    assert actors() == cluster - 1
    scored = ray.data.read_json(str(path)).map_batches(
        RewardScorer, fn_constructor_args=("gsm8k",), concurrency=actors(), batch_size=500
    )
    theirs = expected(path, tmp_path).decode().splitlines()
    differ = []
    for mine, line in zip(scored.iter_rows(), theirs, strict=True):
        value = json.loads(line)["aggregate_reward_score"]
        assert (None if isnan(mine["reward"]) else mine["reward"]) == value
        if mine["result"] != line:
            differ.append((mine["id"], value))
    # Their error alone says where a row stands in its file.
    assert differ == [("r5", None), ("r1005", None)]


@pytest.mark.parametrize("cluster", [1], indirect=True)
def test_a_pool_as_large_as_the_cluster_is_refused(cluster):
    assert cluster == 1
    with pytest.raises(ConfigurationError, match="waits for ever"):
        actors()
