"""The name of a job is what it is: PREFIX-DIGEST-RUN.

    gsm8k-1f0c9a3e-2    the second run of one configuration, on one version and the same data

Who starts the same job again meets its name, and so finds the job. Both of Bedrock's patterns take
such a name (botocore's model: `JobName` and `CustomModelName`, each of 1 to 63 characters), and
so does that of a client token.
"""

from __future__ import annotations

import re
from itertools import count
from typing import TYPE_CHECKING, Final

from reward_functions.jobs.configuration import BadJob

if TYPE_CHECKING:
    from reward_functions.jobs.job import Driver, Job

MAX_NAME: Final = 63

MAX_PREFIX: Final = 40
"""Characters that `configuration.Prefix` allows."""

MAX_RUNS: Final = 999
"""Runs of one configuration; each is looked up by a call."""

_OTHER: Final = re.compile(r"[^a-zA-Z0-9]+")


def prefix_of(text: str) -> str:
    """How a job's name begins, from the name of a deployment or of a function."""
    return _OTHER.sub("-", text).strip("-")[:MAX_PREFIX].strip("-") or "job"


def named(stem: str, run: int) -> str:
    """The name of a run.

    Args:
        stem: PREFIX-DIGEST.
        run: from 1.
    """
    return f"{stem}-{run}"


def next_run(stem: str, driver: Driver, *, again: bool = False) -> tuple[str, Job | None]:
    """The name that a start is about, and the job that has it.

    Args:
        stem: PREFIX-DIGEST.
        driver: is asked for one run after the other.
        again: whether to take the first name that no job has.

    Returns:
        the newest run and its job; the first free name and None where there is no job, or `again`.

    Raises:
        BadJob: there are `MAX_RUNS` already.
        AwsFailed: the service cannot be asked.
    """
    newest: tuple[str, Job | None] = (named(stem, 1), None)
    for run in count(1):
        name = named(stem, run)
        job = driver.find(name)
        if job is None:
            return (name, None) if again else newest
        if run == MAX_RUNS:
            break
        newest = (name, job)
    raise BadJob(f"{stem} ran {MAX_RUNS} times already: change the job's name")
