"""Collection: 1,000 sessions with failing looks, failing agents and throttling.

The double runs in another process, so that the memory is the client's. The yardstick of memory is
the same batch of 100 sessions: a client that kept results would take ten times as much.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

if TYPE_CHECKING:
    from rich.console import Console

ROOT = Path(__file__).parents[2]
SESSIONS, AT_ONCE, RESULT = 1000, 64, 50_000
SHARES = {
    "invoke.throttle": 0.1,
    "invoke.conflict": 0.05,
    "invoke.dropped": 0.03,
    "head.forbidden": 0.05,
    "head.error": 0.1,
    "get.dropped": 0.05,
    "stop.throttle": 0.1,
    "stop.dropped": 0.05,
}

SERVICE = """
import json, sys
from tests.local.agentcore_double import AgentCoreDouble, Faults, FunctionAgent

def agent(row):
    match row["n"] % 20:
        case 3 | 13: raise RuntimeError("the tool is gone")
        case 4 | 14: return b'{"rewards": 1'
        case 5 | 15: return b'{"rewards": NaN}'
        case 6: return None
    return {"rewards": float(row["n"]), "rollout_data": "x" * int(sys.argv[2])}

double = AgentCoreDouble(FunctionAgent(agent), Faults(json.loads(sys.argv[1])))
with double.in_background():
    print(double.endpoint, flush=True)
    sys.stdin.readline()
    seen = double.sessions
    print(len(seen.invoked), len(seen.running), seen.most_running, flush=True)
"""

BATCH = """
import json, os, sys, time
from collections import Counter
import boto3
from botocore.config import Config
from reward_functions.rollouts.collect.client import RolloutClient

endpoint, count, at_once = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
def made(service):
    return boto3.client(service, region_name="us-west-2", endpoint_url=endpoint,
        aws_access_key_id="AKIAEXAMPLE", aws_secret_access_key="x" * 40,
        config=Config(retries={"total_max_attempts": 1}, max_pool_connections=64,
                      s3={"addressing_style": "path"}))
client = RolloutClient("arn:aws:bedrock-agentcore:us-west-2:123456789012:runtime/a", "results",
    "run", tps_limit=10_000, max_pool_connections=16,
    agentcore_client=made("bedrock-agentcore"), s3_client=made("s3"))
def peak():
    status = dict(line.split(":") for line in open("/proc/self/status"))
    return int(status["VmHWM"].split()[0]) / 1024
before, kinds, wrong = peak(), Counter(), 0
began, used = time.perf_counter(), time.process_time()
for item in client.run_batch(({"n": n} for n in range(count)), at_once, timeout=10.0,
                             initial_interval=0.05, max_interval=0.5):
    kinds[item.kind] += 1
    wrong += item.success and item.result["rewards"] != item.index
print(json.dumps([kinds, wrong, time.perf_counter() - began, time.process_time() - used,
                  peak() - before, len(os.listdir(os.environ["REWARD_ROLLOUTS_SESSIONS"]))]))
"""


def report(console: Console) -> None:
    """Print what became of the sessions, and what they cost."""
    table = Table(
        title=f"Collection: {AT_ONCE} sessions at once, accidents in a tenth of the calls"
    )
    columns = ("sessions", "whole", "agent", "result", "timeout", "service", "wrong rows")
    for column in (*columns, "running", "ledger", "s", "CPU s", "MB"):
        table.add_column(column, justify="right")
    for count in (SESSIONS // 10, SESSIONS):
        table.add_row(*map(str, measured(count)))
    console.print(table)


def measured(count: int) -> list[object]:
    """One batch, in processes of its own."""
    command = [sys.executable, "-c", SERVICE, json.dumps(SHARES), str(RESULT)]
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as service,
    ):
        assert service.stdin is not None
        assert service.stdout is not None
        endpoint = service.stdout.readline().strip()
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", BATCH, endpoint, str(count), str(AT_ONCE)],
            cwd=ROOT,
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, "REWARD_ROLLOUTS_SESSIONS": f"{folder}/sessions"},
        )
        service.stdin.write("\n")
        service.stdin.flush()
        invoked, running, _ = map(int, service.stdout.readline().split())
    kinds, wrong, took, used, memory, kept = json.loads(done.stdout.splitlines()[-1])
    assert invoked == count
    counted = [kinds.get(kind, 0) for kind in ("", "agent", "result", "timeout", "service")]
    return [count, *counted, wrong, running, kept, f"{took:.1f}", f"{used:.1f}", f"{memory:.0f}"]
