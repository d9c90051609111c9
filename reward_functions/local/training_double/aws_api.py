"""The AWS APIs of the double: the control planes of Bedrock and SageMaker, and Converse."""

from __future__ import annotations

import json
from functools import cache
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.request_validation import service_model
from reward_functions.local.loopback_service import json_wire, wire
from reward_functions.local.loopback_service.requests import Refused
from reward_functions.local.training_double import (
    agent_jobs,
    bedrock_imports,
    bedrock_jobs,
    bedrock_models,
    converse,
    sagemaker_calls,
    sagemaker_hub,
    sagemaker_jobs,
    sagemaker_mlflow,
    sagemaker_packages,
)
from reward_functions.local.training_double.service import Call

if TYPE_CHECKING:
    from collections.abc import Callable

    from reward_functions.local.loopback_service.requests import Request
    from reward_functions.local.loopback_service.wire import Route
    from reward_functions.local.training_double.identity import Caller
    from reward_functions.local.training_double.service import Service

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
        "CreateModelImportJob": bedrock_imports.create_job,
        "GetModelImportJob": bedrock_imports.get_job,
        "GetImportedModel": bedrock_imports.get_model,
        "ListImportedModels": bedrock_imports.list_models,
        "DeleteImportedModel": bedrock_imports.delete_model,
        "CreateCustomModel": bedrock_imports.create_custom_model,
        "TagResource": bedrock_models.tag,
        "UntagResource": bedrock_models.untag,
        "ListTagsForResource": bedrock_models.list_tags,
    },
    "bedrock-runtime": {"Converse": converse.converse},
}
"""By botocore's names of the services and of their operations; rest-json."""

SERVING: Final = {
    name: serve for operations in OPERATIONS.values() for name, serve in operations.items()
}

SAGEMAKER: Final[dict[str, Serve]] = {
    **agent_jobs.OPERATIONS,
    "CreateHub": sagemaker_hub.create_hub,
    "DescribeHub": sagemaker_hub.describe_hub,
    "DeleteHub": sagemaker_hub.delete_hub,
    "ImportHubContent": sagemaker_hub.import_content,
    "DescribeHubContent": sagemaker_hub.describe_content,
    "ListHubContents": sagemaker_hub.list_contents,
    "ListHubContentVersions": sagemaker_hub.list_versions,
    "DeleteHubContent": sagemaker_hub.delete_content,
    "CreateTrainingJob": sagemaker_jobs.create,
    "DescribeTrainingJob": sagemaker_jobs.describe,
    "ListTrainingJobs": sagemaker_jobs.list_,
    "StopTrainingJob": sagemaker_jobs.stop,
    "CreateModelPackageGroup": sagemaker_packages.create_group,
    "DescribeModelPackageGroup": sagemaker_packages.describe_group,
    "ListModelPackageGroups": sagemaker_packages.list_groups,
    "DeleteModelPackageGroup": sagemaker_packages.delete_group,
    "DescribeModelPackage": sagemaker_packages.describe,
    "ListModelPackages": sagemaker_packages.list_,
    "DeleteModelPackage": sagemaker_packages.delete,
    "ListMlflowApps": sagemaker_mlflow.list_apps,
    "DescribeMlflowApp": sagemaker_mlflow.describe_app,
    "CreatePresignedMlflowAppUrl": sagemaker_mlflow.presigned_url,
    "AddTags": sagemaker_calls.add_tags,
    "ListTags": sagemaker_calls.list_tags,
    "DeleteTags": sagemaker_calls.delete_tags,
}
"""By botocore's names of SageMaker's operations; awsJson 1.1."""

TARGETS: Final = "SageMaker"
"""How the targets of its requests begin."""


@cache
def _routes() -> list[Route]:
    return [route for service, names in OPERATIONS.items() for route in wire.routes(service, names)]


def answer(service: Service, caller: Caller, request: Request) -> tuple[int, bytes]:
    """The status and the body of an answer.

    Raises:
        Refused: the request is not served.
        BadAnswer: the service could not say what was about to be answered.
    """
    if name := json_wire.operation_of(request, TARGETS):
        return _answer_by_target(service, caller, request, name)
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


def _answer_by_target(
    service: Service, caller: Caller, request: Request, name: str
) -> tuple[int, bytes]:
    """The answer to a request of SageMaker."""
    if name not in SAGEMAKER:
        raise Refused(
            "UnknownOperationException",
            f"simulation: the training double does not serve SageMaker's {name[:128]}",
        )
    service.state.throttle(name)
    operation = service_model("sagemaker").operation_model(name)
    call = Call(service, caller, json_wire.parameters(operation, request))
    return HTTPStatus.OK, wire.answer(operation, SAGEMAKER[name](call))


def refusal(refused: Refused, request: Request) -> tuple[HTTPStatus, dict[str, str], bytes]:
    """A refusal as AWS's clients read it: its status, its headers and its body."""
    if json_wire.operation_of(request, TARGETS):
        return json_wire.refusal(refused)
    body = json.dumps({"message": str(refused)}).encode()
    return refused.status, {"x-amzn-ErrorType": refused.code}, body
