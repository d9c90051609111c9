"""Training files as SageMaker's serverless customization reads them, by the channel's S3 prefix.

A row of an open-weight model is verl's: `prompt`, a list of turns or a string, and the ground truth
in `reward_model`. A row of a Nova model has `messages` and `reference_answer`. JSONL and JSON are
read; parquet and CSV are not, and are said to be what this simulation does not read.

Sources: "Reinforcement fine-tuning" of SageMaker's developer guide (customizing-models-rft), and
`air/schemas/verl.json` of sagemaker-train.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from reward_functions.local.training_double.bedrock_jobs import object_at
from reward_functions.local.training_double.clients import JobFailed
from reward_functions.local.training_double.datafiles import prompts
from reward_functions.local.training_double.grading import failing

if TYPE_CHECKING:
    from boto3.session import Session

    from reward_functions.local.training_double.datafiles import Row

READ: Final = (".jsonl", ".json")

MOST_FILES: Final = 100
"""Below one prefix."""

PROMPT: Final = frozenset({"prompt", "messages", "reference_answer"})


def channel(given: dict[str, Any], name: str) -> str:
    """The S3 URI of a channel; "" where the request has none of this name."""
    for each in given.get("InputDataConfig", []):
        if each["ChannelName"] == name:
            return str(each["DataSource"].get("S3DataSource", {}).get("S3Uri", ""))
    return ""


def rows_at(session: Session, uri: str) -> list[Row]:
    """The rows below a prefix, as training reads them; none for no prefix.

    Args:
        session: of the job's role.
        uri: of a file, or of a folder.

    Raises:
        JobFailed: something cannot be read, or is no row.
    """
    found = [
        _row(row, f"{name}, row {number}")
        for name, content in _files(session, uri)
        for number, row in enumerate(values(content, name), 1)
    ]
    return prompts("\n".join(map(json.dumps, found)).encode(), uri)


def _files(session: Session, uri: str) -> list[tuple[str, bytes]]:
    """The files below a prefix, with their URIs."""
    parts = urlsplit(uri)
    if not parts.netloc:
        return []
    with failing(f"Listing {uri}"):
        listed = session.client("s3").list_objects_v2(
            Bucket=parts.netloc, Prefix=parts.path.lstrip("/"), MaxKeys=MOST_FILES
        )
    keys = [each["Key"] for each in listed.get("Contents", []) if not each["Key"].endswith("/")]
    if not keys:
        raise JobFailed(f"{uri}: there is no object below this prefix.")
    names = [f"s3://{parts.netloc}/{key}" for key in keys]
    if other := next((name for name in names if not name.endswith(READ)), ""):
        raise JobFailed(f"simulation: {other} is none of {', '.join(READ)}, which are read here.")
    return [(name, object_at(session, name)) for name in names]


def values(content: bytes, name: str) -> list[Any]:
    """The JSON values of a file: one on each line, or those of a list.

    Raises:
        JobFailed: it is something else.
    """
    try:
        if name.endswith(".json"):
            found = json.loads(content)
            return found if isinstance(found, list) else [found]
        return [json.loads(line) for line in content.splitlines() if line.strip()]
    except (ValueError, RecursionError):
        raise JobFailed(f"{name} is not JSON in UTF-8.") from None


def _row(row: Any, where: str) -> Row:
    """A row of either kind with `messages` and `reference_answer`."""
    if not isinstance(row, dict):
        raise JobFailed(f"{where}: it is not a JSON object.")
    further = {name: value for name, value in row.items() if name not in PROMPT}
    turns = row.get("prompt", row.get("messages"))
    if isinstance(turns, str):
        turns = [{"role": "user", "content": turns}]
    truth = row.get("reference_answer")
    paid = row.get("reward_model")
    if truth is None and isinstance(paid, dict):
        truth = paid.get("ground_truth")
    found = further | {"messages": turns}
    return found | ({} if truth is None else {"reference_answer": truth})
