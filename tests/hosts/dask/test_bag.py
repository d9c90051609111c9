"""Dask's bags: `score_partition` gives the lines of `reward score`."""

import json

import dask.bag

from reward_functions.adapters.dask import score_partition
from tests.hosts.clusters import expected, lines, samples


def test_lines_of_partitions_are_those_of_reward_score(tmp_path):
    rows = [{**row, "id": f"r{at}"} for at, row in enumerate(samples(2_000))]
    path = tmp_path / "rows.jsonl"
    path.write_bytes(lines(rows))
    bag = dask.bag.from_sequence(rows, npartitions=4).map_partitions(score_partition, "gsm8k")
    mine = bag.compute(scheduler="processes", num_workers=2)
    theirs = expected(path, tmp_path).decode().splitlines()
    differ = [json.loads(one) for one, other in zip(mine, theirs, strict=True) if one != other]
    # Their error alone says where a row stands in its file.
    assert [(each["id"], each["aggregate_reward_score"]) for each in differ] == [
        ("r5", None),
        ("r1005", None),
    ]
