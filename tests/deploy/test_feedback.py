"""Deferred rewards, from an agent's result in S3 to the trainer: on the emulator, with a double.

The agent has the stage's policy for agents and nothing else, and the function its own role; both
are enforced. Of the job runtime the double takes every well-formed signature: what the function may
do there is simulated. The emulator reads the queue as itself, so that a role without the right to
receive is no failure there.
"""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Any

import pytest
from botocore.exceptions import ClientError
from typer.testing import CliRunner

from reward_functions import sample
from reward_functions.cli import app
from reward_functions.rollouts.report.deferred import Deferred, DeferredRecord
from reward_functions.rollouts.request.contract import RolloutMetadata
from reward_functions.rollouts.request.errors import ConflictingReport, ResultNotKept
from tests.deploy.what import STAGE
from tests.waiting import until

JOB = "arn:aws:sagemaker:us-east-1:000000000000:job/AgentRFT/feedback"

NUMBERS = count()

WITHIN = 30.0
"""Seconds for what happens in one; a busy machine takes longer, and no test asks how long."""

POLICY = "report"
"""Of the function's role, beside its log's."""


@dataclass
class Path:
    """The path of the deployed stage, and both its ends."""

    stage: Any
    trainer: Any
    agent: Any
    operator: dict

    @cached_property
    def parts(self):
        return self.stage.shared.feedback

    @cached_property
    def sqs(self):
        return self.stage.session.client("sqs")

    @cached_property
    def role(self):
        """The name of the role that the function runs as."""
        client = self.stage.session.client("lambda")
        found = client.get_function_configuration(FunctionName=self.parts.function_arn)
        return found["Role"].rpartition("/")[2]

    def record(self, response="The answer is 42\n#### 42", *, scorer="", lasts=600.0, **pinned):
        """What an agent defers; its rollout is known to the trainer."""
        rollout = f"rollout-{next(NUMBERS)}"
        self.trainer.register(JOB, rollout)
        now = time.time()
        deferred = Deferred(
            f"s3://{self.parts.results_bucket}/rollouts",
            scorer or self.stage.catalogue["gsm8k"].version_arn,
            client=self.agent.client("s3"),
            **pinned,
        )
        return deferred, DeferredRecord(
            scorer=deferred.scorer,
            metadata=RolloutMetadata(job_arn=JOB, trajectory_id=rollout),
            sample=sample(response, "42", id="row"),
            created=now - 1000,
            expires=now + lasts,
        )

    def put(self, *given, **about):
        """Defer a rollout as an agent does; its record."""
        deferred, record = self.record(*given, **about)
        deferred.write(record)
        return record

    def rewarded(self, record):
        """The rewards that the trainer has of a rollout, once it has them."""
        return self.trainer.wait(JOB, record.metadata.trajectory_id, WITHIN).rewards

    def reports(self, record):
        """What the trainer was sent of a rollout, in order."""
        found = self.trainer.trajectory(JOB, record.metadata.trajectory_id)
        return [each.operation for each in found.deliveries]

    def letter(self):
        """The next dead letter, which is taken out: its kind, its reason, its body."""
        url = self.parts.dead_letters_url
        asked = {"QueueUrl": url, "MessageAttributeNames": ["All"], "WaitTimeSeconds": 1}
        found = until(
            lambda: self.sqs.receive_message(**asked).get("Messages"), "there is no dead letter"
        )[0]
        self.sqs.delete_message(QueueUrl=url, ReceiptHandle=found["ReceiptHandle"])
        attributes = found["MessageAttributes"]
        return *(attributes[name]["StringValue"] for name in ("kind", "reason")), found["Body"]

    def _waiting(self, queue):
        """How many messages of a queue are there, and how many are hidden."""
        names = [name := "ApproximateNumberOfMessages", f"{name}NotVisible"]
        found = self.sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=names)
        return [int(found["Attributes"][each]) for each in names]

    def buried(self):
        """Nothing, once there is a dead letter."""
        until(lambda: any(self._waiting(self.parts.dead_letters_url)), "there is no dead letter")

    def redriven(self, option):
        """What who operates the stage is told by `reward rollouts redrive`."""
        words = ["rollouts", "redrive", "--stage", STAGE, "--json", option]
        ran = CliRunner().invoke(app, words, env=self.operator)
        assert ran.exit_code == 0, ran.output
        return json.loads(ran.stdout)

    def idle(self):
        """Nothing, once the queue is empty."""
        until(lambda: not any(self._waiting(self.parts.queue_url)), "the queue is not empty")

    def announced(self, record):
        """The body of a message that announces a record."""
        key = f"rollouts/{record.key}"
        found = {"bucket": {"name": self.parts.results_bucket}, "object": {"key": key}}
        return json.dumps(
            {
                "Records": [
                    {"eventSource": "aws:s3", "eventName": "ObjectCreated:Put", "s3": found},
                ]
            }
        )

    def received(self, body, times):
        """What the function answers to a message that was received so many times."""
        message = {
            "messageId": "a",
            "receiptHandle": "a",
            "body": body,
            "attributes": {"ApproximateReceiveCount": str(times)},
            "messageAttributes": {},
            "md5OfBody": "",
            "eventSource": "aws:sqs",
            "eventSourceARN": "arn:aws:sqs:us-east-1:000000000000:any",
            "awsRegion": "us-east-1",
        }
        answer = self.stage.session.client("lambda").invoke(
            FunctionName=self.parts.function_arn,
            Payload=json.dumps({"Records": [message]}).encode(),
        )
        told = json.loads(answer["Payload"].read())
        assert "FunctionError" not in answer, told
        return [each["itemIdentifier"] for each in told["batchItemFailures"]]

    def without(self, sid):
        """The function's role without one of its statements."""
        return self.stage.without(self.role, POLICY, sid)


@pytest.fixture(scope="module")
def path(stage, trainer):
    """The path, and two who have one of the stage's policies each and no other right."""

    def keys(name, policy):
        iam = stage.session.client("iam")
        iam.create_user(UserName=name)
        iam.attach_user_policy(UserName=name, PolicyArn=policy)
        made = iam.create_access_key(UserName=name)["AccessKey"]
        return made["AccessKeyId"], made["SecretAccessKey"]

    ours = dict(
        zip(
            ("aws_access_key_id", "aws_secret_access_key"),
            keys("agent", stage.shared.agent_runtime_policy_arn),
            strict=True,
        )
    )
    theirs = zip(
        ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),
        keys("operator", stage.shared.operate_policy_arn),
        strict=True,
    )
    operator = {**stage.aws.environment, **dict(theirs)}
    return Path(stage, trainer, stage.aws.session(**ours), operator)


def test_a_result_is_scored_by_the_version_it_names_and_rewarded(path):
    gsm8k = path.stage.catalogue["gsm8k"]
    right = path.put(reward="gsm8k", reward_version=gsm8k.version)
    wrong = path.put("#### 41")
    assert (path.rewarded(right), path.rewarded(wrong)) == ((1.0,), (0.0,))
    assert path.reports(right) == ["complete", "reward"]


def test_a_run_holds_its_reward_whatever_is_deployed_meanwhile(path):
    """What a deployment does to the function: other settings, and a version of them."""
    client, gsm8k = path.stage.session.client("lambda"), path.stage.catalogue["gsm8k"]
    name = gsm8k.function_arn
    before = client.get_function_configuration(FunctionName=name)["Environment"]
    flexible = before["Variables"] | {"REWARD_PARAMETERS": '{"flexible": true}'}
    later = ""
    try:
        client.update_function_configuration(FunctionName=name, Environment={"Variables": flexible})
        later = client.publish_version(FunctionName=name)["Version"]
        held, moved = (
            path.put("The answer is 42.", scorer=f"{name}:{each}") for each in (1, later)
        )
        assert gsm8k.version_arn == f"{name}:1"
        assert (path.rewarded(held), path.rewarded(moved)) == ((0.0,), (1.0,))
    finally:
        client.update_function_configuration(FunctionName=name, Environment=before)
        if later:
            client.delete_function(FunctionName=f"{name}:{later}")


def test_a_duplicate_delivery_is_counted_once(path):
    record = path.put()
    assert path.rewarded(record) == (1.0,)
    again = path.announced(record)
    for _ in range(2):
        path.sqs.send_message(QueueUrl=path.parts.queue_url, MessageBody=again)
    path.idle()
    assert path.reports(record) == ["complete", "reward"]


def test_an_expired_result_is_never_sent(path):
    record = path.put(lasts=-1.0)
    kind, reason, _ = path.letter()
    assert (kind, reason.partition(":")[0]) == ("expired", "expired")
    path.idle()
    assert path.reports(record) == []


def test_what_is_no_record_is_a_dead_letter_at_once(path):
    bucket = path.parts.results_bucket
    path.agent.client("s3").put_object(Bucket=bucket, Key="rollouts/notes.txt", Body=b"the prompt")
    kind, reason, body = path.letter()
    assert kind == "not_a_record"
    assert "the prompt" not in reason + body
    path.idle()


def test_a_poisoned_message_has_its_reason_and_is_rewarded_after_the_fix(path):
    """Received three times by the queue itself, which hides it for a second in place of minutes.

    The function has no right to say when it comes again.
    """
    usual = path.sqs.get_queue_attributes(
        QueueUrl=path.parts.queue_url, AttributeNames=["VisibilityTimeout"]
    )["Attributes"]
    try:
        path.sqs.set_queue_attributes(
            QueueUrl=path.parts.queue_url, Attributes={"VisibilityTimeout": "1"}
        )
        with path.without("AskVersions"), path.without("ReceiveResults"):
            record = path.put()
            path.buried()
    finally:
        path.sqs.set_queue_attributes(QueueUrl=path.parts.queue_url, Attributes=usual)
    assert usual["VisibilityTimeout"] == "360"
    assert path.reports(record) == []
    (letter,) = path.redriven("--dry-run")["letters"]
    assert (letter["kind"], "AccessDenied" in letter["reason"]) == ("unscored", True)
    assert letter["from"].endswith(record.key)
    path.redriven("--yes")
    assert path.rewarded(record) == (1.0,)
    path.idle()
    assert path.redriven("--dry-run")["letters"] == []


MISSED = [
    # a right of the function's, and what its result is without it
    ("ReadResults", "unread"),
    ("AskVersions", "unscored"),
    ("KeepReports", "unreported"),
]


@pytest.mark.parametrize(("sid", "kind"), MISSED)
def test_without_one_right_a_result_is_tried_again_and_then_a_dead_letter(path, sid, kind):
    deferred, record = path.record()
    # Not announced: the queue would deliver it as well.
    client, bucket = path.stage.session.client("s3"), path.parts.results_bucket
    with silent(client, bucket):
        deferred.write(record)
    with path.without(sid):
        assert path.received(path.announced(record), 1) == ["a"]
        assert path.received(path.announced(record), 3) == []
    found, reason, _ = path.letter()
    assert (found, bool(reason)) == (kind, True)
    assert path.reports(record) == []


def test_without_the_right_to_bury_a_message_it_stays_in_the_queue(path):
    with path.without("SendDeadLetters"):
        assert path.received("no notification", 3) == ["a"]


def test_a_result_that_is_gone_is_said_to_be(path):
    _, record = path.record()
    assert path.received(path.announced(record), 1) == []
    kind, _, _ = path.letter()
    assert kind == "missing"


@contextmanager
def silent(client, bucket):
    """A bucket that announces nothing."""
    told = client.get_bucket_notification_configuration(Bucket=bucket)
    told.pop("ResponseMetadata")
    try:
        client.put_bucket_notification_configuration(Bucket=bucket, NotificationConfiguration={})
        yield
    finally:
        client.put_bucket_notification_configuration(Bucket=bucket, NotificationConfiguration=told)


def test_an_agent_puts_a_result_once_and_does_nothing_else_there(path):
    deferred, record = path.record("#### 41")
    deferred.write(record)
    with pytest.raises(ConflictingReport):
        deferred.write(record)
    assert path.rewarded(record) == (0.0,)
    elsewhere = Deferred(
        f"s3://{path.parts.results_bucket}/elsewhere", deferred.version, client=deferred.client
    )
    with pytest.raises(ResultNotKept, match="AccessDenied"):
        elsewhere.write(record)
    there = {"Bucket": path.parts.results_bucket, "Key": f"rollouts/{record.key}"}
    for call in (deferred.client.get_object, deferred.client.delete_object):
        with pytest.raises(ClientError, match="AccessDenied"):
            call(**there)


FUNCTION, AGENT, OPERATE, DATA = "function", "agent", "operate", "data"

TABLE = [
    # who, what, on what, whether
    (FUNCTION, "sqs:ReceiveMessage", "{queue}", True),
    (FUNCTION, "sqs:DeleteMessage", "{queue}", True),
    (FUNCTION, "sqs:ChangeMessageVisibility", "{queue}", True),
    (FUNCTION, "sqs:ChangeMessageVisibility", "{letters}", False),
    (FUNCTION, "sqs:SendMessage", "{queue}", False),
    (FUNCTION, "sqs:SendMessage", "{letters}", True),
    (FUNCTION, "sqs:ReceiveMessage", "{letters}", False),
    (FUNCTION, "s3:GetObject", "{results}/rollouts/x", True),
    (FUNCTION, "s3:GetObject", "{results}/elsewhere", False),
    (FUNCTION, "s3:GetObject", "{bucket}/rft-data/train.jsonl", False),
    (FUNCTION, "s3:PutObject", "{results}/rollouts/x", False),
    (FUNCTION, "s3:ListBucket", "{results}", True),  # the emulator says what is gone without it
    (FUNCTION, "s3:ListBucket", "{bucket}", False),
    (FUNCTION, "lambda:InvokeFunction", "{gsm8k}:1", True),
    (FUNCTION, "lambda:InvokeFunction", "{gsm8k-nova}--01234567", True),
    (FUNCTION, "lambda:InvokeFunction", "{gsm8k}", False),
    (FUNCTION, "lambda:InvokeFunction", "{gsm8k}:live", False),
    (FUNCTION, "lambda:InvokeFunction", "{gsm8k}:$LATEST", False),
    (FUNCTION, "lambda:InvokeFunction", "{gsm8k}-of-another-team:1", False),
    (FUNCTION, "sagemaker:CompleteRollout", "{job}", True),
    (FUNCTION, "sagemaker:UpdateReward", "{job}", True),
    (FUNCTION, "sagemaker:Sample", "{job}", False),
    (FUNCTION, "sagemaker:StopJob", "{job}", False),
    (FUNCTION, "dynamodb:PutItem", "{outbox}", True),
    (FUNCTION, "dynamodb:Query", "{outbox}/index/queue", True),
    (FUNCTION, "dynamodb:Scan", "{outbox}", False),
    (FUNCTION, "dynamodb:DeleteTable", "{outbox}", False),
    (AGENT, "s3:PutObject", "{results}/rollouts/x", True),
    (AGENT, "s3:GetObject", "{results}/rollouts/x", False),
    (AGENT, "lambda:InvokeFunction", "{gsm8k}:1", False),
    (AGENT, "sqs:SendMessage", "{queue}", False),
    (OPERATE, "sqs:ReceiveMessage", "{letters}", True),
    (OPERATE, "sqs:DeleteMessage", "{letters}", True),
    (OPERATE, "sqs:ChangeMessageVisibility", "{letters}", True),
    (OPERATE, "sqs:SendMessage", "{queue}", True),
    (OPERATE, "sqs:ReceiveMessage", "{queue}", False),
    (OPERATE, "sqs:SendMessage", "{letters}", False),
    (OPERATE, "sqs:PurgeQueue", "{letters}", False),
    (OPERATE, "s3:GetObject", "{results}/rollouts/x", False),
    (DATA, "s3:GetObject", "{results}/rollouts/x", False),
    (DATA, "sqs:ReceiveMessage", "{letters}", False),
]


def test_everybody_may_do_exactly_this(path):
    iam, shared, place = (
        path.stage.session.client("iam"),
        path.stage.shared,
        "us-east-1:000000000000",
    )
    gsm8k = path.stage.catalogue["gsm8k"].function_arn
    arns = {
        "queue": f"arn:aws:sqs:{place}:{path.parts.queue_url.rpartition('/')[2]}",
        "letters": f"arn:aws:sqs:{place}:{path.parts.dead_letters_url.rpartition('/')[2]}",
        "results": f"arn:aws:s3:::{path.parts.results_bucket}",
        "bucket": f"arn:aws:s3:::{shared.bucket}",
        "outbox": f"arn:aws:dynamodb:{place}:table/{path.parts.outbox_table}",
        "job": JOB,
        "gsm8k": gsm8k,
        "gsm8k-nova": f"{gsm8k}-nova",
    }
    documents = {
        FUNCTION: [iam.get_role_policy(RoleName=path.role, PolicyName=POLICY)["PolicyDocument"]]
    }
    for who, arn in {
        AGENT: shared.agent_runtime_policy_arn,
        OPERATE: shared.operate_policy_arn,
        DATA: shared.data_policy_arn,
    }.items():
        version = iam.get_policy(PolicyArn=arn)["Policy"]["DefaultVersionId"]
        found = iam.get_policy_version(PolicyArn=arn, VersionId=version)["PolicyVersion"]
        documents[who] = [found["Document"]]
    for who, action, resource, allowed in TABLE:
        answer = iam.simulate_custom_policy(
            PolicyInputList=[json.dumps(each) for each in documents[who]],
            ActionNames=[action],
            ResourceArns=[resource.format_map(arns)],
        )
        (result,) = answer["EvaluationResults"]
        assert (result["EvalDecision"] == "allowed") == allowed, (who, action, resource)
