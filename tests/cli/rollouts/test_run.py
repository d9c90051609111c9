"""`reward rollouts run`, `score` and `report`: from an agent to figures, interrupted or not."""

import json
import os
import signal
from pathlib import Path
from time import sleep

import pytest
from typer.testing import CliRunner

from reward_functions.cli import app
from reward_functions.local.runtime_double import serving
from tests.commands import PIPE, Command
from tests.loopback import served
from tests.rollout_agents import Agent

ROOT = Path(__file__).parents[3]

AGENT = '''
import json, os, time
from functools import cache
import boto3
from reward_functions.rollouts.request.context import get_rollout_context
from reward_functions.rollouts.request.contract import read_metadata
from reward_functions.rollouts.episode.handler import rollout_handler

@cache
def runtime(endpoint):
    return boto3.client("sagemakerjobruntime", region_name="us-west-2", endpoint_url=endpoint)

def ask(prompt):
    """The policy's answer."""
    known = read_metadata(get_rollout_context())
    named = {"JobArn": known.job_arn, "TrajectoryId": known.trajectory_id}
    turn = {"role": "user", "content": prompt}
    body = json.dumps({"model": "default", "messages": [turn]}).encode()
    answer = runtime(os.environ["RFT_RUNTIME_ENDPOINT"]).sample(Body=body, **named)
    return json.loads(answer["Body"].read())["choices"][0]["message"]["content"]

def plain(payload):
    time.sleep(float(os.environ.get("AGENT_SECONDS", "0")))
    return ask(payload["prompt"])

async def later(payload):
    return plain(payload)

@rollout_handler
def rewarded(payload):
    return {"reward": float("4" in ask(payload["prompt"]))}

def broken(payload):
    raise ValueError("secret")

def unrewarded(payload):
    return ask(payload["prompt"])

def idle(payload):
    return 1.0

def silent(payload):
    return None

number = 7
'''


def rows(count):
    for at in range(1, count + 1):
        turn = {"role": "user", "content": f"What is {at} + {at}?"}
        yield {"id": f"r{at}", "messages": [turn], "reference_answer": str(2 * at)}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with an agent and ten rows, and a shell without AWS."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    for name in ("AWS_PROFILE", "AWS_ENDPOINT_URL", "HTTP_PROXY", "http_proxy", "REWARD_JUDGE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows(10)))
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(app, ["rollouts", *map(str, arguments)])


def typed(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


def records(path="rollouts.jsonl"):
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def seconds():
    """How long each rollout took, which says whether one was run again."""
    return {(each["row"], each["sample"]): each["seconds"] for each in records()}


@pytest.mark.parametrize("agent", ["agent.py:plain", "agent.py:later"])
def test_a_plain_function_is_run_and_scored(folder, agent):
    ran = run("run", agent, "rows.jsonl", "-n", 3, "--reward", "math", "--wrong", 0.5)
    assert ran.exit_code == 0, ran.stderr
    assert "rollouts 30 · rewarded 30 · mean reward" in ran.stderr
    found = records()
    assert {(each["id"], each["sample"]) for each in found} == {
        (f"r{row}", sample) for row in range(1, 11) for sample in range(3)
    }
    assert {each["reward"] for each in found} == {0.0, 1.0}
    assert {each["setup"]["scorer"]["name"] for each in found} == {"math"}
    assert all(r"\boxed{" in each["response"] for each in found)


@pytest.mark.parametrize("agent", [["agent.py:plain", "--reward", "math"], ["agent.py:rewarded"]])
def test_what_an_agent_does_is_kept_and_joined_by_rollout(folder, agent):
    ran = run("run", *agent, "rows.jsonl", "-n", 2, "--limit", 3, "--trajectories", "kept.jsonl")
    assert "reward rollouts report rollouts.jsonl --trajectories kept.jsonl" in ran.stderr
    kept = [each["id"] for each in records("kept.jsonl")]
    assert sorted(kept) == sorted(each["rollout"] for each in records())
    shown = run("report", "rollouts.jsonl", "--trajectories", "kept.jsonl")
    assert "Rows with the most turns" in shown.stdout
    run("report", "rollouts.jsonl", "--trajectories", "kept.jsonl", "--report", "page.html")
    assert "Rows with the most turns" in Path("page.html").read_text()


def test_what_an_agent_elsewhere_does_is_kept_by_its_own_process(folder):
    ran = run("run", "http://127.0.0.1:1", "rows.jsonl", "--trajectories", "kept.jsonl")
    assert ran.exit_code == 2
    assert "start it with REWARD_ROLLOUTS_TRAJECTORIES=kept.jsonl" in ran.stderr


def test_a_place_that_is_none_is_refused_before_anything_runs(folder):
    ran = run("run", "agent.py:plain", "rows.jsonl", "--trajectories", "s3://bucket")
    assert (ran.exit_code, "s3://BUCKET/FOLDER" in ran.stderr) == (2, True)
    assert "RFT_RUNTIME_ENDPOINT" not in os.environ, "the environment is as it was"


def test_a_handler_rewards_itself_and_its_responses_are_scored_by_another(folder):
    assert run("run", "agent.py:rewarded", "rows.jsonl", "-n", 2).exit_code == 0
    assert records()[0]["setup"]["scorer"] is None
    scored = typed("score", "math", "rollouts.jsonl", "-o", "again.jsonl")
    assert scored.exit_code == 0, scored.stderr
    assert {each["aggregate_reward_score"] for each in records("again.jsonl")} == {1.0}
    compared = typed("compare", "math", "exact_match", "rollouts.jsonl", "--format", "json")
    found = {each["id"]: each["value"] for each in json.loads(compared.stdout)["figures"]}
    assert found["lost"] == 1.0  # a box is no exact match


def test_the_seed_decides_which_answers_are_wrong(folder):
    wrong = []
    for out in ("a.jsonl", "b.jsonl"):
        ran = run(
            "run",
            "agent.py:plain",
            "rows.jsonl",
            "--reward",
            "math",
            "-n",
            2,
            "-o",
            out,
            "--wrong",
            0.5,
        )
        assert ran.exit_code == 0
        wrong.append({each["rollout"] for each in records(out) if not each["reward"]})
    assert wrong[0] == wrong[1] != set()


def test_what_the_agent_raises_has_failed_and_its_text_is_nowhere(folder):
    ran = run("run", "agent.py:broken", "rows.jsonl", "-n", 1)
    assert ran.exit_code == 2, "no rollout was rewarded"
    raised = AGENT.splitlines().index('    raise ValueError("secret")') + 1
    assert f"failed: ValueError (agent.py, line {raised}) (10)" in ran.stderr
    assert "secret" not in Path("rollouts.jsonl").read_text() + ran.stderr
    assert not any("reward" in each for each in records())


@pytest.mark.parametrize("agent", ["unrewarded", "silent"])
def test_a_function_that_gives_no_reward_is_lost_long_before_the_window_closes(folder, agent):
    ran = run("run", f"agent.py:{agent}", "rows.jsonl", "-n", 1, "--grace", 0)
    assert ran.exit_code == 2, "no rollout was rewarded"
    assert "lost: completed without a reward (10)" in ran.stderr
    assert "give --reward NAME" in ran.stderr
    assert max(each["seconds"] for each in records()) < 300  # of a window of 600


def test_who_never_samples_the_policy_is_pointed_at(folder):
    ran = run("run", "agent.py:idle", "rows.jsonl", "-n", 1)
    assert ran.exit_code == 0
    assert "never called the policy (10)" in ran.stderr
    assert "never called the policy" in run("report", "rollouts.jsonl").stdout
    figures = json.loads(run("report", "rollouts.jsonl", "--format", "json").stdout)
    assert figures["idle"] == 10


def test_a_report_is_a_table_markdown_or_json(folder):
    run("run", "agent.py:plain", "rows.jsonl", "-n", 4, "--reward", "math", "--wrong", 0.4)
    figures = json.loads(run("report", "rollouts.jsonl", "--format", "json").stdout)
    assert (figures["rollouts"], figures["statuses"]["rewarded"]) == (40, 40)
    assert set(figures["pass_at"]) == {"1", "2", "4"}
    table = run("report", "rollouts.jsonl").stdout
    assert "pass@4" in table
    assert "groups with zero advantage" in table
    assert "| pass@1 |" in run("report", "rollouts.jsonl", "--format", "markdown").stdout


def test_no_texts_are_kept_where_they_are_not_wanted(folder):
    run("run", "agent.py:plain", "rows.jsonl", "-n", 1, "--reward", "math", "--no-responses")
    assert not any({"response", "content"} & each.keys() for each in records())
    assert typed("score", "math", "rollouts.jsonl").exit_code == 2


REFUSED = [
    (["agent.py:plain", "nowhere.jsonl"], "nowhere.jsonl: No such file"),
    (["agent.py", "rows.jsonl"], "write agent.py:NAME"),
    (["agent.py:plan", "rows.jsonl"], "Did you mean 'plain'?"),
    (["agent.py:number", "rows.jsonl"], "agent.py:number is int, which cannot be called"),
    (["nowhere.py:plain", "rows.jsonl"], "nowhere.py: No such file"),
    (["nomodule:plain", "rows.jsonl"], "there is no module 'nomodule' here"),
    (["arn:aws:s3:::bucket", "rows.jsonl"], "is no agent"),
    (["http://", "rows.jsonl"], "is not the URL of an agent"),
    (["agent.py:plain", "rows.jsonl", "--reward", "maths"], "Did you mean 'math'?"),
    (["agent.py:plain", "rows.jsonl", "--reward", "math", "-p", "x=1"], "x"),
    (["agent.py:plain", "rows.jsonl", "--faults", "trottle=1"], "throttle"),
    (["agent.py:plain", "rows.jsonl", "--policy", "none.jsonl"], "none.jsonl: No such file"),
    (["agent.py:plain", "rows.jsonl", "--field", "q", "--via", "pigeon"], "is not one of"),
    (["agent.py:plain", "rows.jsonl", "--runtime", "http://127.0.0.1:1"], "reward local runtime"),
    (["https://agent.example", "rows.jsonl", "--port", "8799"], "--runtime"),
    (["rubric", "rows.jsonl", "--reward", "rubric"], "--judge"),
]


@pytest.mark.parametrize(("arguments", "sentence"), REFUSED, ids=[each[1] for each in REFUSED])
def test_what_cannot_be_run_is_one_line_and_status_2(folder, arguments, sentence):
    ran = run("run", *arguments)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert sentence in ran.stderr
    assert len(ran.stderr.strip().splitlines()) <= 6  # a usage error has a frame


CHANGED = [
    (["--reward", "math", "-n", "3"], "another n, 2 and not 3"),
    (["--reward", "math", "-n", "2", "--seed", "1"], "another seed"),
    (["-n", "2"], "was scored by math version"),
    (["--reward", "math", "-n", "2", "-p", "strict_percent=true"], "was scored by math version"),
]


def test_another_run_does_not_go_on_with_a_file(folder):
    first = ["run", "agent.py:plain", "rows.jsonl", "--reward", "math", "-n", "2", "--limit", "1"]
    assert run(*first).exit_code == 0
    before = Path("rollouts.jsonl").read_bytes()
    again = run(*first)
    assert (again.exit_code, "--resume" in again.stderr) == (2, True)
    for arguments, sentence in CHANGED:
        ran = run("run", "agent.py:plain", "rows.jsonl", "--resume", *arguments)
        assert ran.exit_code == 2
        assert sentence in ran.stderr
    assert Path("rollouts.jsonl").read_bytes() == before


def test_an_agent_that_rewards_nothing_is_scored_or_lost(folder):
    with serving() as double, served(Agent(double.endpoint)) as agent:
        (folder / "samples.jsonl").write_text('{"prompt": "samples 1 + 1", "answer": "2"}\n')
        shared = [agent.address, "samples.jsonl", "-n", "2", "--runtime", double.endpoint]
        scored = run("run", *shared, "--reward", "math", "--grace", "0", "-o", "scored.jsonl")
        assert scored.exit_code == 0, scored.stderr
        assert {(each["reward"], each["scored_by"]) for each in records("scored.jsonl")} == {
            (1.0, "scorer")
        }
        lost = run("run", *shared, "--window", "1", "-o", "lost.jsonl")
        assert lost.exit_code == 2, "no rollout was rewarded"
        assert "lost: never completed (2)" in lost.stderr
        assert {each["status"] for each in records("lost.jsonl")} == {"lost"}
        assert typed("score", "math", "lost.jsonl").exit_code == 0


def test_a_port_that_is_taken_is_named(folder):
    with serving() as double:
        port = double.endpoint.rpartition(":")[2]
        ran = run("run", "agent.py:plain", "rows.jsonl", "--port", port)
    assert ran.exit_code == 2
    assert f"--runtime http://127.0.0.1:{port}" in ran.stderr


def test_a_run_that_is_killed_and_interrupted_goes_on(folder):
    line = ["rollouts", "run", "agent.py:plain", "rows.jsonl", "-n", "2", "--reward", "math"]
    # The first is killed and the second interrupted once so many records are on the disk.
    for number, (end, most) in enumerate([(signal.SIGKILL, 4), (signal.SIGINT, 8)]):
        resume = ["--resume"] if number else []
        process = Command(
            [*line, "-c", "2", *resume],
            env={**os.environ, "AGENT_SECONDS": "0.05", "PYTHONPATH": str(ROOT)},
            stderr=PIPE,
        )
        path = folder / "rollouts.jsonl"
        while process.poll() is None and (
            not path.exists() or path.read_bytes().count(b"\n") < most
        ):
            sleep(0.01)
        process.send_signal(end)
        stderr = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert "go on: reward rollouts run agent.py:plain rows.jsonl -n 2" in stderr
    assert " --resume\n" in stderr
    kept = seconds()
    assert 8 <= len(kept) < 20
    ran = run(*line[1:], "--resume")
    assert ran.exit_code == 0, ran.stderr
    assert f"of before {len(kept)}" in ran.stderr
    assert len(records()) == len(seconds()) == 20
    assert kept.items() <= seconds().items()
