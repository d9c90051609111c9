"""The names of AWS's regions, as botocore knows them: nothing is called."""

from __future__ import annotations

from functools import cache


@cache
def aws_regions() -> set[str]:
    """Every region of every partition that has Lambda."""
    from botocore.session import Session  # noqa: PLC0415 - 80 ms

    session = Session()
    return {
        region
        for partition in session.get_available_partitions()
        for region in session.get_available_regions("lambda", partition)
    }


@cache
def partition_of(region: str) -> str:
    """The partition of a region, such as `aws` or `aws-cn`."""
    from botocore.session import Session  # noqa: PLC0415 - 80 ms

    return str(Session().get_partition_for_region(region))
