"""Runs over shards: killed and resumed, a million rows in bounded memory, rows that break.

python -m tests.nightly.shards [kills|memory|rows …]

kills    the client ends by kill -9 at random moments, with `processes` and with `direct`; it is
         resumed until it is through: the bytes of `reward score`, and no part is scored twice
memory   a million rows, and the most memory that the client had
rows     a row that blocks and one that ends its process among ten thousand
"""

import io
import json
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from random import Random
from time import monotonic, sleep

from reward_functions import get, score_batch
from reward_functions.local.function_runtime import LocalRuntime
from reward_functions.scoring.engines.direct import Direct
from reward_functions.scoring.engines.processes import Processes
from reward_functions.scoring.folder import Run
from reward_functions.scoring.invoked import BATCH_ROWS, Invoked
from reward_functions.scoring.places import place_of
from reward_functions.scoring.plan import Plan
from reward_functions.serving.contract import decode, result_object
from tests.lambda_api import Function, lambda_api

ARN = "arn:aws:lambda:us-east-1:123456789012:function:gsm8k:3"

CLIENT = [sys.executable, "-m", "reward_functions.cli"]

BEGIN = """
from reward_functions.scoring.engines.direct import Direct
from reward_functions.scoring.plan import Plan
plan = Plan.of("rows.jsonl", "run", "gsm8k", shard_mb=SIZE, function="ARN")
plan.start(Direct(3), resume=True)
"""
"""A run of a version by its ARN; on the command line it is that of a stage's deployment."""

KILLS = 20
ROWS = 20_000
MANY = 1_000_000
MOST_MB = 200
BROKEN = 10_000

BREAKING = '''
import os
import time

from reward_functions import Score, reward_function
from reward_functions.serving.handler import bind
from reward_functions.serving.settings import LambdaSettings


@reward_function(version=1)
def breaking(sample):
    """What the response says."""
    if sample.response == "block":
        time.sleep(3600)
    if sample.response == "end":
        os._exit(7)
    return Score(float(sample.response))


serve = bind(LambdaSettings(name="breaking", deadline_margin_ms=500), breaking)
'''


def write_rows(path, count, said="so\n#### {0}".format):
    with path.open("w", encoding="utf-8") as stream:
        for number in range(count):
            turns = [
                {"role": "user", "content": f"{number}?"},
                {"role": "assistant", "content": said(number + number % 3)},
            ]
            row = {"id": f"r{number}", "messages": turns, "reference_answer": f"#### {number + 1}"}
            print(json.dumps(row), file=stream)


@contextmanager
def version():
    """The environment of a client that invokes a version, which this process serves."""
    reward = get("gsm8k")

    def answer(event):
        return [result_object(each) for each in score_batch(reward, decode(event))]

    with lambda_api({ARN: Function([answer])}) as address:
        keys = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_REGION": "us-east-1"}
        yield {**os.environ, **keys, "AWS_ENDPOINT_URL_LAMBDA": address}


def begun(engine, shard_mb):
    """The command that begins a run."""
    if engine == "direct":
        code = BEGIN.replace("SIZE", str(shard_mb)).replace("ARN", ARN)
        return [sys.executable, "-c", code]
    score = [*CLIENT, "score", "gsm8k", "rows.jsonl", "--on", engine, "--concurrency", "2"]
    return [*score, "-o", "run", "--shard-mb", str(shard_mb), "--resume"]


def started(command, folder, environment):
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, cwd=folder, env=environment, stdout=quiet, stderr=quiet)


def parts_of(folder):
    """The parts that are done, with the times of their facts."""
    return {each.name: each.stat().st_mtime_ns for each in folder.glob("run/*.facts.json")}


def joined(folder):
    stream = io.BytesIO()
    Run.opened(place_of(str(folder / "run"))).join(stream)
    return stream.getvalue()


def kills(seed=36):
    """Returns what went wrong, or ""."""
    numbers = Random(seed)
    with tempfile.TemporaryDirectory() as name, version() as environment:
        folder = Path(name)
        write_rows(folder / "rows.jsonl", ROWS)
        plain = [*CLIENT, "score", "gsm8k", "rows.jsonl", "-o", "plain"]
        subprocess.run(plain, cwd=folder, check=True, capture_output=True)
        whole = (folder / "plain").read_bytes()
        for engine in ("processes", "direct"):
            killed = runs = 0
            while killed < KILLS:
                runs += 1
                found, problem = killed_run(folder, environment, engine, numbers)
                killed += found
                if problem or joined(folder) != whole:
                    return f"{engine}, seed {seed}: {problem or 'other bytes'}"
                subprocess.run(["rm", "-r", "run"], cwd=folder, check=True)
            print(f"{engine}: {killed} kills in {runs} runs, the same bytes, no part twice")
    return ""


def killed_run(folder, environment, engine, numbers):
    """Kill a run until one ends; returns how often it was killed, and what went wrong."""
    kills, before = 0, {}
    command = begun(engine, 0.1)
    while True:
        running = started(command, folder, environment)
        try:
            # Longer each time: where the machine is busy, a run would be killed as it starts.
            running.wait((1 + kills / 4) * (0.4 + 1.5 * numbers.random()))
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()
            kills += 1
        sleep(0.2)  # what it had begun ends, too
        now = parts_of(folder)
        if any(now.get(part) != time for part, time in before.items()):
            return kills, "a part that was done was done again"
        before = now
        if running.returncode == 0:
            return kills, ""
        if running.returncode > 0:
            return kills, f"it ended with {running.returncode}"
        if (folder / "run" / "run.json").exists() and kills % 2:
            command = [*CLIENT, "runs", "resume", "run"]


def most_memory(running):
    """Megabytes that a process had at most, until it ends."""
    most = 0
    while running.poll() is None:
        try:
            status = Path(f"/proc/{running.pid}/status").read_text()
        except OSError:
            break
        found = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")]
        most = max([most, *(int(each) // 1024 for each in found)])
        sleep(0.2)
    return most


def memory():
    """Returns what went wrong, or ""."""
    with tempfile.TemporaryDirectory() as name, version() as environment:
        folder = Path(name)
        write_rows(folder / "rows.jsonl", MANY)
        for engine in ("processes", "direct"):
            began = monotonic()
            running = started(begun(engine, 16), folder, environment)
            most = most_memory(running)
            if running.wait():
                return f"{engine} ended with {running.returncode}"
            if (rows := len(Run.opened(place_of(str(folder / "run"))).facts())) != MANY:
                return f"{engine} scored {rows:,} rows"
            seconds = monotonic() - began
            print(f"{engine}: {MANY:,} rows, {seconds:.0f} s, {most} MB at most", flush=True)
            if most >= MOST_MB:
                return f"{engine} took {most} MB"
            subprocess.run(["rm", "-r", "run"], cwd=folder, check=True)
    return ""


def rows():
    """Returns what went wrong, or ""."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "breaking.py").write_text(BREAKING)
        breaks = {2_345: "block", 7_777: "end"}
        said = iter(range(BROKEN))
        write_rows(
            folder / "rows.jsonl", BROKEN, lambda _: breaks.get(at := next(said), str(at % 2))
        )
        reward, source = str(folder / "breaking.py"), str(folder / "rows.jsonl")
        plan = Plan.of(source, str(folder / "run"), reward, function=ARN)
        with LocalRuntime({}, handler="breaking.serve", folder=folder, timeout=20.0) as runtime:
            scorer = Invoked(plan.spec, lambda event: runtime.invoke(json.loads(event)).body)
            run = plan.start(Direct(1, scorer=lambda _: scorer))
        problem = unscored(run, {"r2345": "SampleBlocked", "r7777": "ProcessEnded"})
        print(f"direct: {scorer.calls} invocations for {BROKEN // BATCH_ROWS} batches")
        del breaks[2_345]
        said = iter(range(BROKEN))
        write_rows(
            folder / "rows.jsonl", BROKEN, lambda _: breaks.get(at := next(said), str(at % 2))
        )
        run = Plan.of(source, str(folder / "run2"), reward).start(Processes(2))
        return problem or unscored(run, {"r7777": "InterpreterDied"})


def unscored(run, expected):
    """What is wrong with the rows without a score, or ""."""
    stream = io.BytesIO()
    run.join(stream)
    results = [json.loads(line) for line in stream.getvalue().splitlines()]
    found = {each["id"]: each["error"]["type"] for each in results if "error" in each}
    print(f"{len(results) - len(found):,} scored, unscored: {found}", flush=True)
    return "" if found == expected and len(results) == BROKEN else f"unscored are {found}"


PARTS = {"kills": kills, "memory": memory, "rows": rows}


def main(*names):
    """Returns 1 where a part failed."""
    problems = [PARTS[name]() for name in names or PARTS]
    for problem in filter(None, problems):
        print(problem)
    return int(any(problems))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
