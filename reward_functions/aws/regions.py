"""The names of AWS's regions, as botocore knows them: nothing is called.

They are read where botocore has them, without a session: that would read the shell's profile and
fail where there is no such one.
"""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def aws_regions() -> set[str]:
    """Every region of every partition that has Lambda."""
    return {
        region
        for partition in _endpoints().get_available_partitions()
        for region in _endpoints().get_available_endpoints("lambda", partition)
    }


@cache
def partition_of(region: str) -> str:
    """The partition of a region, such as `aws` or `aws-cn`."""
    return str(_endpoints().get_partition_for_region(region))


@cache
def _endpoints() -> Any:
    from botocore.loaders import create_loader  # noqa: PLC0415 - 80 ms
    from botocore.regions import EndpointResolver  # noqa: PLC0415

    return EndpointResolver(create_loader().load_data("endpoints"))
