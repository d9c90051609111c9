"""Deferred rewards of rollouts: what the path's parts are called, and who may do what with them.

    announce        S3 puts a message into the queue for every result
    report          the function reads results, asks versions, and reports to the job runtime
    put_results     an agent, beside `cdk.policies.sagemaker.run_agent`
    redrive         who operates the stage takes dead letters, and sends them back

Sources: "Granting permissions to publish event notification messages to a destination" of S3.
    "Using Lambda with Amazon SQS" for the role of a function that a queue invokes. The Service
    Authorization Reference for the resources an action knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reward_functions.cdk.policies.grants import ask_numbered, pinnable
from reward_functions.cdk.policies.iam import USE_DATA, allow, document, through
from reward_functions.rollouts.report.outbox.dynamodb import ACTIONS, INDEX

if TYPE_CHECKING:
    from reward_functions.aws.names import Names
    from reward_functions.cdk.model.stages import Stage
    from reward_functions.cdk.policies.iam import Document, Place

RESULTS_PREFIX: Final = "rollouts/"
"""Where agents put results in the results bucket; nothing else there is announced."""

WORK_ON_QUEUE: Final = (
    "sqs:ReceiveMessage",
    "sqs:DeleteMessage",
    "sqs:GetQueueAttributes",
    "sqs:ChangeMessageVisibility",
)
"""What Lambda does with a queue in the role of the function behind it, and the function itself: it
says when a message that it fails comes again."""

FEEDBACK: Final = "feedback"
"""What `Names.rollouts` calls the function and the queue that announces results."""

DEAD_LETTERS: Final = "feedback-dead-letters"
"""The queue of what could not be scored or reported."""

OUTBOX: Final = "feedback-outbox"
"""The table where reports are durable before they go."""


def results_arn(place: Place, names: Names) -> str:
    """The ARN of the bucket of results."""
    name = names.results(place.account, place.region)
    return f"arn:{place.partition}:s3:::{name}"


def announce(place: Place, names: Names) -> Document:
    """A statement of the queue's own policy: S3 announces what lies in this one bucket.

    Args:
        place: where the stage is.
        names: of the stage.
    """
    return {
        "Sid": "AnnounceResults",
        "Effect": "Allow",
        "Principal": {"Service": "s3.amazonaws.com"},
        "Action": "sqs:SendMessage",
        "Resource": place.arn("sqs", names.rollouts(FEEDBACK)),
        "Condition": {
            "ArnEquals": {"aws:SourceArn": results_arn(place, names)},
            "StringEquals": {"aws:SourceAccount": place.account},
        },
    }


def report(place: Place, stage: Stage, key_arn: str = "") -> Document:
    """The rights to read results, ask published versions, report, and keep what was reported.

    Args:
        place: where the stage is.
        stage: whose rewards a record may pin.
        key_arn: of the key that encrypts the results; "" where S3's own does.
    """
    names = stage.names
    bucket = results_arn(place, names)
    table = place.arn("dynamodb", f"table/{names.rollouts(OUTBOX)}")
    objects = f"{bucket}/{RESULTS_PREFIX}*"
    return document(
        allow("ReceiveResults", WORK_ON_QUEUE, [place.arn("sqs", names.rollouts(FEEDBACK))]),
        allow(
            "SendDeadLetters", ["sqs:SendMessage"], [place.arn("sqs", names.rollouts(DEAD_LETTERS))]
        ),
        allow("ReadResults", ["s3:GetObject", "s3:GetObjectVersion"], [objects]),
        # Who may not list a bucket is told of an object that is gone that it is forbidden.
        allow("SeeWhatIsGone", ["s3:ListBucket"], [bucket]),
        *ask_numbered(place, names, pinnable(stage), ["lambda:GetFunctionConfiguration"]),
        allow(
            "ReportRewards",
            ["sagemaker:CompleteRollout", "sagemaker:UpdateReward"],
            [place.arn("sagemaker", "job/*")],
        ),
        allow("KeepReports", ACTIONS, [table, f"{table}/index/{INDEX}"]),
        through("s3", place, "ReadResultsKey", ["kms:Decrypt"], key_arn),
    )


def put_results(place: Place, names: Names, key_arn: str = "") -> list[Document]:
    """The rights of an agent that defers rewards: put a result, and never another over it.

    Args:
        place: where the stage is.
        names: of the stage.
        key_arn: of the key that encrypts it; "" where S3's own does.
    """
    objects = f"{results_arn(place, names)}/{RESULTS_PREFIX}*"
    return [
        allow("PutResults", ["s3:PutObject"], [objects]),
        through("s3", place, "UseResultsKey", USE_DATA, key_arn),
    ]


def redrive(place: Place, names: Names) -> list[Document]:
    """Take dead letters, put back those that stay, and send the others to where they came from."""
    taken = ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:ChangeMessageVisibility"]
    return [
        allow("TakeDeadLetters", taken, [place.arn("sqs", names.rollouts(DEAD_LETTERS))]),
        allow("SendBack", ["sqs:SendMessage"], [place.arn("sqs", names.rollouts(FEEDBACK))]),
    ]
