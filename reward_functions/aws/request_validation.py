"""A request against botocore's model of its call: everything that AWS's servers check.

botocore's own client checks types, required members and minimums. Maximums, enumerations, patterns
and unions are in the models all the same, and are checked here, in requests and in answers.
"""

from __future__ import annotations

import os
import re
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from botocore.model import ServiceModel, Shape


class RefusedRequest(ConfigurationError):
    """A request that breaks a rule of its service."""


TYPES: Final[dict[str, tuple[type, ...]]] = {
    "string": (str,),
    "character": (str,),
    "integer": (int,),
    "long": (int,),
    "float": (int, float),
    "double": (int, float),
    "boolean": (bool,),
    "blob": (bytes,),
    "timestamp": (datetime,),
    "structure": (dict,),
    "map": (dict,),
    "list": (list,),
}

NUMBERS: Final = frozenset({"integer", "long", "float", "double"})

EXPONENTIAL: Final = {r"(-*[a-zA-Z0-9\+\-\.])*": r"[a-zA-Z0-9+\-.]*"}
"""Parts of AWS's patterns that take exponential time, and the same language in linear time: the
hyphen of `-*` is in the class behind it."""

PROPERTIES: Final = {
    r"[\p{L}\p{M}\p{Z}\p{S}\p{N}\p{P}]": r"[^\x00-\x1f\x7f]",
    r"\p{L}\p{Z}\p{N}": r"a-zA-Z0-9 \u0080-\U0010ffff",
}
"""Unicode's properties in SageMaker's patterns, which `re` does not have: everything that prints,
and letters, spaces and digits. Beyond ASCII all characters pass."""


def check_request(service: str, operation: str, request: Mapping[str, Any]) -> None:
    """Refuse a request that the service's servers would refuse by their model.

    Args:
        service: as boto3 names it.
        operation: such as "CreateTrainingJob".
        request: the arguments of the call.

    Raises:
        RefusedRequest: the first rule that is broken; the value is not quoted.
    """
    shape = service_model(service).operation_model(operation).input_shape
    for problem in problems(shape, dict(request)):
        raise RefusedRequest(f"the service would refuse {operation}: {problem}")


@cache
def service_model(service: str) -> ServiceModel:
    """A service as botocore knows it."""
    from botocore.loaders import create_loader  # noqa: PLC0415 - 100 ms
    from botocore.model import ServiceModel  # noqa: PLC0415

    # No session: it would ask for AWS_PROFILE.
    loader = create_loader(os.environ.get("AWS_DATA_PATH"))
    return ServiceModel(loader.load_service_model(service, "service-2"), service)


def problems(shape: Shape, value: Any, where: str = "") -> Iterator[str]:
    """The faults of a value against its shape, in the words of AWS; no fault quotes the value.

    Args:
        shape: from a service model.
        value: as botocore's client takes and returns it; timestamps are `datetime`.
        where: the path of the value, such as "customizationConfig.rftConfig".
    """
    if getattr(shape, "is_document_type", False):
        return
    kind = shape.type_name
    wrong_type = not isinstance(value, TYPES[kind]) or (isinstance(value, bool) and kind in NUMBERS)
    if wrong_type:
        yield f"Value at '{where}' failed to satisfy constraint: Member must be a {kind}"
        return
    match kind:
        case "structure":
            yield from _structure(shape, value, where)
        case "list":
            yield from _sized(shape, len(value), where)
            for number, each in enumerate(value, 1):
                yield from problems(shape.member, each, f"{where}.{number}.member")
        case "map":
            yield from _sized(shape, len(value), where)
            for key, each in value.items():
                yield from problems(shape.key, key, f"{where}.key")
                yield from problems(shape.value, each, f"{where}.value")
        case "string" | "character":
            yield from _string(shape, value, where)
        case _ if kind in NUMBERS:
            yield from _number(shape, value, where)


def _structure(shape: Shape, value: dict[str, Any], where: str) -> Iterator[str]:
    for name in value.keys() - shape.members.keys():
        yield f"{where or '#'}: extraneous key [{name[:64]}] is not permitted"
    for name in shape.required_members:
        if value.get(name) is None:
            constraint = f"Value at '{_under(where, name)}' failed to satisfy constraint"
            yield f"{constraint}: Member must not be null"
    if getattr(shape, "is_tagged_union", False) and len(value) != 1:
        yield f"Value at '{where}' failed to satisfy constraint: exactly one member must be set"
    for name, member in shape.members.items():
        if value.get(name) is not None:
            yield from problems(member, value[name], _under(where, name))


def _under(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _sized(shape: Shape, length: int, where: str) -> Iterator[str]:
    rules = shape.metadata
    constraint = f"Value at '{where}' failed to satisfy constraint: Member must have length"
    if length < rules.get("min", 0):
        yield f"{constraint} greater than or equal to {rules['min']}"
    if length > rules.get("max", length):
        yield f"{constraint} less than or equal to {rules['max']}"


def _string(shape: Shape, value: str, where: str) -> Iterator[str]:
    sizes = [*_sized(shape, len(value), where)]
    yield from sizes
    allowed = shape.metadata.get("enum")
    if allowed and value not in allowed:
        yield (
            f"Value at '{where}' failed to satisfy constraint: Member must satisfy enum value set: "
            f"[{', '.join(allowed)}]"
        )
    pattern = shape.metadata.get("pattern")
    # A pattern reads a value of bounded length only.
    if pattern and not sizes and not _compiled(pattern).fullmatch(value):
        yield (
            f"Value at '{where}' failed to satisfy constraint: Member must satisfy regular "
            f"expression pattern: {pattern}"
        )


def _number(shape: Shape, value: float, where: str) -> Iterator[str]:
    rules = shape.metadata
    constraint = f"Value at '{where}' failed to satisfy constraint: Member must have value"
    if "min" in rules and not value >= rules["min"]:
        yield f"{constraint} greater than or equal to {rules['min']}"
    if "max" in rules and not value <= rules["max"]:
        yield f"{constraint} less than or equal to {rules['max']}"


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    for theirs, ours in (EXPONENTIAL | PROPERTIES).items():
        pattern = pattern.replace(theirs, ours)
    return re.compile(pattern, re.ASCII)
