"""A stage's feedback path: S3 and SQS of the emulator, rewards on a loopback Lambda."""

from __future__ import annotations

import json
from collections import Counter
from itertools import count

import boto3
import pytest
from botocore.config import Config

from reward_functions.core.types import Message as Turn
from reward_functions.core.types import Sample
from reward_functions.feedback.path import Message, Path
from reward_functions.feedback.reports import Reports
from reward_functions.feedback.scoring import PinnedRewards
from reward_functions.feedback.settings import FeedbackSettings
from reward_functions.rollouts.report.deferred import DeferredRecord, PinnedReward
from reward_functions.rollouts.report.outbox.sqlite import MemoryOutbox
from reward_functions.rollouts.request.contract import RolloutMetadata
from tests.lambda_api import Function, lambda_api
from tests.rollouts.report.outbox.reports import JOB, NOW, WINDOW
from tests.rollouts.reporters import Clock, Scripted

MATH = "arn:aws:lambda:us-east-1:000000000000:function:SageMaker-reward-dev-math"
FLAGS = ("bad_reference", "unscored", "imputed")
NUMBERS = count()


def graded(rows, score=1.0, **flags):
    """What a deployed reward answers."""
    return [
        {
            "id": row["id"],
            "aggregate_reward_score": score,
            "metrics_list": [
                {"name": name, "value": float(flags.get(name, 0)), "type": "Metric"}
                for name in FLAGS
            ],
        }
        for row in rows
    ]


class Way:
    """One stage's path, and all that a test looks at.

    Args:
        aws: the emulator.
        api: address of the loopback Lambda.
        functions: of that Lambda, by ARN.
    """

    def __init__(self, aws, api, functions):
        self.clock = Clock()
        self.functions = functions
        self.s3, self.sqs = aws.client("s3"), aws.client("sqs")
        name = f"feedback-{next(NUMBERS)}"
        self.bucket = name
        self.s3.create_bucket(Bucket=name)
        self.queue = self.sqs.create_queue(
            QueueName=f"{name}-results", Attributes={"VisibilityTimeout": "720"}
        )["QueueUrl"]
        self.dead = self.sqs.create_queue(QueueName=f"{name}-dead")["QueueUrl"]
        self.outbox = MemoryOutbox()
        self.transport = Scripted()
        self.lambda_ = boto3.client(
            "lambda",
            endpoint_url=api,
            region_name="us-east-1",
            aws_access_key_id="nobody",
            aws_secret_access_key="nothing",
            config=Config(retries={"total_max_attempts": 1}),
        )
        self.settings = FeedbackSettings(
            stage="dev",
            functions=(MATH, f"{MATH}x--*"),
            buckets=(name,),
            queue=self.queue,
            dead_letters=self.dead,
            outbox="memory:",
        )
        self.numbers = count()
        self.again()

    def again(self):
        """The same path in a function that has just started."""
        self.path = Path(
            self.settings,
            s3=self.s3,
            sqs=self.sqs,
            rewards=PinnedRewards(self.lambda_, self.settings.functions),
            reports=Reports(
                self.outbox,
                self.transport,
                environ={"AWS_REGION": "us-west-2"},
                clock=self.clock,
                sleep=lambda _: None,
                random=lambda: 0.0,
            ),
            clock=self.clock,
            random=lambda: 0.5,
        )

    def record(self, rollout=None, arn=f"{MATH}:7", text="41 + 1 = 42", **more):
        given = {
            "scorer": PinnedReward(arn=arn, **more.pop("serves", {})),
            "metadata": RolloutMetadata(
                job_arn=JOB,
                trajectory_id=rollout or f"r{next(self.numbers)}",
                **more.pop("metadata", {}),
            ),
            "sample": Sample(id="row", messages=(Turn("user", "?"),), reference="42").answered(
                text
            ),
            "created": NOW,
            "expires": NOW + WINDOW,
        }
        return DeferredRecord(**given | more)

    def put(self, record, *, key=None, body=None, bucket=None):
        """A record in S3, and the body of the message that says so."""
        key = key or f"rollouts/{record.key}"
        where = bucket or self.bucket
        if body is None or body:
            self.s3.put_object(Bucket=where, Key=key, Body=body or record.body())
        return announced(where, key)

    def settle(self, *bodies, receives=1, remaining=120.0):
        """Settle messages; their kinds by number where they are to come again, and the counts."""
        messages = [
            Message(id=str(at), body=body, receives=receives, receipt=f"r{at}")
            for at, body in enumerate(bodies)
        ]
        failed, counts = self.path.settle(messages, remaining=lambda: remaining)
        return {int(at): each.kind for at, each in failed.items()}, +counts

    def letters(self):
        """Kinds of dead letters, each with its reason; they are taken out of the queue."""
        found = []
        while True:
            reply = self.sqs.receive_message(
                QueueUrl=self.dead, MaxNumberOfMessages=10, MessageAttributeNames=["All"]
            )
            if not reply.get("Messages"):
                return sorted(found)
            for each in reply["Messages"]:
                named = {
                    name: value["StringValue"] for name, value in each["MessageAttributes"].items()
                }
                found.append((named["kind"], named["reason"]))
                self.sqs.delete_message(QueueUrl=self.dead, ReceiptHandle=each["ReceiptHandle"])

    def rewards(self):
        """Rewards that are delivered, by rollout."""
        return {
            each.intent.target.trajectory_id: each.intent.payload["Rewards"]
            for each in self.outbox.list(["delivered"])
            if each.intent.operation == "reward"
        }

    @property
    def sent(self):
        return Counter(rollout for rollout, _ in self.transport.sent)


def announced(bucket, key):
    """A message's body, as S3 writes it."""
    record = {
        "eventSource": "aws:s3",
        "eventName": "ObjectCreated:Put",
        "s3": {"bucket": {"name": bucket}, "object": {"key": key, "size": 1}},
    }
    return json.dumps({"Records": [record]})


@pytest.fixture(scope="module")
def functions():
    return {}


@pytest.fixture(scope="module")
def api(functions):
    with lambda_api(functions) as address:
        yield address


@pytest.fixture
def way(local_aws, api, functions):
    functions.clear()
    functions[f"{MATH}:7"] = Function([graded])
    return Way(local_aws, api, functions)
