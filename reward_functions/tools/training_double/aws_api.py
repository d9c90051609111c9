"""The AWS APIs of the double: Bedrock's control plane, and Converse of its runtime."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from reward_functions.tools.loopback_service import wire
from reward_functions.tools.loopback_service.refusals import Refused
from reward_functions.tools.training_double import bedrock_jobs, bedrock_models, converse
from reward_functions.tools.training_double.service import Call

if TYPE_CHECKING:
    from collections.abc import Callable
    from http import HTTPStatus

    from reward_functions.tools.loopback_service.requests import Request
    from reward_functions.tools.loopback_service.wire import Route
    from reward_functions.tools.training_double.identity import Caller
    from reward_functions.tools.training_double.service import Service

    Serve = Callable[[Call], dict[str, Any]]

OPERATIONS: Final[dict[str, dict[str, Serve]]] = {
    "bedrock": {
        "CreateModelCustomizationJob": bedrock_jobs.create,
        "GetModelCustomizationJob": bedrock_jobs.get,
        "ListModelCustomizationJobs": bedrock_jobs.list_,
        "StopModelCustomizationJob": bedrock_jobs.stop,
        "GetCustomModel": bedrock_models.get_model,
        "ListCustomModels": bedrock_models.list_models,
        "DeleteCustomModel": bedrock_models.delete_model,
        "CreateCustomModelDeployment": bedrock_models.create_deployment,
        "GetCustomModelDeployment": bedrock_models.get_deployment,
        "ListCustomModelDeployments": bedrock_models.list_deployments,
        "UpdateCustomModelDeployment": bedrock_models.update_deployment,
        "DeleteCustomModelDeployment": bedrock_models.delete_deployment,
        "TagResource": bedrock_models.tag,
        "UntagResource": bedrock_models.untag,
        "ListTagsForResource": bedrock_models.list_tags,
    },
    "bedrock-runtime": {"Converse": converse.converse},
}
"""By botocore's names of the services and of their operations."""

SERVING: Final = {
    name: serve for operations in OPERATIONS.values() for name, serve in operations.items()
}


@cache
def _routes() -> list[Route]:
    return [route for service, names in OPERATIONS.items() for route in wire.routes(service, names)]


def answer(service: Service, caller: Caller, request: Request) -> tuple[int, bytes]:
    """The status and the body of an answer.

    Raises:
        Refused: the request is not served.
        BadAnswer: the service could not say what was about to be answered.
    """
    for route in _routes():
        labels = route.labels(request)
        if labels is None:
            continue
        operation = route.operation
        service.state.throttle(operation.name)
        if caller.bearer:
            Call(service, caller, {}).require("bedrock:CallWithBearerToken", "*")
        call = Call(service, caller, wire.parameters(operation, labels, request))
        body = wire.answer(operation, SERVING[operation.name](call))
        return operation.http.get("responseCode", 200), body
    raise Refused(
        "UnknownOperationException",
        f"simulation: the training double does not serve {request.method} {request.path[:128]}",
    )


def refusal(refused: Refused) -> tuple[HTTPStatus, dict[str, str], bytes]:
    """A refusal as AWS's clients read it: its status, its headers and its body."""
    body = json.dumps({"message": str(refused)}).encode()
    return refused.status, {"x-amzn-ErrorType": refused.code}, body
