"""What adapters of hosts with rows of their own share: one sample at a time, its fields by name.

A host names its own rows: a mapping, a pydantic model, a dataclass. A place in one is a dotted path
such as `info.answer`, which walks keys and public attributes and never evaluates anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from reward_functions.adapters._scoring import Bound, bound
from reward_functions.core.batch import score_batch
from reward_functions.core.errors import BadReference, BadSample, ConfigurationError
from reward_functions.core.function_calls import calls_in
from reward_functions.core.spec import Scale
from reward_functions.core.types import ASSISTANT_ROLES, Message, Sample, Scored, Unscored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from reward_functions.adapters._scoring import Judges
    from reward_functions.core.spec import RewardFunction
    from reward_functions.core.types import FunctionCall, RewardResult, Score

REFERENCES: Final = ("reference_answer", "answer", "solution", "ground_truth")
"""Where a reference is looked for when nobody names its field, first match first."""

REASONING: Final = frozenset({"reasoning", "thinking", "redacted_thinking"})
"""Types of content blocks that hold what a model thought and not what it answered."""

MISSING: Final = object()


def single(
    host: str,
    reward: str | RewardFunction,
    parameters: Mapping[str, Any],
    name: str | None,
    judge: Judges | None,
) -> Bound:
    """A reward for a host that scores one response at a time; each is a batch of its own.

    Raises:
        ConfigurationError: the reward cannot be had (see `bound`), or compares the responses of a
            group, of which the host shows one.
    """
    found = bound(reward, parameters, name, judge=judge)
    if found.spec and found.spec.needs.group:
        raise ConfigurationError(
            f"{found.name} compares the responses to one prompt, and {host} shows one at a time"
        )
    return found


def scale_of(reward: Bound) -> Scale:
    """The range of a reward's values; 0 to 1 without a declaration."""
    return reward.spec.scale if reward.spec else Scale()


def threads_of(reward: Bound) -> int:
    """How many of its samples are scored at once: one where it computes, many where it waits."""
    return reward.spec.needs.workers if reward.spec else 1


def reported(reward: Bound, score: Score) -> dict[str, float]:
    """A score's metrics by names that say which reward they are of, such as `math/answered`."""
    return {f"{reward.name}/{metric.name}": metric.value for metric in score.metrics}


def outcome(reward: Bound, sample: Sample, looked: Iterable[str] | None = None) -> RewardResult:
    """One sample scored.

    Args:
        reward: as `single` returns it.
        sample: to score.
        looked: the fields of the row, where none of `REFERENCES` was among them; a reward that
            misses a reference says so.
    """
    (result,) = score_batch(reward.for_batch(), [sample], workers=1)
    return explained(result, looked)


def explained(result: RewardResult, looked: Iterable[str] | None) -> RewardResult:
    """The result, which names the fields there are where a reward missed its reference."""
    if looked is None or not isinstance(result, Unscored):
        return result
    if isinstance(result.error, BadReference):
        names = ", ".join(sorted(looked)) or "none"
        found = f"the fields are {names}: name it by reference=…"
        return Unscored(result.id, BadReference(f"{result.error}; {found}"))
    return result


def score_of(result: RewardResult) -> Score:
    """The score of a result; raises what kept it from being scored."""
    if isinstance(result, Scored):
        return result.score
    raise result.error


def at(source: Any, path: str) -> Any:
    """What a dotted path leads to in a row; `MISSING` where it leads nowhere."""
    for step in path.split("."):
        if isinstance(source, Mapping):
            source = source.get(step, MISSING)
        elif step.startswith("_"):
            return MISSING
        else:
            source = getattr(source, step, MISSING)
        if source is MISSING or callable(source):
            return MISSING
    return source


def fields_of(source: Any) -> dict[str, Any]:
    """The fields of a row by name: of a mapping its keys, of an object its public attributes."""
    if isinstance(source, Mapping):
        return {str(key): value for key, value in source.items()}
    found = {**getattr(source, "__dict__", {}), **(getattr(source, "model_extra", None) or {})}
    return {name: value for name, value in found.items() if not name.startswith("_")}


def reference_in(source: Any, path: str | None) -> tuple[Any, tuple[str, ...] | None]:
    """The reference of a row, and the row's fields where nobody named one and none was found.

    Raises:
        BadSample: the path that was named leads nowhere.
    """
    if path is not None:
        found = at(source, path)
        if found is MISSING:
            known = ", ".join(sorted(fields_of(source))) or "none"
            raise BadSample(f"there is no field {path!r}; the fields are {known}")
        return found, None
    for name in REFERENCES:
        found = at(source, name)
        if found is not MISSING and found is not None:
            return found, None
    return None, tuple(fields_of(source))


def text_of(content: Any) -> str:
    """The text of a message's content: a string, or its parts without reasoning and images.

    Raises:
        BadSample: it is neither.
    """
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, Mapping) or not isinstance(content, Sequence):
        content = [content]
    return "\n".join([text for part in content if (text := _part(part)) is not None])


def _part(part: Any) -> str | None:
    """The text of one part of a message; None of a part that holds none."""
    if isinstance(part, str):
        return part
    if at(part, "type") in REASONING:
        return None
    text = at(part, "text")
    if text is MISSING and at(part, "type") is MISSING:
        raise BadSample(f"a message's content holds {type(part).__name__}, not text")
    return text if isinstance(text, str) else None


def messages_of(prompt: Any) -> tuple[Message, ...]:
    """A prompt as messages: a string is what the user says, a list is a conversation.

    Raises:
        BadSample: it is neither, or a message has no role.
    """
    if prompt is None:
        return ()
    if isinstance(prompt, str):
        return (Message(role="user", content=prompt),)
    if isinstance(prompt, Mapping) or not isinstance(prompt, Sequence):
        raise BadSample(f"the prompt is {type(prompt).__name__}, not text or a list of messages")
    return tuple([_message(turn) for turn in prompt])


def _message(turn: Any) -> Message:
    role = at(turn, "role")
    if not isinstance(role, str):
        raise BadSample("a message of the prompt has no role")
    content = at(turn, "content")
    return Message(role, text_of(None if content is MISSING else content), calls_of(turn))


def calls_of(turn: Any) -> tuple[FunctionCall, ...]:
    """The calls of tools of a message, which is a mapping or an object of the host's."""
    content, calls = at(turn, "content"), at(turn, "tool_calls")
    if isinstance(calls, list | tuple):
        calls = [each if isinstance(each, Mapping) else _called(each) for each in calls]
    return calls_in({"content": content, "tool_calls": None if calls is MISSING else calls})


def _called(call: Any) -> dict[str, Any]:
    """A call as a mapping: the tool's name is `function` to Inspect, `name` to others."""
    place = "function." if at(call, "function.name") is not MISSING else ""
    name = at(call, f"{place}name")
    if name is MISSING:
        name = at(call, "function")
    return {"name": name, "arguments": at(call, f"{place}arguments")}


def last_calls(turns: tuple[Message, ...]) -> tuple[FunctionCall, ...]:
    """The calls of the last turn that the policy wrote."""
    written = [turn.tool_calls for turn in turns if turn.role in ASSISTANT_ROLES]
    return written[-1] if written else ()


def before_the_response(turns: tuple[Message, ...]) -> tuple[Message, ...]:
    """A conversation up to the last turn that the policy wrote; whole where it wrote none."""
    for index in reversed(range(len(turns))):
        if turns[index].role in ASSISTANT_ROLES:
            return turns[:index]
    return turns


def sampled(
    id: str,  # noqa: A002 - the wire's own word
    context: tuple[Message, ...],
    response: Any,
    reference: Any,
    metadata: Mapping[str, Any],
    *,
    calls: tuple[FunctionCall, ...] = (),
) -> Sample:
    """A sample of a host's parts; the calls stand beside the response.

    Raises:
        BadSample: the response is not text.
    """
    turns = (*context, Message("assistant", text_of(response), calls))
    return Sample(id=id, messages=turns, reference=reference, metadata=metadata)


def by_name(module: str, name: str, make: Callable[[str], Any]) -> Any:
    """A registered reward as an attribute of an adapter, for hosts that import what a file names.

    Raises:
        AttributeError: Python asks for an attribute of its own.
        UnknownReward: there is no such reward; the message suggests the nearest.
    """
    if name.startswith("_"):
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    return make(name)
