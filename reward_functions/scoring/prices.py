"""The price of a run on AWS, by list prices: arithmetic alone, and nothing is asked.

    bill(Work(rows=10**8, bytes=2 * 10**11, shards=3125)).dollars        2.1

The prices are those of us-east-1 without a free tier. A judge costs a thousand times more than all
of this: what its model costs is one more line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.scoring.invoked import BATCH_ROWS
from reward_functions.scoring.places import PIECE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reward_functions.scoring.asked import Asked
    from reward_functions.scoring.shards import Shard

AWS: Final = "https://aws.amazon.com"

READ: Final = "2026-11-23"
"""When the prices were read."""


class Price(NamedTuple):
    """A list price.

    Args:
        dollars: for one.
        of: what one is.
        source: the page of AWS's that says so.
    """

    dollars: float
    of: str
    source: str


PRICES: Final = {
    "second": Price(0.0000133334, "GB-second of Lambda, arm64", f"{AWS}/lambda/pricing"),
    "request": Price(0.20e-6, "request of Lambda", f"{AWS}/lambda/pricing"),
    "transition": Price(25e-6, "transition, Standard workflow", f"{AWS}/step-functions/pricing"),
    "get": Price(0.0004e-3, "GET or HEAD of S3", f"{AWS}/s3/pricing"),
    "put": Price(0.005e-3, "PUT or LIST of S3", f"{AWS}/s3/pricing"),
    "month": Price(0.023, "GB of S3 Standard for a month", f"{AWS}/s3/pricing"),
}

SECONDS_A_ROW: Final = 0.6e-3
"""Of a processor, for rewards that compute: `math` takes half of that for short answers."""

GB: Final = 2**30

TRANSITIONS: Final = 3
"""Of a shard: its child begins, asks the function, and ends."""

GETS: Final = 5
"""Of a shard beside its rows: the run, whether it is over, whether its part is there."""

PUTS: Final = 2
"""Of a scored shard: its part, and its facts."""

RESULT_BYTES: Final = 452
"""Of a row's result, as `math` writes it."""


UNPRICED: Final = (
    "what the judge's models cost is not known here: name its settings with --judge, with prices "
    "of its models"
)


class Work(NamedTuple):
    """The amount of work.

    Args:
        rows: of all objects.
        bytes: of them.
        shards: that they are cut into.
        counted: whether lines are counted before.
        seconds_a_row: that the reward takes, of one of its environments.
        memory_mb: of the reward's function; 0 where none is called.
        shard_memory_mb: of the shard function; 0 where the rewards are called from elsewhere.
        model: dollars of a judge's model for a row.
    """

    rows: int
    bytes: int
    shards: int
    counted: bool = True
    seconds_a_row: float = SECONDS_A_ROW
    memory_mb: int = 1769
    shard_memory_mb: int = 512
    model: float = 0.0


class Bill(NamedTuple):
    """What it costs.

    Args:
        work: that it is for.
        lines: dollars, by what they are for.
        calls: of the reward's function, about.
        a_month: dollars, for as long as the results are kept.
        seconds: of the reward's functions together; by how many at once is how long it takes.
        unpriced: what has no price here, and how to give it one; "" where all has.
    """

    work: Work
    lines: dict[str, float]
    calls: int = 0
    a_month: float = 0.0
    seconds: float = 0.0
    unpriced: str = ""

    @property
    def dollars(self) -> float:
        """All lines."""
        return sum(self.lines.values())


def bill_of(asked: Asked, shards: Sequence[Shard], rows: int, *, machine: bool) -> Bill:
    """The bill of shards of a run; of one that calls no version it is that of a judge's models.

    Args:
        asked: of the run.
        shards: to be done.
        rows: of them, about.
        machine: whether the stage's state machine does them.
    """
    work = Work(
        rows,
        sum(each.bytes for each in shards),
        len(shards),
        counted=any(each.row is None for each in shards),
        model=(asked.usd or 0.0) / max(1, asked.about),
    )
    work = work if machine else work._replace(shard_memory_mb=0)
    found = bill(work if asked.function else work._replace(memory_mb=0))
    return found if asked.usd is not None else found._replace(unpriced=UNPRICED)


def bill(work: Work) -> Bill:
    """The bill of some work."""
    models = {"the judge's models": work.rows * work.model} if work.model else {}
    if not work.memory_mb:
        return Bill(work, models)
    seconds = work.rows * work.seconds_a_row
    calls = max(-(-work.rows // BATCH_ROWS), work.shards) if work.rows else 0
    on_aws = work.shard_memory_mb > 0
    children = work.shards * (1 + work.counted) if on_aws else 0
    gets = (1 + work.counted) * (work.bytes / PIECE + work.shards * GETS)
    lines = {
        "the reward's functions": seconds * work.memory_mb / 1024 * PRICES["second"].dollars,
        "the shard function, which waits": seconds
        * work.shard_memory_mb
        / 1024
        * PRICES["second"].dollars,
        "requests of Lambda": (calls + children) * PRICES["request"].dollars,
        "the state machine": children * TRANSITIONS * PRICES["transition"].dollars,
        "requests of S3": gets * PRICES["get"].dollars
        + work.shards * (PUTS + work.counted) * PRICES["put"].dollars,
    }
    stored = work.rows * RESULT_BYTES / GB * PRICES["month"].dollars
    return Bill(work, lines | models, calls, stored, seconds)
