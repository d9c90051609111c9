"""AWS's rest-json and awsJson 1.1 protocols as a server speaks them, by botocore's service models.

A request becomes the very parameters that were given to the client, and an answer becomes what the
client will parse. Both are held to the model, so that a double cannot take or say what the service
does not know.

In rest-json an operation is a method and a path. In awsJson a header names it, as in
`X-Amz-Target: SageMaker.DescribeTrainingJob`, everything else is in the body, and an error is a 400
whose `__type` is its code.

Source: "AWS restJson1 protocol" and "AWS JSON 1.1 protocol" of the Smithy specification; locations
and formats are the model's.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from functools import cache
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qs, unquote

from reward_functions.aws.request_validation import problems
from reward_functions.local.loopback_service.server import (
    STATUS,
    BadAnswer,
    invalid,
    read_object,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from botocore.model import OperationModel, Shape

    from reward_functions.local.loopback_service.server import Refused, Request

    Moment = Callable[[Shape, Any], Any]

TARGET: Final = "X-Amz-Target"

CONTENT_TYPE: Final = "application/x-amz-json-1.1"

LABEL: Final = re.compile(r"\{(\w+)\}")

SHOWN: Final = 5
"""Problems that one refusal names: a request may have thousands."""


def labels_in(path: str, template: str) -> dict[str, str] | None:
    """The parts of a path, by the names that a template has in braces; None for another path."""
    found = _compiled(template).fullmatch(path)
    return found and {name: unquote(text) for name, text in found.groupdict().items()}


@cache
def _compiled(template: str) -> re.Pattern[str]:
    return re.compile(LABEL.sub(r"(?P<\1>[^/]+)", template))


def labels(operation: OperationModel, request: Request) -> dict[str, str] | None:
    """The parts of a request's path, by name; None where it is another operation's."""
    asked = request.method == operation.http["method"]
    return labels_in(request.path, operation.http["requestUri"]) if asked else None


def operation_of(request: Request, prefix: str) -> str:
    """The operation that a request names; "" where it is no request of this service.

    Args:
        request: whole.
        prefix: of the service's targets, such as "SageMaker".
    """
    service, dot, operation = request.header(TARGET).partition(".")
    asked = request.method == "POST" and request.path == "/"
    return operation if asked and dot and service == prefix else ""


def parameters(
    operation: OperationModel, labels: Mapping[str, str], request: Request
) -> dict[str, Any]:
    """The parameters of a request, by the names that boto3 uses.

    Raises:
        Refused: it is not what the model asks for.
    """
    shape = operation.input_shape
    if shape is None:
        return {}
    query = parse_qs(request.query, keep_blank_values=True)
    found: dict[str, Any] = {}
    for name, member in shape.members.items():
        wire_name = member.serialization.get("name", name)
        match member.serialization.get("location"):
            case "uri":
                found[name] = labels[wire_name]
            case "querystring" if wire_name in query:
                found[name] = _typed(member, query[wire_name][0], name)
            case "header" if request.header(wire_name):
                found[name] = request.header(wire_name)
    payload = shape.serialization.get("payload")
    found |= {payload: request.body} if payload else _from_body(shape, request.body)
    if wrong := [*problems(shape, found)]:
        count = f"{len(wrong)} validation error{'s' if len(wrong) > 1 else ''} detected"
        raise invalid(f"{count}: {'; '.join(wrong[:SHOWN])}")
    return found


def _from_body(shape: Shape, body: bytes) -> dict[str, Any]:
    decoded = read_object(body) if body else {}
    elsewhere = {
        name for name, member in shape.members.items() if "location" in member.serialization
    }
    here = {name: value for name, value in decoded.items() if name not in elsewhere}
    found: dict[str, Any] = _walked(shape, here, _read)
    return found


def _walked(shape: Shape, value: Any, moment: Moment, *, known: bool = False) -> Any:
    """A value with its moments in another form, less what is null.

    Args:
        shape: of the value.
        value: of a request, or of an answer.
        moment: a timestamp in the other form.
        known: whether to leave out what the service has no member for.
    """
    match shape.type_name, value:
        case "timestamp", _:
            return moment(shape, value)
        case "structure", dict() if not getattr(shape, "is_document_type", False):
            members = shape.members
            return {
                name: _walked(members[name], each, moment, known=known) if name in members else each
                for name, each in value.items()
                if each is not None and (name in members or not known)
            }
        case "list", list():
            return [_walked(shape.member, each, moment, known=known) for each in value]
        case "map", dict():
            return {
                key: _walked(shape.value, each, moment, known=known) for key, each in value.items()
            }
        case _:
            return value


def _typed(shape: Shape, text: str, name: str) -> Any:
    """The value of a string of the query; what is not of its type stays one, and is refused."""
    match shape.type_name:
        case "integer" | "long":
            return int(text) if re.fullmatch(r"-?[0-9]{1,18}", text) else text
        case "boolean":
            return {"true": True, "false": False}.get(text, text)
        case "timestamp":
            return _moment(text, name)
        case _:
            return text


def _read(shape: Shape, value: Any) -> datetime:
    return _moment(value, shape.name)


def _moment(value: Any, name: str) -> datetime:
    """The moment that a timestamp of a request is.

    Raises:
        Refused: it is none.
    """
    from botocore.utils import parse_timestamp  # noqa: PLC0415

    try:
        moment: datetime = parse_timestamp(value)
    except (ValueError, OverflowError, TypeError, RuntimeError):
        raise invalid(f"Value at '{name}' is not a timestamp") from None
    return moment


def answer(operation: OperationModel, result: Mapping[str, Any]) -> bytes:
    """The body of an answer.

    Args:
        operation: what was asked for.
        result: as boto3 returns it; what is None or no member of the answer is left out.

    Raises:
        BadAnswer: the service could not say this.
    """
    shape = operation.output_shape
    if shape is None:
        return b"{}"
    present = _walked(shape, result, lambda _, moment: moment, known=True)
    if wrong := [*problems(shape, present)]:
        raise BadAnswer(f"{operation.name}: {'; '.join(wrong)}")
    return json.dumps(_walked(shape, present, _written)).encode()


def refusal(refused: Refused) -> tuple[HTTPStatus, dict[str, str], bytes]:
    """A refusal as clients of this protocol read it: its status, its headers and its body."""
    status = STATUS.get(refused.code, HTTPStatus.BAD_REQUEST)
    ours = status >= HTTPStatus.INTERNAL_SERVER_ERROR
    body = json.dumps({"__type": refused.code, "message": str(refused)}).encode()
    headers = {"Content-Type": CONTENT_TYPE}
    return status if ours else HTTPStatus.BAD_REQUEST, headers, body


def _written(shape: Shape, moment: datetime) -> str | float:
    if shape.serialization.get("timestampFormat") != "iso8601":
        return moment.timestamp()
    written = moment.astimezone(UTC).isoformat(timespec="milliseconds")
    return written.replace("+00:00", "Z")
