"""Signs that a response was cut off before its end: an estimate, sign by sign.

A service that says so is certain; what a text shows is likely. A response that stops between two
words without any of these is not found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.extraction.truncation import in_fence, in_reasoning

if TYPE_CHECKING:
    from collections.abc import Callable

    from reward_functions.core.types import Sample
    from reward_functions.reports.score_report.batch import Batch

STOPPED: Final = frozenset({"length", "max_tokens", "max_output_tokens", "max_completion_tokens"})
"""What services call the end that a limit of tokens sets, in lower case."""

STOP_FIELDS: Final = ("finish_reason", "stop_reason", "stopReason", "finishReason")
"""Where a row says why its response ended: OpenAI's, Anthropic's, Bedrock's and Google's names."""

BOX: Final = "\\boxed{"
LAST: Final = 2_000
"""Characters from a box on that are read for its end."""


class Signal(NamedTuple):
    """A sign.

    Args:
        name: what it is, as the page has it.
        shown: whether a sample has it.
    """

    name: str
    shown: Callable[[Sample], bool]


def _stopped(sample: Sample) -> bool:
    for field in STOP_FIELDS:
        reason = sample.metadata.get(field)
        if isinstance(reason, str) and reason.lower() in STOPPED:
            return True
    return False


def _reasoning(sample: Sample) -> bool:
    return in_reasoning(sample.response)


def _box(sample: Sample) -> bool:
    response = sample.response
    start = response.rfind(BOX)
    if start < 0:
        return False
    behind = response[start : start + LAST + 1].replace("\\{", "").replace("\\}", "")
    return len(response) - start <= LAST and _never_closed(behind)


def _never_closed(text: str) -> bool:
    depth = 0
    for char in text:
        depth += (char == "{") - (char == "}")
        if char == "}" and not depth:
            return False
    return True


def _fence(sample: Sample) -> bool:
    response = sample.response
    return ("```" in response or "~~~" in response) and in_fence(response)


SIGNALS: Final = (
    Signal("the row says that a limit of tokens ended it", _stopped),
    Signal("a reasoning section is never closed", _reasoning),
    Signal("a box is never closed", _box),
    Signal("a code fence is never closed", _fence),
)


def truncated(batch: Batch) -> dict[str, list[int]]:
    """The scored rows that show each sign; one may show several."""
    found: dict[str, list[int]] = {signal.name: [] for signal in SIGNALS}
    for at in batch.scored:
        sample = batch.sample(at)
        for signal in SIGNALS:
            if signal.shown(sample):
                found[signal.name].append(at)
    return found
