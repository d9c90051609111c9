"""Files of any size scored by the stage's state machine: on the emulator, with enforced rights.

Who starts a run has the stage's policy for that and nothing else, and the shard function its own
role; both are enforced. The emulator asks the function as itself, and follows no right of the
machine's role: what the machine may do is simulated.
"""

from __future__ import annotations

import gzip
import io
import json
import os
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pytest
from typer.testing import CliRunner

from reward_functions.cli import app
from reward_functions.core.errors import ConfigurationError
from reward_functions.scoring import Plan, Run, cancel, place_of, score_file
from reward_functions.scoring.engines.aws import Aws
from reward_functions.scoring.folder import RunNotUsable
from tests.deploy.what import STAGE

POLICY = "shards"
"""Of the function's role, beside its log's."""

ROWS = [
    {
        "prompt": f"What is 6 × {n}?",
        "response": f"6 × {n} = {6 * n}\n#### {6 * n + n % 3}",
        "answer": f"{6 * n}",
    }
    for n in range(600)
] + [{"prompt": "?", "response": "#### 1", "answer": "no number at all, and none"}]
"""A row in three is right; the last has no usable reference, and stays unscored."""


@dataclass
class Scored:
    """The deployed stage, and who scores there."""

    stage: Any
    session: Any

    @cached_property
    def bucket(self):
        return self.stage.shared.bucket

    @cached_property
    def engine(self):
        return Aws.of(STAGE, session=self.session)

    def put(self, name, content):
        """An object of rows, and where it is."""
        key = f"rft-data/{name}"
        self.stage.session.client("s3").put_object(Bucket=self.bucket, Key=key, Body=content)
        return f"s3://{self.bucket}/{key}"

    def plan(self, source, folder, **given):
        """A run of it in a folder of its own."""
        given = {"stage": STAGE, "session": self.session, "shard_mb": 0.02} | given
        return Plan.of(source, f"s3://{self.bucket}/scored/{folder}", "gsm8k", **given)

    def joined(self, run):
        """All its results."""
        out = io.BytesIO()
        run.join(out)
        return out.getvalue()

    @cached_property
    def role(self):
        """The name of the role that the function runs as."""
        name = self.stage.shared.scale_machine_arn.rpartition(":")[2]
        found = self.stage.session.client("lambda").get_function_configuration(FunctionName=name)
        return found["Role"].rpartition("/")[2]

    def without(self, sid):
        """The function's role without one of its statements."""
        return self.stage.without(self.role, POLICY, sid)


@pytest.fixture(scope="module")
def scored(stage):
    """The stage, and a user who has its policy for scoring and no other right."""
    iam = stage.session.client("iam")
    iam.create_user(UserName="scorer")
    iam.attach_user_policy(UserName="scorer", PolicyArn=stage.shared.score_policy_arn)
    made = iam.create_access_key(UserName="scorer")["AccessKey"]
    session = stage.aws.session(
        aws_access_key_id=made["AccessKeyId"], aws_secret_access_key=made["SecretAccessKey"]
    )
    return Scored(stage, session)


@pytest.fixture(scope="module")
def lines():
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in ROWS).encode()


@pytest.fixture(scope="module")
def expected(lines, tmp_path_factory):
    """What `reward score` writes."""
    folder = tmp_path_factory.mktemp("scored")
    (folder / "rows.jsonl").write_bytes(lines)
    score_file("gsm8k", folder / "rows.jsonl", folder / "out.jsonl")
    return (folder / "out.jsonl").read_bytes()


def test_the_joined_parts_are_what_reward_score_writes(scored, lines, expected):
    plan = scored.plan(scored.put("rows.jsonl", lines), "rows")
    assert len(plan.shards) > 2
    run = plan.start(scored.engine)
    assert scored.joined(run) == expected
    assert run.state().finished


def test_a_compressed_object_is_one_shard_with_the_same_results(scored, lines, expected):
    plan = scored.plan(scored.put("rows.jsonl.gz", gzip.compress(lines)), "compressed")
    assert len(plan.shards) == 1
    assert scored.joined(plan.start(scored.engine)) == expected


def ended(scored, execution):
    """What an execution is once it has ended."""
    client = scored.session.client("stepfunctions")
    while (told := client.describe_execution(executionArn=execution))["status"] == "RUNNING":
        scored.engine._wait(0.2)
    return told


def test_a_line_that_is_no_row_makes_the_run_unusable(scored, lines):
    bad = lines + b"[1]\n" + lines
    plan = scored.plan(scored.put("bad.jsonl", bad), "bad")
    with pytest.raises(RunNotUsable, match=r"bad.jsonl.*602"):
        plan.start(scored.engine)
    assert not place_of(f"s3://{scored.bucket}/scored/bad", scored.session).found("summary.json")


def test_a_part_that_is_gone_alone_is_done_again(scored, lines, expected):
    plan = scored.plan(f"s3://{scored.bucket}/rft-data/rows.jsonl", "rows")
    gone = plan.shards[1]
    before = {each.name: each.etag for each in plan.place.objects()}
    plan.place.delete(gone.facts)
    run = plan.start(scored.engine, resume=True)
    assert scored.joined(run) == expected
    assert (
        before[gone.results]
        == {each.name: each.etag for each in plan.place.objects()}[gone.results]
    )


def test_a_cancelled_run_has_no_summary_and_is_gone_on_with(scored, lines, expected):
    plan = scored.plan(scored.put("cancelled.jsonl", lines), "cancelled")
    run = Run.begun(plan.place, plan.asked, plan.shards, session=scored.session)
    run.stop()
    assert ended(scored, scored.engine.detach(run))["status"] == "SUCCEEDED"
    assert not run.state().finished
    assert scored.joined(plan.start(scored.engine, resume=True)) == expected


def test_cancelling_stops_the_execution_with_the_rights_of_who_scores(scored, lines, expected):
    plan = scored.plan(scored.put("stopped.jsonl", lines), "stopped", shard_mb=0.001)
    run = Run.begun(plan.place, plan.asked, plan.shards, session=scored.session)
    execution = scored.engine.detach(run)
    cancel(run)
    assert ended(scored, execution)["status"] == "ABORTED"
    assert run.state().word == "cancelled"
    assert scored.joined(plan.start(scored.engine, resume=True)) == expected


REFUSED = [
    # where a run is to stand, of what, and the sentence that it gets
    ("s3://{bucket}/rft-data/out", {}, "writes below s3://.*/scored/ alone"),
    ("s3://{bucket}/scored/local", {"stage": None}, "--on aws calls a deployed version"),
]


@pytest.mark.parametrize(("folder", "given", "sentence"), REFUSED)
def test_what_the_machine_cannot_do_is_a_sentence_before_it_starts(
    scored, lines, tmp_path, folder, given, sentence
):
    source = scored.put("refused.jsonl", lines)
    options = {"stage": STAGE, "session": scored.stage.session} | given
    plan = Plan.of(source, folder.format(bucket=scored.bucket), "gsm8k", **options)
    with pytest.raises(ConfigurationError, match=sentence):
        plan.start(scored.engine)
    assert not list(plan.place.objects())


MISSED = [
    # a right of the function's, and what the machine says without it
    ("AskVersions", "not allowed"),
    ("ReadRows", "not allowed"),
    ("WriteParts", "not allowed"),
    ("SeeWhatIsThere", "not allowed"),
]
TRIED = MISSED if os.environ.get("REWARD_TESTS_NIGHTLY") else MISSED[:1]
"""Every night all of them; each takes seconds."""


@pytest.mark.parametrize(("sid", "said"), TRIED)
def test_without_one_right_no_part_counts_as_done_and_resuming_ends_it(
    scored, lines, expected, sid, said
):
    plan = scored.plan(scored.put(f"{sid}.jsonl", lines), f"without-{sid}")
    with scored.without(sid):
        run = Run.begun(plan.place, plan.asked, plan.shards, session=scored.session)
        told = ended(scored, scored.engine.detach(run))
        assert (told["status"], said in told["cause"]) == ("FAILED", True), told["cause"]
    assert run.state().done == 0
    assert scored.joined(plan.start(scored.engine, resume=True)) == expected


def test_the_commands_plan_detach_watch_and_fetch(scored, lines, expected, monkeypatch):
    frozen = scored.session.get_credentials().get_frozen_credentials()
    for name, value in scored.stage.aws.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", frozen.access_key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", frozen.secret_key)
    monkeypatch.setenv("COLUMNS", "300")

    def types(*words, status=0):
        ran = CliRunner().invoke(app, [str(each) for each in words])
        assert ran.exit_code == status, ran.output
        return ran

    source = scored.put("typed.jsonl", lines)
    folder = f"s3://{scored.bucket}/scored/typed"
    asked = ("score", "gsm8k", source, "--on", "aws", "--stage", STAGE, "--shard-mb", "0.02")
    asked += ("--concurrency", 4, "-o", folder)
    planned = types(*asked, "--plan").stdout
    for said in ("shards", "by list prices", "8 at once", "4 on aws"):
        assert said in planned, planned
    assert "reward runs watch" in types(*asked, "--detach").stderr
    assert "unscored 1" in types("runs", "watch", folder, "--interval", 0.2, status=1).stderr
    machine = scored.stage.shared.scale_machine_arn
    begun = scored.stage.session.client("stepfunctions").list_executions(stateMachineArn=machine)
    latest = max(begun["executions"], key=lambda each: each["startDate"])
    told = ended(scored, latest["executionArn"])
    assert (told["status"], len(told["output"]) < 4096) == ("SUCCEEDED", True), told.get("cause")
    assert types("runs", "fetch", folder).stdout_bytes == expected
    assert "finished" in types("runs", "list", f"s3://{scored.bucket}/scored").stdout
    more = types(*asked, "--concurrency", 5000, "-o", f"{folder}-more", status=2)
    assert "lower --concurrency" in more.stderr


FUNCTION, MACHINE, PEOPLE = "function", "machine", "score"

TABLE = [
    # who, what, on what, whether
    (FUNCTION, "s3:GetObject", "{bucket}/rft-data/x", True),
    (FUNCTION, "s3:GetObject", "{bucket}/rft-output/x", False),
    (FUNCTION, "s3:PutObject", "{bucket}/scored/a/part-000001.jsonl", True),
    (FUNCTION, "s3:PutObject", "{bucket}/rft-data/x", False),
    (FUNCTION, "s3:DeleteObject", "{bucket}/scored/a/part-000001.begun.jsonl", True),
    (FUNCTION, "s3:DeleteObject", "{bucket}/scored/a/part-000001.jsonl", False),
    (FUNCTION, "lambda:InvokeFunction", "{gsm8k}:1", True),
    (FUNCTION, "lambda:InvokeFunction", "{gsm8k}-nova--01234567", True),
    (FUNCTION, "lambda:InvokeFunction", "{gsm8k}", False),
    (FUNCTION, "lambda:InvokeFunction", "{gsm8k}:live", False),
    (FUNCTION, "lambda:InvokeFunction", "{gsm8k}:$LATEST", False),
    (FUNCTION, "states:StartExecution", "{machine}", False),
    (MACHINE, "lambda:InvokeFunction", "{shards}:1", True),
    (MACHINE, "lambda:InvokeFunction", "{shards}", False),
    (MACHINE, "lambda:InvokeFunction", "{gsm8k}:1", False),
    (MACHINE, "s3:GetObject", "{bucket}/scored/a/todo.jsonl", True),
    (MACHINE, "s3:GetObject", "{bucket}/rft-data/x", False),
    (MACHINE, "s3:PutObject", "{bucket}/scored/a/x", False),
    (MACHINE, "states:StartExecution", "{machine}", True),
    (MACHINE, "states:StartExecution", "{machine}-of-another", False),
    (MACHINE, "states:StopExecution", "{executions}/shards:x", True),
    (PEOPLE, "states:StartExecution", "{machine}", True),
    (PEOPLE, "states:StopExecution", "{executions}:x", True),
    (PEOPLE, "states:DeleteStateMachine", "{machine}", False),
    (PEOPLE, "lambda:InvokeFunction", "{shards}:1", False),
    (PEOPLE, "s3:PutObject", "{bucket}/scored/a/run.json", True),
    (PEOPLE, "s3:PutObject", "{bucket}/rft-data/x", False),
]


def test_everybody_may_do_exactly_this(scored):
    stage, iam = scored.stage, scored.stage.session.client("iam")
    shared = stage.shared
    machine = stage.session.client("stepfunctions").describe_state_machine(
        stateMachineArn=shared.scale_machine_arn
    )
    acting = machine["roleArn"].rpartition("/")[2]
    arns = {
        "bucket": f"arn:aws:s3:::{shared.bucket}",
        "gsm8k": stage.catalogue["gsm8k"].function_arn,
        "machine": shared.scale_machine_arn,
        "executions": shared.scale_machine_arn.replace(":stateMachine:", ":execution:"),
        "shards": f"arn:aws:lambda:us-east-1:000000000000:function:{machine['name']}",
    }
    named = {"PolicyArn": shared.score_policy_arn}
    version = iam.get_policy(**named)["Policy"]["DefaultVersionId"]
    documents = {
        FUNCTION: iam.get_role_policy(RoleName=scored.role, PolicyName=POLICY)["PolicyDocument"],
        MACHINE: iam.get_role_policy(RoleName=acting, PolicyName="machine")["PolicyDocument"],
        PEOPLE: iam.get_policy_version(**named, VersionId=version)["PolicyVersion"]["Document"],
    }
    for who, action, resource, allowed in TABLE:
        answer = iam.simulate_custom_policy(
            PolicyInputList=[json.dumps(documents[who])],
            ActionNames=[action],
            ResourceArns=[resource.format_map(arns)],
        )
        (result,) = answer["EvaluationResults"]
        assert (result["EvalDecision"] == "allowed") == allowed, (who, action, resource)
