"""Sinks: whole lines from many threads and processes, and no harm to an episode."""

import json
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from reward_functions.core.errors import ConfigurationError
from reward_functions.rollouts.record.jsonl import TrajectoryFile
from reward_functions.rollouts.record.sink import CHUNK, TrajectorySink, append
from reward_functions.rollouts.record.types import Trajectory
from tests.commands import Command

ROOT = Path(__file__).parents[3]

PROCESS = """
import sys
from reward_functions.rollouts.record.sink import TrajectorySink
from reward_functions.rollouts.record.types import Trajectory
sink = TrajectorySink(sys.argv[1])
for number in range(100):
    assert sink.keep(Trajectory(id=f"{sys.argv[2]}-{number}", metadata={"x": "y" * 20_000}))
"""


def test_a_file_is_made_for_its_owner_alone(tmp_path):
    path = tmp_path / "t.jsonl"
    assert TrajectorySink(str(path)).keep(Trajectory(id="a"))
    assert TrajectorySink(path).keep(Trajectory(id="b"))
    assert [each.id for each in TrajectoryFile(path)] == ["a", "b"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_processes_and_threads_append_whole_lines(tmp_path):
    path = tmp_path / "t.jsonl"
    others = [Command([path, name], program=PROCESS, cwd=ROOT) for name in "ab"]
    sink = TrajectorySink(path)
    with ThreadPoolExecutor(8) as threads:
        kept = threads.map(lambda at: sink.keep(Trajectory(id=f"c-{at}")), range(100))
        assert all(kept)
    assert [other.wait(60) for other in others] == [0, 0]
    found = sorted(each.id for each in TrajectoryFile(path))
    assert found == sorted(f"{name}-{at}" for name in "abc" for at in range(100))


@pytest.mark.parametrize("torn", [b"{", b'{"trajectory": 1, ' + b"x" * 3 * CHUNK])
@pytest.mark.parametrize("before", [b"", b'{"a": 1}\n'])
def test_half_a_line_gives_way_to_the_next_one(tmp_path, torn, before):
    path = tmp_path / "t.jsonl"
    path.write_bytes(before + torn)
    append(path, '{"b": 2}')
    assert path.read_bytes() == before + b'{"b": 2}\n'


def fails(_):
    raise RuntimeError("secret")


@pytest.mark.parametrize("target", ["/dev/null", "/nowhere/t.jsonl", fails])
def test_a_failing_sink_is_logged_once_and_harms_nobody(target, caplog):
    sink = TrajectorySink(target)
    assert [sink.keep(Trajectory(id="a")) for _ in range(3)] == [False] * 3
    assert len(caplog.records) == 1
    assert "secret" not in caplog.text


def test_what_json_cannot_hold_is_not_kept_and_leaves_no_half_line(tmp_path):
    path = tmp_path / "t.jsonl"
    sink = TrajectorySink(path)
    assert not sink.keep(Trajectory(id="a", metadata={"a": float("nan")}))
    assert sink.keep(Trajectory(id="b"))
    assert [each.id for each in TrajectoryFile(path)] == ["b"]


class Bucket:
    """What a client of S3 is asked."""

    def __init__(self):
        self.put = []

    def put_object(self, **given):
        self.put.append(given)


def test_s3_gets_an_object_for_each_trajectory_whatever_its_id():
    bucket = Bucket()
    sink = TrajectorySink("s3://bucket/runs/1/", client=bucket)
    for id_ in ("a", "../../b c", "a" * 500, ""):
        assert sink.keep(Trajectory(id=id_))
    keys = [given["Key"] for given in bucket.put]
    assert all(key.startswith("runs/1/") and ".." not in key for key in keys)
    assert all(key.count("/") == 2 and len(key) < 200 for key in keys)
    assert len(set(keys)) == 4
    assert json.loads(bucket.put[0]["Body"])["id"] == "a"


@pytest.mark.parametrize("target", ["s3://bucket", "s3://B/x", "https://x/y", "file:///x"])
def test_a_target_of_another_form_is_refused(target):
    with pytest.raises(ConfigurationError, match="trajectories go to a file or to s3"):
        TrajectorySink(target)
