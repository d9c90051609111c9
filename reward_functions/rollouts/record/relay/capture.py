"""The tokens in an engine's replies: kept as it gave them, or not at all.

| what the engine gave | what is kept |
| --- | --- |
| nothing | None |
| a list with a null, or with what is no id or no log-probability | None, with a reason |
| log-probabilities without ids | None, with a reason |
| as many ids as log-probabilities, and as its usage counts | a `TokenTrace` |
| another number of them | marked: nothing of them is kept, and `Session.traces` refuses |

Nothing is repaired: a list that is cut or padded gives one token the probability of another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.rollouts.record.types import MISALIGNED, TokenTrace
from reward_functions.rollouts.request.errors import MisalignedTokens

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MOST_ID: Final = 2**31
"""Ids are below: engines and trainers keep them in 32 bits."""

ID_BYTES: Final = 7
LOGPROB_BYTES: Final = 20


class Captured(NamedTuple):
    """The tokens of one answer.

    Args:
        trace: None where there are none.
        reason: why something is missing that the engine began to give; "" where nothing is.
    """

    trace: TokenTrace | None
    reason: str = ""

    @property
    def size(self) -> int:
        """About as many bytes as it takes as JSON."""
        trace = self.trace or TokenTrace()
        ids = len(trace.prompt_ids or ()) + len(trace.completion_ids or ())
        return ID_BYTES * ids + LOGPROB_BYTES * len(trace.logprobs or ())


class TokenCapture:
    """Gathers the tokens of one answer from a completion, or from the chunks of a stream."""

    def __init__(self) -> None:
        self._prompt: list[Any] | None = None
        self._ids: list[Any] | None = None
        self._logprobs: list[Any] | None = None

    def add(self, reply: Mapping[str, Any]) -> None:
        """What a completion, or a chunk of one, says of its tokens."""
        self._prompt = _first(self._prompt, reply.get("prompt_token_ids"))
        for choice in reply.get("choices") or ():
            self._prompt = _first(self._prompt, choice.get("prompt_token_ids"))
            pairs = _pairs(choice)
            if pairs is None:
                self._ids = _more(self._ids, choice.get("token_ids"))
                self._logprobs = _more(self._logprobs, _openai_logprobs(choice))
            else:
                self._logprobs = _more(self._logprobs, [pair[0] for pair in pairs])
                self._ids = _more(self._ids, [pair[1] for pair in pairs])

    def captured(self, counted: int | None) -> Captured:
        """What is kept of them.

        Args:
            counted: the tokens that the engine says it wrote; None where it does not.
        """
        gaps: list[str] = []
        prompt = _checked(self._prompt, _is_id, "the prompt's ids", gaps)
        ids = _checked(self._ids, _is_id, "the ids", gaps)
        logprobs = _checked(self._logprobs, _is_number, "the log-probabilities", gaps)
        if ids is None and logprobs is not None:
            logprobs = None
            gaps.append("log-probabilities came without ids")
        if ids is not None and counted is not None and len(ids) != counted:
            return Captured(None, f"{MISALIGNED}: {len(ids)} ids for {counted} counted tokens")
        if prompt is None and ids is None:
            return Captured(None, "; ".join(gaps))
        try:
            trace = TokenTrace(
                prompt_ids=prompt,
                completion_ids=ids,
                logprobs=None if logprobs is None else tuple(map(float, logprobs)),
            )
        except MisalignedTokens as error:
            return Captured(None, f"{MISALIGNED}: {error}")
        return Captured(trace, "; ".join(gaps))


def _pairs(choice: Mapping[str, Any]) -> list[Any] | None:
    """SGLang's: a list of log-probability, id and text."""
    info = choice.get("meta_info")
    pairs = info.get("output_token_logprobs") if isinstance(info, dict) else None
    if not isinstance(pairs, list):
        return None
    return [pair if isinstance(pair, list) and len(pair) > 1 else (None, None) for pair in pairs]


def _openai_logprobs(choice: Mapping[str, Any]) -> list[Any] | None:
    logprobs = choice.get("logprobs")
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    if not isinstance(content, list):
        return None
    return [each.get("logprob") if isinstance(each, dict) else None for each in content]


def _first(known: list[Any] | None, given: Any) -> list[Any] | None:
    return given if known is None and isinstance(given, list) else known


def _more(known: list[Any] | None, given: Any) -> list[Any] | None:
    if not isinstance(given, list):
        return known
    if known is None:
        return list(given)
    known += given
    return known


def _checked(
    values: list[Any] | None, valid: Callable[[Any], bool], what: str, gaps: list[str]
) -> tuple[Any, ...] | None:
    """The whole list, or None where one entry is not valid."""
    if values is None:
        return None
    if not all(map(valid, values)):
        gaps.append(f"one of {what} is null or not valid")
        return None
    return tuple(values)


def _is_id(value: Any) -> bool:
    return type(value) is int and 0 <= value < MOST_ID


def _is_number(value: Any) -> bool:
    return type(value) in {int, float} and -1e300 < value < 1e300  # noqa: PLR2004 - JSON's 1e999
