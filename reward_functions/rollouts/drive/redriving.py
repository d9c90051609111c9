"""Dead letters of a stage's feedback path: read with their reasons, sent back, or dropped.

    receive, held ──→ send to the path's queue, without attributes ──→ delete
                 └──→ what stays is released

A letter is sent before it is deleted: a command that dies between leaves two, and a result that is
delivered twice is counted once. A message that nobody chose is released at the end, and is there at
once.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.deployed.catalogue import stage_record
from reward_functions.aws.failures import in_words
from reward_functions.core.errors import ConfigurationError
from reward_functions.feedback.findings import EXPIRED, FROM, KIND, KINDS, REASON

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from boto3.session import Session

    from reward_functions.aws.catalogue import FeedbackPath

MOVED: Final = "moved"
"""The kind of a letter that SQS itself moved: the function ended before it could say why."""

MOVED_REASON: Final = "SQS moved it: the function ended, or was not run, as often as it may be"

HELD: Final = 300
"""Seconds that letters are held while somebody reads the table."""

WAIT: Final = 1
"""Seconds of a receive: any long poll asks all of SQS's servers, a short one only some of them."""

AT_ONCE: Final = 10
"""Messages of one receive, by SQS's own limit."""

MOST: Final = 10_000
"""Letters of one command; the next one takes the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """A dead letter.

    Args:
        kind: a row of `feedback.findings.KINDS`, or "moved".
        reason: one sentence.
        where: the object's address, or a message's id; "" where nobody wrote one.
        body: what S3 wrote.
        receipt: by which it is deleted.
    """

    kind: str
    reason: str
    where: str
    body: str = field(repr=False)
    receipt: str = field(repr=False)


class DeadLetters:
    """The dead letters of one stage.

    Args:
        path: of the stage.
        session: boto3's.
    """

    def __init__(self, path: FeedbackPath, session: Session) -> None:
        self._path = path
        with in_words("opening SQS"):
            self._client: Any = session.client("sqs")

    def held(self) -> list[Letter]:
        """All letters, held for this command.

        Raises:
            AwsFailed: the queue cannot be read.
        """
        letters: list[Letter] = []
        while len(letters) < MOST:
            with in_words("reading the dead letters"):
                reply = self._client.receive_message(
                    QueueUrl=self._path.dead_letters_url,
                    MaxNumberOfMessages=AT_ONCE,
                    MessageAttributeNames=["All"],
                    VisibilityTimeout=HELD,
                    WaitTimeSeconds=WAIT,
                )
            if not reply.get("Messages"):
                break
            letters += map(_letter, reply["Messages"])
        return letters

    def sent_back(self, letters: Iterable[Letter]) -> Iterator[Letter]:
        """Send letters back, one by one; each that is yielded is in the path's queue.

        Raises:
            AwsFailed: SQS did not take one; those before it are sent.
        """
        for letter in letters:
            with in_words("sending a letter back"):
                self._client.send_message(QueueUrl=self._path.queue_url, MessageBody=letter.body)
            self._delete(letter)
            yield letter

    def dropped(self, letters: Iterable[Letter]) -> Iterator[Letter]:
        """Delete letters, one by one.

        Raises:
            AwsFailed: SQS did not delete one.
        """
        for letter in letters:
            self._delete(letter)
            yield letter

    def release(self, letters: Iterable[Letter]) -> None:
        """Let others have letters at once.

        Raises:
            AwsFailed: SQS did not; they are there again after `HELD` seconds.
        """
        for letter in letters:
            with in_words("releasing a dead letter"):
                self._client.change_message_visibility(
                    QueueUrl=self._path.dead_letters_url,
                    ReceiptHandle=letter.receipt,
                    VisibilityTimeout=0,
                )

    def _delete(self, letter: Letter) -> None:
        with in_words("deleting a dead letter"):
            self._client.delete_message(
                QueueUrl=self._path.dead_letters_url, ReceiptHandle=letter.receipt
            )


def path_of(stage: str, session: Session) -> FeedbackPath:
    """The feedback path of a stage.

    Raises:
        NotDeployed: there is no such stage.
        AwsFailed: its record cannot be read.
        ConfigurationError: the stage has no such path.
    """
    found = stage_record(stage, session).feedback
    if found is None:
        raise ConfigurationError(
            f'stage {stage!r} has no feedback path: add "feedback": {{}} to it in cdk.json, and '
            "deploy"
        )
    return found


def redriven(letters: Sequence[Letter], kinds: Collection[str]) -> list[Letter]:
    """Those that are sent back: of some kinds, or all but expired ones, which no attempt mends.

    Raises:
        ConfigurationError: a kind does not exist.
    """
    require_kinds(kinds)
    if kinds:
        return [each for each in letters if each.kind in kinds]
    return [each for each in letters if each.kind != EXPIRED]


def require_kinds(kinds: Iterable[str]) -> None:
    """Refuse a kind that is no kind of dead letters.

    Raises:
        ConfigurationError: a kind does not exist. The message names those that are.
    """
    for kind in kinds:
        if kind not in KINDS and kind != MOVED:
            raise ConfigurationError(
                f"{kind!r} is no kind of dead letters: {', '.join((*KINDS, MOVED))}"
            )


def reasons(letters: Iterable[Letter]) -> list[tuple[str, str, int]]:
    """(kind, reason, how many), the most frequent first."""
    counts = Counter((each.kind, each.reason) for each in letters)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [(kind, reason, count) for (kind, reason), count in ordered]


def _letter(message: dict[str, Any]) -> Letter:
    """A letter, from whoever sent it: without our attributes SQS itself moved it."""
    named = {
        name: str(value.get("StringValue", ""))
        for name, value in message.get("MessageAttributes", {}).items()
    }
    return Letter(
        kind=named.get(KIND, MOVED),
        reason=named.get(REASON, MOVED_REASON),
        where=named.get(FROM, ""),
        body=message["Body"],
        receipt=message["ReceiptHandle"],
    )
