"""How long a function takes, and how many samples fit into what Lambda carries."""

from __future__ import annotations

import json
from math import ceil
from statistics import median
from typing import TYPE_CHECKING, Final

from reward_functions.aws.deployed.findings import CheckFinding
from reward_functions.aws.deployed.invocation import MAX_PAYLOAD_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reward_functions.aws.deployed.invocation import Invocation
    from reward_functions.aws.deployed.probes import Row

STEP: Final = 512 * 16
"""Samples of Bedrock's largest optimiser step: the most one event could hold."""


def load_findings(
    rows: Sequence[Row], first: Invocation, warm: Sequence[Invocation], timeout: int | None
) -> Iterator[CheckFinding]:
    """What batches of this size mean for time and size.

    Args:
        rows: a batch.
        first: the first invocation of all, of whatever batch.
        warm: those of this batch.
        timeout: the function's, in seconds; None where it is not known.
    """
    seconds = [invocation.seconds for invocation in warm]
    start = " with a cold start" if first.cold else ""
    message = (
        f"{len(rows)} samples take {_time(median(seconds))}, {_time(max(seconds))} at most; "
        f"the first batch took {_time(first.seconds)}{start}"
    )
    if timeout is not None and max(*seconds, first.seconds) > timeout / 2:
        yield CheckFinding(
            "warning", "latency", f"{message}: more than half of its timeout of {timeout} s"
        )
    else:
        yield CheckFinding("ok", "latency", message)
    yield _size("request", len(json.dumps(list(rows)).encode()), len(rows))
    yield _size("response", len(warm[-1].body), len(rows))


def _size(what: str, size: int, samples: int) -> CheckFinding:
    fit = MAX_PAYLOAD_BYTES * samples // size
    message = (
        f"{ceil(size / samples):,} bytes a sample: {fit:,} such samples fit into Lambda's 6 MB"
    )
    if fit < STEP:
        message += f"; Bedrock's largest step has {STEP:,}, its largest event is undocumented"
    return CheckFinding("ok", what, message)


def _time(seconds: float) -> str:
    return f"{seconds * 1000:,.0f} ms" if seconds < 1 else f"{seconds:,.1f} s"
