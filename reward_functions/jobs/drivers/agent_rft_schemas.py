"""Which version of the service's schema a document fits: asked of the service at each start.

The newest version is tried first, and an older one where ours lacks what the newest requires. A
document that fits none is refused with what the newest says. The schema ships in no package.

Source: botocore's model of SageMaker (`ListJobSchemaVersions`, `DescribeJobSchemaVersion`).
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.failures import AwsFailed
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.drivers.agent_rft_document import MAX_DOCUMENT
from reward_functions.jobs.failures import UNREADABLE, answer
from reward_functions.jobs.json_schema import BadSchema, schema_problems

if TYPE_CHECKING:
    from collections.abc import Mapping

VERSION: Final = re.compile(r"[0-9]{1,5}\.[0-9]{1,5}\.[0-9]{1,5}")

TRIED: Final = 5
"""Versions that are read: the newest."""

MAX_PAGES: Final = 20

SHOWN: Final = 3
"""Problems that a refusal names."""


def fitting_version(client: Any, category: str, document: Mapping[str, Any]) -> str:
    """The newest version of a category's schema that a document fits.

    Args:
        client: of SageMaker.
        category: such as "AgentRFT".
        document: of a job.

    Raises:
        BadJob: it fits none of the newest; the message says where the very newest objects.
        AwsFailed: the service cannot be asked, has no version, or publishes no schema.
    """
    refused = ""
    for version in _versions(client, category)[:TRIED]:
        schema = _schema(client, category, version)
        try:
            problems = schema_problems(schema, dict(document))
        except BadSchema as error:
            raise AwsFailed(f"reading the schema {version} of {category}: {error}") from None
        if not problems:
            return version
        more = f"; and {len(problems) - SHOWN} more" if len(problems) > SHOWN else ""
        refused = refused or (
            f"the service's schema {version} of {category} does not take this job: "
            f"{'; '.join(problems[:SHOWN])}{more}"
        )
    raise BadJob(refused)


def _versions(client: Any, category: str) -> list[str]:
    """Every version, the newest first."""
    what = f"listing the schemas of {category}"
    found: set[str] = set()
    token: dict[str, str] = {}
    for _ in range(MAX_PAGES):
        page = answer(what, client.list_job_schema_versions, JobCategory=category, **token)
        summaries = page.get("JobConfigSchemas")
        if not isinstance(summaries, list):
            raise AwsFailed(f"{what}: {UNREADABLE}")
        named = (each.get("JobConfigSchemaVersion") for each in summaries if isinstance(each, dict))
        found |= {each for each in named if isinstance(each, str) and VERSION.fullmatch(each)}
        following = page.get("NextToken")
        if not following or {"NextToken": following} == token:
            break
        token = {"NextToken": following}
    if not found:
        raise AwsFailed(f"{what}: the service has none in this region")
    return sorted(found, key=lambda each: [int(part) for part in each.split(".")], reverse=True)


def _schema(client: Any, category: str, version: str) -> Any:
    what = f"reading the schema {version} of {category}"
    found = answer(
        what,
        client.describe_job_schema_version,
        JobCategory=category,
        JobConfigSchemaVersion=version,
    ).get("JobConfigSchema")
    try:
        if isinstance(found, str) and len(found) <= MAX_DOCUMENT:
            return json.loads(found)
    except (ValueError, RecursionError):
        pass
    raise AwsFailed(f"{what}: {UNREADABLE}")
