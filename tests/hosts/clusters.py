"""What a cluster has to do: 10,000 rows give the bytes of `reward score`, whatever happens to it.

A host's `test_cluster.py` takes these tests, and says with `engine` what its own is.
"""

import csv
import gzip
import io
import json
import os
import signal
import sys
from pathlib import Path

import pytest

from reward_functions import scoring
from reward_functions.scoring.folder import RunNotUsable
from reward_functions.scoring.plan import Plan

ROWS = 10_000

MB = 1 << 20

SIZE = 200_000 / MB

OWN = '''
import os
from reward_functions import Score, reward_function

@reward_function()
def own(sample):
    """The length of a response; one that is too short ends the process."""
    if sample.response == "die":
        os._exit(9)
    return Score(float(len(sample.response) > 20))
'''


def samples(count=ROWS):
    """Rows with and without ids, some of which no reward can score."""
    for at in range(count):
        row = {"question": f"how many, {at % 97}? é", "answer": f"{at % 50}"}
        row["response"] = f"so it is\n#### {at % 49}"
        if at % 1_000 == 5:
            row["answer"] = "no number"
        if at % 5:
            row["id"] = f"row {at}"
        yield row


def lines(rows):
    """JSONL."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def table(rows):
    """CSV."""
    stream = io.StringIO()
    names = ["question", "answer", "response"]
    writer = csv.DictWriter(stream, names, extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue().encode()


def parquet(rows):
    """Parquet of many row groups."""
    from pyarrow import Table
    from pyarrow import parquet as module

    stream = io.BytesIO()
    found = Table.from_pylist([{"id": None, **row} for row in rows])
    module.write_table(found, stream, row_group_size=1_000)
    return stream.getvalue()


FORMATS = {
    "rows.jsonl": lines,
    "rows.jsonl.gz": lambda rows: gzip.compress(lines(rows), mtime=0),
    "rows.csv": table,
    "rows.parquet": parquet,
}


def own_reward(folder):
    """The path of a reward that stands in a file of the user's."""
    path = folder / "own.py"
    path.write_text(OWN)
    return str(path)


def expected(path, tmp_path, reward="gsm8k"):
    """What `reward score` writes."""
    out = tmp_path / "expected.jsonl"
    scoring.score_file(reward, path, out, workers=1)
    return out.read_bytes()


def joined(run):
    """All results."""
    stream = io.BytesIO()
    run.join(stream)
    return stream.getvalue()


def planned(path, tmp_path, reward="gsm8k", size=SIZE):
    """A run of some ten shards."""
    return Plan.of(str(path), str(tmp_path / "run"), reward, shard_mb=size)


@pytest.mark.parametrize("name", FORMATS)
def test_joined_parts_are_the_bytes_of_reward_score(name, engine, tmp_path):
    path = tmp_path / name
    path.write_bytes(FORMATS[name](samples()))
    run = planned(path, tmp_path).start(engine())
    assert joined(run) == expected(path, tmp_path)
    assert run.facts().unscored == ROWS // 1_000


def test_a_line_that_is_no_row_makes_the_run_unusable(engine, tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(lines(samples(3_000)) + b"[1, 2]\n" + lines(samples(10)))
    with pytest.raises(RunNotUsable, match=r"rows\.jsonl, line 3001"):
        planned(path, tmp_path, size=50_000 / MB).start(engine())


def test_the_users_own_file_is_found_by_workers_of_this_machine(engine, tmp_path, monkeypatch):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(lines(samples(500)))
    own_reward(tmp_path)
    monkeypatch.chdir(tmp_path)
    found = joined(planned(path, tmp_path, "./own.py").start(engine()))
    assert found == expected(path, tmp_path, "./own.py")


def test_a_row_that_ends_its_worker_is_alone_without_a_score(engine, tmp_path):
    rows = list(samples(2_000))
    rows[777]["response"] = "die"
    path = tmp_path / "rows.jsonl"
    path.write_bytes(lines(rows))
    run = planned(path, tmp_path, own_reward(tmp_path), size=60_000 / MB).start(engine())
    found = [json.loads(line) for line in joined(run).splitlines()]
    assert len(found) == len(rows)
    unscored = [at for at, row in enumerate(found) if row["aggregate_reward_score"] is None]
    assert unscored == [777]
    assert found[777]["error"]["type"] == "InterpreterDied"


SLOW = '''
import os, time
from pathlib import Path
from reward_functions import Score, reward_function

@reward_function()
def slow(sample):
    """Says which process it is in, and waits."""
    (Path(__file__).parent / "pids" / str(os.getpid())).touch()
    time.sleep(0.002)
    return Score(1.0)
'''


@pytest.fixture
def slow(tmp_path):
    """The path of a slow reward, whose workers leave their ids in `pids`."""
    (tmp_path / "pids").mkdir()
    path = tmp_path / "slow.py"
    path.write_text(SLOW)
    return str(path)


def workers(tmp_path):
    """The processes that have scored and are there."""
    return [int(each.name) for each in (tmp_path / "pids").iterdir() if alive(int(each.name))]


def alive(pid):
    """Whether a process runs."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_a_worker_that_is_killed_costs_no_row(engine, slow, tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(lines(samples(2_000)))
    killed = []

    def kill(event):
        if event.kind == "done" and event.task == "score" and not killed:
            killed.extend(pid for pid in workers(tmp_path) if pid != os.getpid())
            os.kill(killed[0], signal.SIGKILL)

    run = planned(path, tmp_path, slow, size=20_000 / MB).start(engine(), hear=kill)
    assert killed
    assert joined(run) == expected(path, tmp_path, slow)


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_an_interrupt_ends_what_is_under_way_and_a_resumed_run_goes_on(engine, slow, tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(lines(samples(2_000)))

    def interrupted(event):
        if event.kind == "done" and event.task == "score":
            raise KeyboardInterrupt

    plan = planned(path, tmp_path, slow, size=20_000 / MB)
    with pytest.raises(KeyboardInterrupt):
        plan.start(engine(), hear=interrupted)
    assert not [pid for pid in workers(tmp_path) if pid != os.getpid()]
    run = scoring.Run.opened(plan.place)
    assert 1 <= run.state().done < len(plan.shards)
    before = {
        each.name: each.etag for each in run.place.objects("part-") if "begun" not in each.name
    }
    assert joined(plan.start(engine(), resume=True)) == expected(path, tmp_path, slow)
    after = {each.name: each.etag for each in run.place.objects("part-")}
    assert before.items() <= after.items()
