"""A function that becomes a snapshot, and two environments that are restored from it.

The process below is the function, and AWS's own runtime client runs its hooks, as on Lambda. A fork
stands for a copy of the virtual machine: what Python makes anew in a fork is put back, as a copy
keeps it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

FUNCTION = """
import json, os, random, sys, tempfile
from awslambdaric import lambda_runtime_hooks_runner as hooks
from reward_functions.serving import handler as module

CANDIDATES = tempfile._get_candidate_names()
next(CANDIDATES)
function = module.handler
from reward_functions.symbolic.cas.client import CLIENT
started = CLIENT._worker.process
function({"reward_functions": {"self_test": "model"}})
hooks.run_before_snapshot()
assert started.returncode is not None and CLIENT._worker is None, "sympy's process is in it"
state, names = random.getstate(), CANDIDATES._rng.getstate()

def restored():
    random.setstate(state)  # Python seeds it in a fork
    CANDIDATES._rng.setstate(names)
    CANDIDATES._rng_pid = os.getpid()
    copied = [random.random(), next(CANDIDATES)]
    random.setstate(state)
    CANDIDATES._rng.setstate(names)
    hooks.run_after_restore()
    function({"reward_functions": {"self_test": "model"}})
    fresh = [random.random(), next(tempfile._get_candidate_names())]
    worker = CLIENT._worker.process.pid
    CLIENT.end()
    return {"copied": copied, "fresh": fresh, "worker": worker}

for _ in range(2):
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.write(writing, json.dumps(restored()).encode())
        os._exit(0)
    os.close(writing)
    with open(reading) as answer:
        print(answer.read())
    assert os.wait()[1] == 0
print(started.pid)
"""

PLAIN = """
import os, sys
from reward_functions.serving import handler as module
module.handler
assert "snapshot_restore_py" not in sys.modules, "Lambda's hooks are loaded, and nobody asked"
del module.handler
os.environ["AWS_LAMBDA_INITIALIZATION_TYPE"] = "snap-start"
try:
    module.handler
except ModuleNotFoundError as error:
    print(error.name)
"""


@contextmanager
def refusing_model():
    """An endpoint that refuses every question, and who asked what on which connection."""
    asked = []

    class Refusing(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"  # connections stay

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            asked.append((self.client_address, body))
            self.send_response(400)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def printed(code, folder, **environment):
    """The lines that a process prints, which has this environment and nearly no other."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=kept | {"PYTHONPATH": f"{Path(__file__).parents[2]}:{folder}"} | environment,
        capture_output=True,
        check=False,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return [line for line in done.stdout.splitlines() if not line.startswith('{"level"')]


@pytest.fixture(scope="module")
def restored(tmp_path_factory):
    """Two environments of one snapshot, what was asked by whom, and the first sympy's number."""
    pytest.importorskip("awslambdaric", reason="AWS's runtime client is for Linux")
    folder = tmp_path_factory.mktemp("nothing")
    with refusing_model() as (endpoint, asked):
        judge = {"models": [{"model": "m", "backend": "openai", "endpoint": endpoint}]}
        first, second, worker = printed(
            FUNCTION,
            folder,
            AWS_LAMBDA_INITIALIZATION_TYPE="snap-start",
            REWARD_NAME="math_then_judge",
            REWARD_JUDGE=json.dumps(judge | {"retries": 0}),
        )
    return json.loads(first), json.loads(second), asked, int(worker)


def test_two_environments_of_one_snapshot_share_no_random_number_and_no_temporary_name(restored):
    first, second, *_ = restored
    assert first["copied"] == second["copied"]  # or the fork is no copy, and nothing is tested
    assert not {*first["fresh"], *first["copied"]} & {*second["fresh"]}


def test_no_environment_uses_a_connection_of_another_or_of_the_snapshot(restored):
    *_, asked, _ = restored
    assert len({address for address, _ in asked}) == 3


def test_what_marks_the_material_of_a_judge_is_drawn_anew(restored):
    *_, asked, _ = restored
    first_of = dict(reversed(asked))
    assert len({*first_of.values()}) == 3  # the same question, under other marks


def test_each_environment_has_a_process_of_its_own_for_algebra(restored):
    first, second, _, started = restored
    assert len({first["worker"], second["worker"], started}) == 3


def test_a_plain_start_loads_no_hooks_and_a_snapshot_without_them_does_not_start(tmp_path):
    absent = 'raise ModuleNotFoundError(name="snapshot_restore_py")'
    (tmp_path / "snapshot_restore_py.py").write_text(absent)
    assert printed(PLAIN, tmp_path, REWARD_NAME="exact_match") == ["snapshot_restore_py"]
