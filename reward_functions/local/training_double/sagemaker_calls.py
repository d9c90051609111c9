"""What SageMaker's operations have in common: lists, and tags.

Lists are paged by `MaxResults` and `NextToken`, and sorted by `SortBy` and `SortOrder`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reward_functions.local.training_double.sagemaker_state import absent
from reward_functions.local.training_double.state import paged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from reward_functions.local.training_double.service import Call


def page(
    call: Call,
    items: Iterable[Any],
    member: str,
    described: Callable[[Any], dict[str, Any]],
    name: Callable[[Any], str],
) -> dict[str, Any]:
    """The answer of a list: filtered by what every list of SageMaker can be asked, sorted, paged.

    Args:
        call: whose request says what is wanted.
        items: all of the caller's.
        member: of the answer.
        described: an item as the list has it.
        name: of an item.
    """
    asked = call.parameters
    found: Sequence[Any] = [
        each
        for each in items
        if asked.get("NameContains", "").lower() in name(each).lower()
        and asked.get("CreationTimeAfter", each.created) <= each.created
        and asked.get("CreationTimeBefore", each.created) >= each.created
    ]
    by_time = asked.get("SortBy", "CreationTime") == "CreationTime"
    order = asked.get("SortOrder", "Descending")
    found = sorted(
        found,
        key=lambda each: (
            each.created.timestamp() if by_time else 0.0,
            "" if by_time else name(each),
        ),
        reverse=order == "Descending",
    )
    shown, token = paged(
        found,
        {
            "nextToken": asked.get("NextToken", "0"),
            "maxResults": asked.get("MaxResults", 100),
        },
    )
    return {member: [*map(described, shown)], "NextToken": token}


def tags_of(given: dict[str, Any]) -> dict[str, str]:
    """The tags of a request."""
    return {tag["Key"]: tag["Value"] for tag in given.get("Tags", [])}


def require_making(call: Call, action: str, arn: str) -> None:
    """Nothing, where the caller may make this, with the tags of the request.

    Raises:
        Refused: it may not.
    """
    tags = tags_of(call.parameters)
    context = {f"aws:RequestTag/{key}": value for key, value in tags.items()}
    call.require(action, arn, context)
    if tags:
        call.require("sagemaker:AddTags", arn, context)


def add_tags(call: Call) -> dict[str, Any]:
    """AddTags."""
    tags = _tags(call, "sagemaker:AddTags")
    with call.state.lock:
        tags.update(tags_of(call.parameters))
    return {"Tags": _listed(tags)}


def list_tags(call: Call) -> dict[str, Any]:
    """ListTags."""
    return {"Tags": _listed(_tags(call, "sagemaker:ListTags"))}


def delete_tags(call: Call) -> dict[str, Any]:
    """DeleteTags."""
    tags = _tags(call, "sagemaker:DeleteTags")
    with call.state.lock:
        for key in call.parameters["TagKeys"]:
            tags.pop(key, None)
    return {}


def _tags(call: Call, action: str) -> dict[str, str]:
    arn = call.parameters["ResourceArn"]
    call.require(action, arn)
    if arn not in call.state.tags:
        raise absent(f"The resource {arn} does not exist")
    return call.state.tags[arn]


def _listed(tags: dict[str, str]) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in tags.items()]
