"""A request against botocore's model of its call: what AWS's servers check and botocore does not.

botocore's own client lets a name of 80 characters pass, a value of 5,000, a technique that is none.
The rules are `request_validation`'s, by which the training double answers as well.
"""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, Any

from reward_functions.aws.request_validation import problems
from reward_functions.jobs.configuration import BadJob

if TYPE_CHECKING:
    from collections.abc import Mapping

    from botocore.model import ServiceModel


def check_request(service: str, operation: str, request: Mapping[str, Any]) -> None:
    """Refuse a request that the service's servers would refuse by their model.

    Args:
        service: as boto3 names it.
        operation: such as "CreateTrainingJob".
        request: the arguments of the call.

    Raises:
        BadJob: the first rule that is broken; the value is not quoted.
    """
    shape = _model(service).operation_model(operation).input_shape
    for problem in problems(shape, dict(request)):
        raise BadJob(f"the service would refuse {operation}: {problem}")


@cache
def _model(service: str) -> ServiceModel:
    from botocore.loaders import create_loader  # noqa: PLC0415 - 100 ms
    from botocore.model import ServiceModel  # noqa: PLC0415

    # No session: it would ask for AWS_PROFILE.
    loader = create_loader(os.environ.get("AWS_DATA_PATH"))
    return ServiceModel(loader.load_service_model(service, "service-2"), service)
