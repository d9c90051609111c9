"""What the log of a grader says of one job: errors, and how its invocations ended.

Lambda writes them in two formats:

    text   REPORT RequestId: … Duration: 3000.00 ms … Max Memory Used: 84 MB  Status: timeout
           [ERROR] ValueError: …          RequestId: … Error: Task timed out after 3.00 seconds
    JSON   {"type": "platform.report", "record": {"status": "timeout", "metrics": {…}}}
           {"level": "ERROR", "message": …, "errorType": …, "errorMessage": …}

Sources: "Log and monitor Python Lambda functions" and the "Telemetry API event schema" in the
Lambda developer guide; "Filter pattern syntax" in the CloudWatch Logs user guide.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reward_functions.jobs.grader_lines import JobLines

QUERIES: Final = ("ERROR", '"Task timed out"', '"Runtime exited"', "REPORT", '"platform.report"')
"""Filter patterns, one call each: a term, or a phrase in quotes."""

ERRORS: Final = 5
"""Different errors that are kept."""

SHOWN: Final = 300
"""Characters of an error that are kept; what follows is a stack trace."""

FIELDS: Final = {
    "milliseconds": re.compile(
        r"(?<!Billed )(?<!Init )\bDuration: ([0-9]{1,9}(?:\.[0-9]{1,9})?) ms"
    ),
    "memory_size": re.compile(r"\bMemory Size: ([0-9]{1,6}) MB"),
    "memory_used": re.compile(r"\bMax Memory Used: ([0-9]{1,6}) MB"),
}
"""Numbers of a REPORT line."""

STATUS: Final = re.compile(r"\bStatus: ([a-z]{1,20})")
ERROR_TYPE: Final = re.compile(r"\bError Type: ([A-Za-z0-9_.]{1,80})")
REQUEST: Final = re.compile(r"(?:RequestId: )?[0-9a-f]{8}-[0-9a-f-]{27}[:\s]*")
STAMP: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,15}Z\s*")


@dataclass(slots=True)
class GraderLog:
    """What the log says of a job's invocations.

    Args:
        invocations: that ended, as far as they are reported.
        endings: how often each ended otherwise than well: "timeout", or an error's type.
        errors: the first lines of errors, by how often.
        seconds: the longest invocation.
        memory_used: megabytes at most.
        memory_size: megabytes that the function has; 0 where nothing was reported.
        complete: whether every line was read.
    """

    invocations: int = 0
    endings: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    memory_used: float = 0.0
    memory_size: float = 0.0
    complete: bool = True

    def report(self, record: Mapping[str, Any]) -> None:
        """Count one invocation that ended."""
        self.invocations += 1
        if record["ending"]:
            self.endings[record["ending"]] += 1
        self.seconds = max(self.seconds, record["milliseconds"] / 1000)
        self.memory_used = max(self.memory_used, record["memory_used"])
        self.memory_size = max(self.memory_size, record["memory_size"])


def endings(lines: JobLines) -> GraderLog:
    """Read how the invocations of a job ended, and what errors they wrote.

    Raises:
        AwsFailed: there is no log, or it may not be read (`logs:FilterLogEvents`).
    """
    found = GraderLog()
    for line in lines.matching(*QUERIES):
        _note(found, line.message)
    found.complete = lines.complete
    return found


def _note(found: GraderLog, message: str) -> None:
    """Count one line: a report of an invocation, or an error."""
    try:
        written = json.loads(message)
    except (ValueError, RecursionError):
        written = None
    if isinstance(written, dict):
        _note_json(found, written)
    elif message.startswith("REPORT"):
        found.report(_reported(message))
    else:
        _note_error(found, message)


def _note_json(found: GraderLog, written: dict[str, Any]) -> None:
    if written.get("type") == "platform.report":
        record = written.get("record")
        found.report(_recorded(record if isinstance(record, dict) else {}))
    elif "errorType" in written:
        _note_error(found, f"{written['errorType']}: {written.get('errorMessage', '')}")
    elif written.get("level") == "ERROR":
        _note_error(found, str(written.get("message", "")))


def _note_error(found: GraderLog, message: str) -> None:
    line = STAMP.sub("", REQUEST.sub("", message.strip()[: 2 * SHOWN])).partition("\n")[0].strip()
    if line and (line in found.errors or len(found.errors) < ERRORS):
        found.errors[line[:SHOWN]] += 1


def _reported(line: str) -> dict[str, Any]:
    """What a REPORT line says."""
    numbers = {name: FIELDS[name].search(line) for name in FIELDS}
    status, error = STATUS.search(line), ERROR_TYPE.search(line)
    ending = (error or status or [None, ""])[1]
    return {name: float(found[1]) if found else 0.0 for name, found in numbers.items()} | {
        "ending": "" if ending == "success" else ending
    }


def _recorded(record: Mapping[str, Any]) -> dict[str, Any]:
    """What a record of `platform.report` says."""
    metrics = record.get("metrics")
    metrics = metrics if isinstance(metrics, dict) else {}
    status, error = record.get("status", "success"), record.get("errorType")
    return {
        "milliseconds": _number(metrics.get("durationMs")),
        "memory_size": _number(metrics.get("memorySizeMB")),
        "memory_used": _number(metrics.get("maxMemoryUsedMB")),
        "ending": "" if status == "success" else str(error or status)[:SHOWN],
    }


def _number(value: Any) -> float:
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if plain and 0 <= value < 1e9 else 0.0  # noqa: PLR2004 - bounded
