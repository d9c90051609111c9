"""The tags of a job and of its model: which reward, which version, which configuration.

    reward-functions:deployment, reward, version, function-version, digest    the grader
    reward-functions:configuration, stage, rows                               the job
    reward-functions:forced                                                   why it was forced

A tag holds names and numbers, and the reason that somebody typed: never the text of a prompt. Keys
of `aws:` belong to AWS. Source of the limits: `TagKey` and `TagValue` in botocore's model of
Bedrock; 50 tags are what AWS allows a resource (docs.aws.amazon.com/tag-editor, "Tag naming limits
and requirements").
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from reward_functions.jobs.configuration import BadJob

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reward_functions.jobs.grader import PinnedGrader

OURS: Final = "reward-functions:"

RESERVED: Final = "aws:"

MAX_KEY: Final = 128

MAX_VALUE: Final = 256

MAX_TAGS: Final = 50

ALLOWED: Final = r"a-zA-Z0-9\s._:/=+@-"
"""Characters of keys and values."""

_FORBIDDEN: Final = re.compile(rf"[^{ALLOWED}]", re.ASCII)


def tags(
    grader: PinnedGrader | None,
    *,
    stage: str,
    digest: str,
    rows: int | None = None,
    force: str = "",
    own: Mapping[str, str],
) -> dict[str, str]:
    """All tags of a job.

    Args:
        grader: what it is graded by; None where the reward is the service's own.
        stage: of `cdk.json`.
        digest: of the configuration.
        rows: of the training file; None where invocation logs are the data.
        force: why checks that failed were passed over; "" where none was.
        own: the user's.

    Raises:
        BadJob: AWS does not take a tag of the user's, or it has a name of ours.
    """
    known: dict[str, str | int | None] = {
        **(_of(grader) if grader else {}),
        "configuration": digest,
        "stage": stage,
        "rows": rows,
        "forced": force,
    }
    ours = {f"{OURS}{key}": fitting(str(value)) for key, value in known.items() if value}
    require_possible(own)
    if len(ours) + len(own) > MAX_TAGS:
        raise BadJob(
            f"tags: {len(own)} beside {len(ours)} of ours are more than the {MAX_TAGS} that AWS "
            "allows"
        )
    return ours | dict(own)


def _of(grader: PinnedGrader) -> dict[str, str | int | None]:
    return {
        "deployment": grader.deployment,
        "reward": grader.reward,
        "version": grader.version,
        "function-version": grader.function_version,
        "digest": grader.digest,
    }


def tag(of: Mapping[str, str], key: str) -> str:
    """One of our tags, of a job that may have none; "" where it is missing."""
    return of.get(f"{OURS}{key}", "")


def fitting(text: str) -> str:
    """A text as a tag's value: one line, cut, each forbidden character a full stop."""
    return _FORBIDDEN.sub(".", " ".join(text.split()))[:MAX_VALUE]


def require_possible(own: Mapping[str, str]) -> None:
    """Refuse a tag of the user's that AWS does not take, or that has a name of ours.

    Raises:
        BadJob: a tag is not possible.
    """
    for key, value in own.items():
        problem = next(_problems(key, value), None)
        if problem:
            raise BadJob(f"tags: {key[:MAX_KEY]!r} {problem}")


def _problems(key: str, value: str) -> Iterator[str]:
    if not key:
        yield "is empty"
    if key.lower().startswith(RESERVED):
        yield f"begins with {RESERVED}, which AWS keeps to itself"
    if key.startswith(OURS):
        yield "has a name that this project gives"
    for what, text, most in (("name", key, MAX_KEY), ("value", value, MAX_VALUE)):
        if len(text) > most:
            yield f"has a {what} of {len(text):,} characters; {most} are allowed"
        if found := _FORBIDDEN.search(text):
            yield (
                f"has {found[0]!r} in its {what}; letters, digits, spaces and . _ : / = + @ - are "
                "allowed"
            )
