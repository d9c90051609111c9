"""AWS's awsJson 1.1 protocol as a server speaks it, by botocore's service models.

    POST /
    X-Amz-Target: SageMaker.DescribeTrainingJob

The operation is named by a header, and everything else is in the body; an error is a 400 whose
`__type` is its code. Values are held to the model both ways, as `wire` does for rest-json.

Source: "AWS JSON 1.1 protocol" of the Smithy specification; locations and formats are the model's.
"""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from reward_functions.local.loopback_service.requests import STATUS, invalid, read_json
from reward_functions.local.loopback_service.wire import checked, moment_of

if TYPE_CHECKING:
    from botocore.model import OperationModel, Shape

    from reward_functions.local.loopback_service.requests import Refused, Request

TARGET: Final = "X-Amz-Target"

CONTENT_TYPE: Final = "application/x-amz-json-1.1"


def operation_of(request: Request, prefix: str) -> str:
    """The operation that a request names; "" where it is no request of this service.

    Args:
        request: whole.
        prefix: of the service's targets, such as "SageMaker".
    """
    service, dot, operation = request.header(TARGET).partition(".")
    asked = request.method == "POST" and request.path == "/"
    return operation if asked and dot and service == prefix else ""


def parameters(operation: OperationModel, request: Request) -> dict[str, Any]:
    """The parameters of a request, by the names that boto3 uses.

    Raises:
        Refused: it is not what the model asks for.
    """
    decoded = read_json(request.body) if request.body else {}
    if not isinstance(decoded, dict):
        raise invalid("the request body is not a JSON object")
    shape = operation.input_shape
    if shape is None:
        return {}
    found: dict[str, Any] = _parsed(shape, decoded)
    return checked(shape, found)


def _parsed(shape: Shape, value: Any) -> Any:
    """A value as boto3 was given it: moments instead of seconds, and nothing that is null."""
    match shape.type_name, value:
        case "timestamp", _:
            return moment_of(value, shape.name)
        case "structure", dict():
            return {
                name: _parsed(shape.members[name], each) if name in shape.members else each
                for name, each in value.items()
                if each is not None
            }
        case "list", list():
            return [_parsed(shape.member, each) for each in value]
        case "map", dict():
            return {key: _parsed(shape.value, each) for key, each in value.items()}
        case _:
            return value


def refusal(refused: Refused) -> tuple[HTTPStatus, dict[str, str], bytes]:
    """A refusal as clients of this protocol read it: its status, its headers and its body."""
    status = STATUS.get(refused.code, HTTPStatus.BAD_REQUEST)
    ours = status >= HTTPStatus.INTERNAL_SERVER_ERROR
    body = json.dumps({"__type": refused.code, "message": str(refused)}).encode()
    headers = {"Content-Type": CONTENT_TYPE}
    return status if ours else HTTPStatus.BAD_REQUEST, headers, body
