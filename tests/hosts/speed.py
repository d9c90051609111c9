"""Rows a second of a cluster of two workers, as a ratio of `reward score --workers 2`.

    build/hosts/ray/bin/python -m tests.hosts.speed ray 1000000
    build/hosts/dask/bin/python -m tests.hosts.speed dask 1000000

Both are timed in one run, without the start of the cluster. Ray is to be within 1.3, Dask 1.8.
"""

import sys
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from reward_functions.scoring import Plan, score_file
from tests.benchmarks.score import write_rows

BARS = {"ray": 1.3, "dask": 1.8}

SHARDS = 16


@contextmanager
def ray():
    """The engine, over a cluster that has begun its workers."""
    import ray as host

    from reward_functions.scoring.engines.ray import Ray

    host.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield Ray()
    host.shutdown()


@contextmanager
def dask():
    """The same of Dask."""
    from distributed import LocalCluster

    from reward_functions.scoring.engines.dask import Dask

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**options) as cluster:
        yield Dask(cluster.scheduler_address)


def main(name, count):
    """Print the times and their ratio."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rows.jsonl"
        write_rows(path, "math", count)
        out = Path(folder) / "scores.jsonl"
        began = perf_counter()
        score_file("math", path, out, workers=2)
        yardstick = perf_counter() - began
        with {"ray": ray, "dask": dask}[name]() as engine:
            size = path.stat().st_size / SHARDS / (1 << 20)
            plan = Plan.of(str(path), str(Path(folder) / "run"), "math", shard_mb=size)
            began = perf_counter()
            run = plan.start(engine)
            took = perf_counter() - began
        with (Path(folder) / "joined.jsonl").open("wb") as stream:
            run.join(stream)
        equal = (Path(folder) / "joined.jsonl").read_bytes() == out.read_bytes()
    print(
        f"{name}: {count:,} rows, --workers 2 {yardstick:.1f} s, {name} {took:.1f} s, ratio "
        f"{took / yardstick:.2f} of {BARS[name]} at most, bytes {'equal' if equal else 'DIFFER'}"
    )


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
