"""`reward job baseline`, `preflight`, `diagnose`, `deploy-model` and `cleanup`, as they are typed.

The deployment is a function on the emulator that pays what stands behind the last ####.
"""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import datetime

import pytest

from reward_functions.aws.catalogue import (
    deployment_parameter,
    stage_parameter,
)
from reward_functions.aws.deployed.catalogue import find, stage_record
from reward_functions.aws.names import Names
from reward_functions.jobs.job import JobRequest
from tests.bedrock_service import ARN, MOMENT
from tests.deployed_stage import NUMBERS, StageOnEmulator
from tests.gates import CASES, EMPTY, GATES, ended_with
from tests.job_fixtures import ROLE
from tests.jobs.memory import Driver
from tests.jobs.models_service import Refusal, Text
from tests.parsed_page import harmless

MODEL = "amazon.nova-2-lite-v1:0:256k"
TUNED = f"{ARN}:custom-model/amazon.nova-2-lite-v1:0:256k/abcdefghijkl"
SIMULATION = "simulation: the training double trains no language model\n"

SOURCE = """
def handler(event, context):
    if not isinstance(event, list):
        return {"failures": [], "unavailable": []}
    def score(row):
        messages = row.get("messages") or [{}]
        content = messages[-1].get("content") or ""
        if isinstance(content, list):
            content = "".join(block["text"] for block in content)
        within = row.get("metadata") or {}
        reference = row.get("reference_answer") or within.get("reference_answer")
        content = content.rpartition("</think>")[2] if "</think>" in content else content
        if "<think>" in content or not reference:
            return 0.0
        return float(content.rpartition("####")[2].strip() PAYS)
    return [{"id": row["id"], "aggregate_reward_score": score(row)} for row in event]
"""


@pytest.fixture(scope="module")
def graded(local_aws, root_session, deployed_function):
    """A stage with two deployments: one that can be trusted, and one that pays the form."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in local_aws.environment.items():
            patch.setenv(name, value)
        stage = StageOnEmulator(root_session, deployed_function, f"stage{next(NUMBERS)}")
        for name, pays in (("good", "== str(reference) and '####' in content"),
                           ("bad", "!= '' and '####' in content")):  # fmt: skip
            source = SOURCE.replace("PAYS", pays)
            function = deployed_function(source, name=Names(stage.stage).function(name))
            stage.lambda_.get_waiter("function_active_v2").wait(
                FunctionName=function, WaiterConfig={"Delay": 0.05}
            )
            version = stage.lambda_.publish_version(FunctionName=function)["Version"]
            stage.record(name, function, version)
            # A reward that is not installed here: nothing but its answers is known.
            known = find(name, stage.stage, root_session).model_copy(update={"reward": "acme.sum"})
            stage.put(deployment_parameter(stage.stage, name), known)
        known = stage_record(stage.stage, root_session)
        known = known.model_copy(update={"training_role_arn": ROLE, "bucket": "bucket"})
        stage.put(stage_parameter(stage.stage), known)
        yield stage


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "train.jsonl"
    rows = [
        {
            "id": str(at),
            "messages": [{"role": "user", "content": f"What is {at} + 7?"}],
            "reference_answer": str(at + 7),
        }
        for at in range(100, 220)
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


@pytest.fixture
def on(job, graded, control_plane, models, monkeypatch, tmp_path):
    """Run a command on that stage, with models to ask."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", models.address)

    def run(command, *arguments, **options):
        return job(command, *arguments, stage=graded.stage, **options)

    return run


def answer(prompt):
    """A model that is right every other time."""
    number = int(prompt.split()[2])
    return f"#### {number + 7 + number % 2}"


@pytest.fixture
def measure(on, file):
    def run(*options, **more):
        given = ("-m", MODEL, "-d", "good", "--data", file, "-n", "20", "-k", "2")
        return on("baseline", *given, *options, **more)

    return run


def test_the_cost_comes_first_and_the_figures_are_kept(measure, models, tmp_path):
    models.model = answer
    ran = measure("--yes")
    assert ran.exit_code == 0, ran.output
    cost, *rest = ran.stderr.splitlines()
    assert cost.startswith("calls to us.amazon.nova-2-lite-v1:0 40 · tokens read about ")
    assert "written 81,920 at most · dollars 0.23 at most" in cost
    assert SIMULATION in ran.stderr
    assert "mean, of the scale" in ran.stdout
    assert "zero advantage" in ran.stdout
    kept = json.loads((tmp_path / "baseline.json").read_text())
    assert (kept["model"], kept["prompts"], kept["each"], kept["simulation"]) == (
        MODEL,
        20,
        2,
        True,
    )
    assert 0.2 < kept["mean"][0] < 0.8
    assert len(models.sent) == 40
    assert rest[-1] == "the figures are in baseline.json"


def test_a_baseline_has_a_page_with_its_shares(measure, models, tmp_path):
    models.model = answer
    ran = measure("--yes", "--report", "baseline.html")
    assert ran.exit_code == 0, ran.output
    assert ran.stderr.splitlines()[-1] == "the page is baseline.html"
    parsed = harmless((tmp_path / "baseline.html").read_text())
    assert parsed.headings[0] == (1, "Baseline of us.amazon.nova-2-lite-v1:0 (simulation)")
    for words in ("What a job can learn from it", "20 × 2", "share at the minimum"):
        assert words in parsed.text


def test_a_tuned_model_is_measured_beside_its_base(measure, models, tmp_path):
    """What it earns is no baseline of the next job, and nothing is wrong with earning all of it."""
    models.model = answer
    measure("--yes")
    base = (tmp_path / "baseline.json").read_bytes()
    models.model = lambda prompt: f"#### {int(prompt.split()[2]) + 7}"
    hosted = f"{ARN}:custom-model-deployment/abcdefghijkl"
    ran = measure("--yes", "--ask", hosted)
    assert ran.exit_code == 0, ran.output
    assert "nothing to learn" not in ran.output
    assert "(simulation)" in ran.stdout
    tuned = json.loads((tmp_path / "tuned.json").read_text())
    assert (tuned["tuned"], tuned["asked"], tuned["mean"][0]) == (True, hosted, 1.0)
    assert (tmp_path / "baseline.json").read_bytes() == base


def test_nothing_is_asked_without_somebody_who_agrees(measure, models, tmp_path):
    ran = measure()
    assert (ran.exit_code, ran.stdout) == (2, "")
    cost, complaint = ran.stderr.splitlines()
    assert cost.startswith("calls to us.amazon.nova-2-lite-v1:0 40 · tokens read about ")
    assert complaint.endswith("there is no terminal to ask on: add --yes")
    assert models.sent == []
    assert not (tmp_path / "baseline.json").exists()


def test_answers_that_are_kept_are_not_asked_for_again(measure, models, tmp_path):
    models.model = answer
    out = tmp_path / "answers.jsonl"
    measure("--yes", "--out", out)
    models.sent.clear()
    ran = measure("--yes", "--out", out, "-k", "3")
    assert len(models.sent) == 20
    assert "answers that are there 40" in ran.stderr


def test_a_model_that_stays_busy_is_one_sentence(measure, models, monkeypatch):
    monkeypatch.setattr("reward_functions.jobs.asking.FIRST_PAUSE", 0.0001)
    models.model = lambda _: Refusal(429, "ThrottlingException")
    ran = measure("--yes")
    assert ran.exit_code == 2
    assert "error: the model stays busy, 8 calls for one answer" in ran.stderr


def test_the_sampling_is_the_jobs(measure, models):
    models.model = lambda _: Text("", "max_tokens")
    ran = measure("--yes", "--set", "inferenceMaxTokens=99", "--temperature", "0.5", "--json")
    assert models.sent[0]["inferenceConfig"] == {"temperature": 0.5, "maxTokens": 99}
    shown = json.loads(ran.stdout)
    assert shown["cut"][0] == 1.0
    assert {each["question"] for each in shown["findings"]} >= {"baseline", "cut off"}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--price", "1"], "--price '1': write IN,OUT"),
        (["--price", "-1,2"], "a price is a number from 0"),
        (["-m", "amazon.nova-3"], "has no 'amazon.nova-3'"),
        (["-d", "goood"], "no deployment 'goood'; did you mean"),
    ],
)
def test_what_cannot_be_measured_is_one_sentence(measure, options, sentence):
    ran = measure("--yes", *options)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.count("\n") == 1
    assert sentence.partition(";")[0] in ran.stderr


@pytest.fixture
def check(on, file):
    def run(deployment, *options):
        return on("preflight", "-m", MODEL, "-d", deployment, "--data", file, *options)

    return run


def findings(ran):
    return {(each["verdict"], each["question"]) for each in json.loads(ran.stdout)["findings"]}


def test_preflight_passes_what_can_be_trained_with(check, root_session):
    role = ROLE.rpartition("/")[2]
    iam = root_session.client("iam")
    statement = {"Effect": "Allow", "Action": ["lambda:*", "s3:*"], "Resource": "*"}
    trusted = {"Effect": "Allow", "Principal": {"Service": "bedrock.amazonaws.com"},
               "Action": "sts:AssumeRole"}  # fmt: skip
    iam.create_role(RoleName=role, AssumeRolePolicyDocument=json.dumps({"Statement": [trusted]}))
    iam.put_role_policy(
        RoleName=role,
        PolicyName="all",
        PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [statement]}),
    )
    try:
        ran = check("good", "--rows", "8", "--json")
        shown = check("good", "--rows", "8").stdout.splitlines()
    finally:
        iam.delete_role_policy(RoleName=role, PolicyName="all")
        iam.delete_role(RoleName=role)
    assert ran.exit_code == 0, ran.output
    found = findings(ran)
    assert {("ok", "right answers"), ("ok", "rights"), ("ok", "trust"), ("ok", "data")} <= found
    assert ("warning", "baseline") in found  # not measured
    assert json.loads(ran.stdout)["passed"]
    warnings = [verdict for verdict, _ in found].count("warning")
    assert shown[-1].startswith(f"ready, {warnings} warning")


def test_preflight_refuses_a_reward_that_pays_the_form(check):
    ran = check("bad", "--rows", "8")
    assert ran.exit_code == 1
    assert "Before bad-" in ran.stdout
    failures = ran.stdout.count("FAILURE")
    warnings = ran.stdout.count("warning  ")
    assert ran.stdout.splitlines()[-1] == f"not ready, {failures} failures, {warnings} warnings"
    assert "FAILURE   wrong" in ran.stdout
    assert "FAILURE   role" in ran.stdout
    assert SIMULATION in ran.stderr


def test_preflight_of_a_file_without_rows_is_no_pass(check, file):
    file.write_text("")
    ended_with(check("good"), GATES["job preflight"][CASES.index(EMPTY)])


def test_a_refused_start_shows_each_failure_on_its_line(on, file):
    ran = on("start", "-m", MODEL, "-d", "bad", "--data", file)
    assert (ran.exit_code, ran.stdout) == (2, "")
    lines = ran.stderr.splitlines()
    failures = [line for line in lines if line.startswith("failure: ")]
    wrong = next(at for at, line in enumerate(lines) if line.startswith("failure: wrong: "))
    assert lines[wrong + 1].startswith(f"  {file}, line ")
    assert lines[wrong + 1].endswith('" earns 1')
    assert lines[-1].startswith(f"error: nothing was started: {len(failures)} checks failed (")


def test_a_job_that_was_started_is_not_checked_unless_for_its_next_run(check, service):
    first = check("good", "--rows", "8")
    name = first.stdout.partition("Before ")[2].split()[0]
    service.begun(name=name)
    ran = check("good", "--rows", "8")
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert f"{name} was started before, and is queued: --again checks its next run" in ran.stderr


def test_preflight_of_a_job_that_cannot_be_is_one_sentence(check):
    ran = check("good", "--set", "batchSize=9999")
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert "batchSize" in ran.stderr


@pytest.fixture
def ended(service, graded):
    """A job in memory, over."""

    def made(outcome="failed", failure="", **members):
        grader = find("good", graded.stage, graded.session).version_arn
        service.tuned = TUNED
        job = service.begun(
            name=f"good-0a1b2c3d-{next(NUMBERS)}", grader=grader, model=MODEL, **members
        )
        record = service.jobs[job.id]
        record.outcome, record.failure = outcome, failure
        service.clock.sleep(3_600)
        return job.name

    return made


def test_diagnose_says_the_cause_and_what_to_do(on, ended):
    name = ended(failure="Lambda: Task timed out after 60.00 seconds \x1b[2J")
    ran = on("diagnose", name)
    assert ran.exit_code == 0, ran.output
    assert "has failed" in ran.stdout
    assert "timeout" in ran.stdout
    assert "timeout_seconds" in ran.stdout.replace("\n", "")
    assert "\x1b[2J" not in ran.stdout
    shown = json.loads(on("diagnose", name, "--json").stdout)
    assert [each["name"] for each in shown["causes"]] == ["timeout"]


def test_diagnose_counts_the_errors_of_the_log_in_json(on, ended, graded, root_session):
    logs, grader = root_session.client("logs"), find("good", graded.stage, graded.session)
    group = f"/aws/lambda/{grader.function_arn.rpartition(':')[2]}"
    version = grader.version_arn.rpartition(":")[2]
    name = ended(failure="the grader failed")
    job = json.loads(on("show", name, "--json").stdout)
    at = int(datetime.fromisoformat(job["created"]).timestamp() * 1000)
    stream = f"2026/11/22/[{version}]{next(NUMBERS)}"
    with suppress(logs.exceptions.ResourceAlreadyExistsException):
        logs.create_log_group(logGroupName=group)
    logs.create_log_stream(logGroupName=group, logStreamName=stream)
    events = [
        # The second after a time of creation in whole seconds: the one before holds preflight, too.
        {"timestamp": at + each, "message": "[ERROR] KeyError: 'x'"}
        for each in (1_001, 1_002)
    ]
    logs.put_log_events(logGroupName=group, logStreamName=stream, logEvents=events)
    shown = json.loads(on("diagnose", name, "--json").stdout)
    assert shown["log"]["errors"] == {"[ERROR] KeyError: 'x'": 2}


def test_diagnose_says_where_nothing_fits(on, ended):
    assert "no known cause fits" in on("diagnose", ended(failure="it did not end well")).stdout


def test_diagnose_of_a_job_that_somebody_stopped_says_so(on, ended, service, graded):
    name = ended()
    next(
        each for each in service.jobs.values() if each.request.name == name
    ).stopped = service.clock()
    ran = on("diagnose", name)
    assert "the job was stopped" in ran.stdout
    assert "no known cause" not in ran.stdout


@pytest.mark.parametrize(
    ("used", "shown"), [("0 MB", "took 0.2 s\n"), ("84 MB", "took 0.2 s; memory 84 of 1,769 MB")]
)
def test_memory_that_nobody_measured_is_not_shown(on, ended, root_session, service, used, shown):
    name = ended("succeeded")
    grader = next(e for e in service.jobs.values() if e.request.name == name)
    _, _, function, version = grader.request.grader.rsplit(":", 3)
    logs, stream = root_session.client("logs"), f"2026/11/22/[{version}]{next(NUMBERS):032}"
    where = {"logGroupName": f"/aws/lambda/{function}", "logStreamName": stream}
    logs.create_log_stream(**where)
    report = f"REPORT Duration: 201.67 ms\tMemory Size: 1769 MB\tMax Memory Used: {used}"
    at = int(grader.created.timestamp() * 1000) + 60_000
    logs.put_log_events(**where, logEvents=[{"timestamp": at, "message": report}])
    err = on("diagnose", name).stderr
    assert shown in err
    assert "who else asked that version then cannot be told apart" in err


def test_diagnose_of_nobody_is_one_sentence(on):
    ran = on("diagnose", "nobody")
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert "there is no job 'nobody'" in ran.stderr


def test_a_tuned_model_is_hosted_once(on, ended, control_plane):
    name = ended("succeeded")
    hosted(control_plane)
    first = on("deploy-model", name, "--no-wait")
    assert first.exit_code == 0, first.output
    assert "it is Creating: the same command waits for it" in first.stderr
    (deployment,) = control_plane.deployments.values()
    deployment["status"] = "Active"
    again = on("deploy-model", name)
    assert again.stdout == f"{deployment['customModelDeploymentArn']}\n" == first.stdout
    assert len(control_plane.deployments) == 1
    shown = json.loads(on("deploy-model", name, "--json").stdout)
    assert (shown["status"], shown["simulation"]) == ("Active", True)


def hosted(control_plane):
    """The model that the jobs in memory make."""
    control_plane.models["tuned"] = {
        "modelArn": TUNED, "modelName": "tuned", "modelStatus": "Active",
        "baseModelArn": "arn:aws:bedrock:us-east-1::foundation-model/m", "creationTime": MOMENT,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("outcome", "sentence"),
    [("failed", "has made no model: `reward job diagnose` says why"), ("running", "no model yet")],
)
def test_without_a_model_nothing_is_hosted(on, ended, service, outcome, sentence):
    name = ended("failed")
    if outcome == "running":
        service.clock.at = next(iter(service.jobs.values())).created
    ran = on("deploy-model", name)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert sentence in ran.stderr


def test_cleanup_lists_first_and_removes_what_was_asked_for(on, ended, control_plane, root_session):
    s3 = root_session.client("s3")
    s3.create_bucket(Bucket="bucket")
    name = ended("succeeded")
    s3.put_object(Bucket="bucket", Key=f"rft-output/{name}/metrics.csv", Body=b"x")
    hosted(control_plane)
    on("deploy-model", name, "--no-wait")
    ran = on("cleanup", name, "--dry-run")
    assert ran.exit_code == 0, ran.output
    assert [line.split()[0] for line in ran.stdout.splitlines()[-3:]] == [
        "deployment",
        "model",
        "output",
    ]
    refused = on("cleanup", name)
    assert (refused.exit_code, refused.stdout) == (2, ran.stdout)
    assert "error: nothing was removed: cleanup asks first" in refused.stderr
    assert "add --yes" in refused.stderr
    assert len(control_plane.deployments) == 1
    ran = on("cleanup", name, "--yes", "--output")
    assert "2 things removed" in ran.stderr
    assert (control_plane.deployments, [*control_plane.models]) == ({}, ["tuned"])
    shown = json.loads(on("cleanup", name, "--dry-run", "--json").stdout)
    assert [(each["kind"], each["stays"]) for each in shown] == [("model", "goes with --model")]


def test_whoever_removes_the_file_of_an_openai_job_is_warned_of_its_name(on, service):
    """The OpenAI-compatible API keeps a job's name in the file alone."""
    asked = {"name": "open-0a1b2c3d-1", "token": "o", "model": "m", "grader": ""}
    made = Driver(service, "openai").start(
        JobRequest(**asked, hyperparameters={}, training="file-1")
    )
    service.clock.sleep(3_600)
    ran = on("cleanup", made.name, "--data", "--dry-run")
    assert "the name open-0a1b2c3d-1 goes with it" in " ".join(ran.stdout.split())
    ran = on("cleanup", made.name, "--data", "--yes")
    assert ran.stderr.startswith("the name open-0a1b2c3d-1 is forgotten with its file: the same s")


def test_a_job_that_left_nothing(on, ended):
    assert on("cleanup", ended("failed"), "--yes").stdout == "the job left nothing\n"
