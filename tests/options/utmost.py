"""Stages as large as they may be: the longest names, and as many deployments as one stack holds."""

import json
from functools import cache

from reward_functions.aws.regions import aws_regions, partition_of
from tests.options.table import REGION, accepted, together

LONGEST = 40
"""Characters of the longest name that any field takes."""


@cache
def utmost():
    """What makes a stage large: its name, and what it says."""
    everything, brought, *_ = together()
    unnamed = {name: each for name, each in everything.items() if name != "name_prefix"}
    made = {"a stage's name": _named(unnamed)}
    kept = {name: each for name, each in brought.items() if name != "feedback"}
    made["a prefix"] = _named(kept | {"name_prefix": "p" * 20})
    made["a prefix with feedback"] = "s", _prefixed(brought)
    for region in ("ap-southeast-1", "us-gov-west-1", "cn-northwest-1"):
        assert region in aws_regions()
        made[f"a name in {region}"] = _named(moved(unnamed, region))
    plain = {"deployments": [{"name": "d", "reward": "gsm8k"}]}
    made["deployments"] = "dev", _crowded(plain)
    made["deployments with everything"] = "dev", _crowded(everything)
    made["a deployment's name"] = "dev", _long(everything)
    return made


def moved(given, region):
    """A stage in another region, with everything that it names there."""
    partition, text = partition_of(region), json.dumps(given).replace(REGION, region)
    if partition == "aws-cn":
        text = text.replace(".amazonaws.com/", ".amazonaws.com.cn/")
    there = json.loads(text.replace("arn:aws:", f"arn:{partition}:"))
    for each in there["deployments"] if partition != "aws" else ():
        for name in ("snap_start", "tracing"):  # which Lambda does not have there
            each.pop(name, None)
    return there | {"region": region}


def _largest(made, sizes):
    """The largest that a stage may be."""
    return next(found for size in sizes if accepted(*reversed(found := made(size))))


def _named(given):
    """With the longest name."""
    return _largest(lambda size: ("s" * size, given), range(20, 0, -1))


def _prefixed(given):
    """With the longest prefix of the shortest name."""
    sizes = range(20, 0, -1)
    return _largest(lambda size: ("s", given | {"name_prefix": "p" * size}), sizes)[1]


def _crowded(given):
    """With as many deployments as it may have."""

    def made(count):
        more = [{"name": f"d{each:02}", "reward": "gsm8k"} for each in range(count)]
        return "dev", {**given, "deployments": [*given["deployments"], *more]}

    return _largest(made, range(40, -1, -1))[1]


def _long(given):
    """With a deployment of the longest name, immutable."""

    def made(size):
        each = {"name": "d" * size, "reward": "gsm8k", "immutable": True}
        return "dev", {**given, "deployments": [*given["deployments"], each]}

    return _largest(made, range(LONGEST, 0, -1))[1]
