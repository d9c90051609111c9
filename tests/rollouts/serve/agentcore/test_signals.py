"""Real signals at real processes, on both hosts: what runs ends as a stored failure, once."""

import json
import signal
from contextlib import contextmanager
from pathlib import Path

import pytest

from reward_functions.rollouts.serve.agentcore.invocations import InvocationStore
from tests.commands import PIPE, Command, run
from tests.rollouts.serve.agentcore.hosts import BUCKET, LIMIT, ask
from tests.waiting import until

ROOT = Path(__file__).parents[4]
PAYLOAD = {"_rollout": {"exp_id": "e", "input_id": "i", "s3_bucket": BUCKET}}

CHILD = """
import socket, sys, time
from pathlib import Path
import boto3
from botocore.config import Config
from reward_functions.rollouts.serve.agentcore import apps
from reward_functions.rollouts.serve.agentcore.own_host import OwnHost
from reward_functions.rollouts.servers.app import main

host, endpoint, grace, folder = sys.argv[1:]
base = OwnHost if host == "own" else apps.Host
client = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1",
    aws_access_key_id="AKIAEXAMPLE", aws_secret_access_key="secret/EXAMPLE",
    config=Config(s3={"addressing_style": "path"}, request_checksum_calculation="when_required"))
options = {"grace": float(grace)}
rollouts = type("App", (apps.RolloutEntrypoints, base), {})(
    result_buckets=["rollout-results"], s3_client=client, pauses=(), **options)

@rollouts.rollout_entrypoint
def agent(payload):
    print("ran", flush=True)
    time.sleep(payload["seconds"])
    return {"rewards": 1.0}

with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
print(f"http://127.0.0.1:{port}", flush=True)
main(["__main__:rollouts", "--port", str(port)])
"""


@contextmanager
def running(host, s3, grace, tmp_path):
    arguments = [host, s3.address, grace, tmp_path]
    with Command(arguments, program=CHILD, cwd=ROOT, stdout=PIPE) as child:
        url = child.stdout.readline().strip()
        try:
            until(lambda: answers(url))
            yield child, url
        finally:
            child.kill()


def answers(url):
    try:
        return ask(url, {"seconds": 0} | PAYLOAD, session="first" * 8)[0] == 200
    except OSError:
        return False


ENDS = [
    # the host, the signals, the grace, how long the agent takes, what is stored
    ("own", ["TERM"], 0.2, 60, 500),
    ("sdk", ["INT"], 0.2, 60, 500),
    ("sdk", ["TERM"], 60, 0.3, 200),
    ("own", ["INT", "TERM"], 600, 60, 500),
]


@pytest.mark.parametrize(("host", "signals", "grace", "seconds", "status"), ENDS)
def test_a_signal_stores_what_still_runs(host, signals, grace, seconds, status, s3, tmp_path):
    with running(host, s3, grace, tmp_path) as (child, url):
        assert child.stdout.readline() == "ran\n"
        _, answer = ask(url, {"seconds": seconds} | PAYLOAD)
        assert child.stdout.readline() == "ran\n"
        for name in signals:
            child.send_signal(getattr(signal, f"SIG{name}"))
            if name != signals[-1]:  # also at once, while requests come in
                until(lambda: is_draining(url))
        child.wait(LIMIT)
    found = s3.stored(answer)
    assert found["status_code"] == status
    assert found.get("rewards") == (1.0 if status == 200 else None)


def is_draining(url):
    status, content = ask(url, PAYLOAD, path="/invocations")
    return status == 503 and "ending" in json.dumps(content)


EIGHT = """
import os, sys
from reward_functions.rollouts.serve.agentcore.invocations import InvocationStore

ready, go = os.pipe(), os.pipe()
for child in range(8):
    if not os.fork():
        os.close(go[1])
        store = InvocationStore(sys.argv[1])
        os.write(ready[1], b".")
        os.read(go[0], 1)  # until the parent closes it
        won = [claim for at in range(40) if (claim := store.claim("s", f"i{at}")) is not None]
        os.write(1, b"%d\\n" % len(won))
        os._exit(len(won) == 40)
for child in range(8):
    os.read(ready[0], 1)
os.close(go[1])
for child in range(8):
    os.wait()
"""


def test_eight_processes_start_an_id_once(tmp_path):
    done = run([tmp_path], program=EIGHT, cwd=ROOT, stdout=PIPE)
    assert done.returncode == 0
    won = list(map(int, done.stdout.split()))
    assert (len(won), sum(won)) == (8, 40)


def test_a_folder_that_a_sweep_takes_away_is_made_again(tmp_path, monkeypatch):
    store, mkdir = InvocationStore(tmp_path), Path.mkdir
    taken = iter([True, True, False])

    def made(self, *arguments, **options):
        if self.name == "i" and next(taken, False):
            raise FileNotFoundError(2, "No such file or directory")
        return mkdir(self, *arguments, **options)

    monkeypatch.setattr(Path, "mkdir", made)
    with store.claim("s", "i") as claim:
        assert claim is not None
    assert store.claim("s", "i") is None


def test_a_session_that_another_sweep_takes_away_ends_no_claim(tmp_path, monkeypatch):
    def glob(self, pattern):
        raise FileNotFoundError(2, f"No such file or directory: {pattern}")

    monkeypatch.setattr(Path, "glob", glob)
    with InvocationStore(tmp_path).claim("s", "i") as claim:
        assert claim is not None
