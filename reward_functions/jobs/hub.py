"""Contents of SageMaker's hubs: models of AWS's public one, and evaluators of the account's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reward_functions.jobs.failures import pages

if TYPE_CHECKING:
    from collections.abc import Iterator

PUBLIC: Final = "SageMakerPublicHub"

SUMMARIES: Final = "HubContentSummaries"

PAGE: Final = 100


def contents_of_hub(client: Any, hub: str, kind: str) -> Iterator[dict[str, Any]]:
    """Every content of a kind, its newest version alone.

    Args:
        client: of SageMaker.
        hub: its name.
        kind: of content, such as "Model" or "JsonDoc".

    Raises:
        AwsFailed: the hub cannot be asked, or is not there.
    """
    yield from pages(
        f"listing the hub {hub}",
        client.list_hub_contents,
        SUMMARIES,
        marker="NextToken",
        HubName=hub,
        HubContentType=kind,
        MaxResults=PAGE,
    )


def versions_of_content(client: Any, hub: str, kind: str, name: str) -> Iterator[dict[str, Any]]:
    """Every version of one content.

    Raises:
        AwsFailed: the hub cannot be asked, or has no such content.
    """
    yield from pages(
        f"listing the versions of {name}",
        client.list_hub_content_versions,
        SUMMARIES,
        marker="NextToken",
        HubName=hub,
        HubContentType=kind,
        HubContentName=name,
        MaxResults=PAGE,
    )


def pages_of_hub(client: Any, member: str, hub: str, kind: str) -> Iterator[str]:
    """One member of every content, where it is a string."""
    for each in contents_of_hub(client, hub, kind):
        if isinstance(each.get(member), str):
            yield each[member]
