"""Trackio itself, on this machine: what it has kept is read from its own database."""

import os
import subprocess
import sys

SENT = """
from reward_functions.export import Curve, TrackedRun, tracker_of
curves = (Curve("reward/mean", ((1.0, 0.25), (2.0, 0.5))),)
run = TrackedRun("gsm8k answers", {"reward": "gsm8k"}, {"reward_mean": 0.5}, curves)
print("WHERE", tracker_of("trackio=team").send(run))
from trackio.sqlite_storage import SQLiteStorage
for row in SQLiteStorage.get_logs("team", "gsm8k answers"):
    print("ROW", row["step"], {k: v for k, v in row.items() if k in ("reward/mean", "reward_mean")})
"""


def test_a_run_is_kept_on_this_machine(tmp_path):
    environment = os.environ | {"TRACKIO_DIR": str(tmp_path), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", SENT], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    lines = [line for line in done.stdout.splitlines() if line.startswith(("WHERE", "ROW"))]
    assert lines[0] == "WHERE trackio show --project team"
    assert [line.partition("{")[2] for line in lines[1:]] == [
        "'reward/mean': 0.25}",
        "'reward/mean': 0.5}",
        "'reward_mean': 0.5}",
    ]
