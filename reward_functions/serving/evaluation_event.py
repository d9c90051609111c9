"""The rows of SageMaker's evaluation jobs, which hold no conversation to score.

| job | a row | read by |
|---|---|---|
| custom scorer, open weights | `query`, `model_response`, `response` (gold), … | this module |
| custom scorer, Nova, `lambda_type=rft` | as of training, told from it by nothing | `contract` |
| Nova, `lambda_type=custom_metrics` | an event of its own | `nova_metrics` |

A row without `messages` is known by its keys, one by one, so that one list may hold both kinds. The
model's answer is `model_response`; `response` is what the data set expects.

No other caller sends such rows, and their job reads nothing but an envelope: it refuses a body that
is no text. An event that holds them and no row of training is therefore answered in one, in every
mode of the deployment.

`metadata.reference_answer` goes before the gold text: a data set of SageMaker holds no other
reference than a string, and `reward data convert --to sagemaker-eval` keeps any other there, whole.

Source: `custom-scorer-evaluation-dataset-formats.md`, `reward_function_source_template.py` and
`custom-lambda-scorer.md` of awslabs/agent-plugins (plugins/sagemaker-ai). Never run on AWS.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.core.errors import BadSample
from reward_functions.core.function_calls import calls_in
from reward_functions.core.jsons import json_kind
from reward_functions.core.types import Message, Sample, Unscored

if TYPE_CHECKING:
    from collections.abc import Iterable

REASONING: Final = frozenset({"reasoning", "thinking", "redacted_thinking"})
"""Types of content blocks that hold what a model thought and not what it answered."""


def message(turn: Any, where: str) -> Message:
    """One turn of a conversation.

    Args:
        turn: decoded JSON.
        where: its place in the row, for the error.

    Raises:
        BadSample: it is no message. The message never quotes the row.
    """
    if not isinstance(turn, dict):
        raise BadSample(f"{where} is {json_kind(turn)}, not an object")
    role, content = turn.get("role"), turn.get("content")
    if not isinstance(role, str):
        raise BadSample(f"{where}.role is {json_kind(role)}, not a string")
    calls = calls_in(turn)
    if not isinstance(content, str):
        content = text(content, f"{where}.content")
    return Message(role, content, calls)


def text(content: Any, where: str) -> str:
    """The text of a content, reasoning apart; other kinds of blocks hold none, and null is "".

    Raises:
        BadSample: it has no such form.
    """
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        blocks = [_block_text(block, f"{where}[{at}]") for at, block in enumerate(content)]
        return "\n".join([each for each in blocks if each is not None])
    if isinstance(content, dict) and "text" not in content and not _is_reasoning(content):
        raise BadSample(f"{where} is an object without text")
    return _block_text(content, where) or ""


def _block_text(block: Any, where: str) -> str | None:
    """The text of one content block; None where blocks of its kind hold none."""
    if isinstance(block, str):
        return block
    if isinstance(block, dict):
        if "text" not in block or _is_reasoning(block):
            return None
        block, where = block["text"], f"{where}.text"
    if block is None or isinstance(block, str):
        return block
    raise BadSample(f"{where} is {json_kind(block)}, not a string")


def _is_reasoning(block: dict[str, Any]) -> bool:
    kind = block.get("type")
    return "reasoningContent" in block or (isinstance(kind, str) and kind in REASONING)


class Keys(NamedTuple):
    """The names of the parts of one answer.

    Args:
        prompt: the question, as text.
        answer: the model's.
        gold: what the data set expects, as text.
    """

    prompt: str
    answer: str
    gold: str


ANSWER: Final = "model_response"

CUSTOM_SCORER: Final = Keys("query", ANSWER, "response")

MARKS: Final = frozenset({CUSTOM_SCORER.prompt, CUSTOM_SCORER.answer})
"""Keys that a row of an evaluation has, and one of training without messages has not."""

OTHER: Final = frozenset(
    {"id", "messages", "system", "reference_answer", "metadata", "processor_config"}
)
"""Further keys with a meaning, and `processor_config`, which is the job's own: what else a row
holds is metadata."""


EMPTY: Final[tuple[Any, ...]] = (None, "", {}, [])
"""What is no reference: a data set of SageMaker has to hold one."""


def is_evaluation(row: dict[str, Any]) -> bool:
    """Whether a row holds no conversation and a key of an evaluation."""
    return not row.get("messages") and not MARKS.isdisjoint(row)


def names_evaluation(rows: Iterable[Any]) -> bool:
    """Whether an event's rows name their caller: one or more of an evaluation, none of training.

    Args:
        rows: decoded JSON. A value that is no object names nobody.
    """
    kinds = {is_evaluation(row) for row in rows if isinstance(row, dict)}
    return kinds == {True}


def decoded(row: dict[str, Any], name: str, keys: Keys = CUSTOM_SCORER) -> Sample | Unscored:
    """One row of an evaluation; an `Unscored` with a `BadSample` that names what is wrong with it.

    Args:
        row: of decoded JSON.
        name: the sample's id.
        keys: what its parts are called.
    """
    try:
        messages = _messages(row, keys)
    except BadSample as error:
        return Unscored(name, error)
    metadata = row.get("metadata")
    if not isinstance(metadata, dict):
        metadata = {}
    reference = _reference(row, metadata, keys)
    known = OTHER.union(keys)
    if not row.keys() <= known:
        metadata = {key: row[key] for key in row if key not in known} | metadata
    return Sample(id=name, messages=messages, reference=reference, metadata=metadata)


def _messages(row: dict[str, Any], keys: Keys) -> tuple[Message, ...]:
    """`system` where it is not empty, the question, and the answer; a null one is empty."""
    for needed in (keys.prompt, keys.answer):
        if needed not in row:
            raise BadSample(f"{needed} is missing")
    system = text(row.get("system"), "system")
    opening = (Message(role="system", content=system),) if system else ()
    answer = {"content": row[keys.answer]}
    return (
        *opening,
        Message(role="user", content=text(row[keys.prompt], keys.prompt)),
        Message("assistant", text(row[keys.answer], keys.answer), calls_in(answer)),
    )


def _reference(row: dict[str, Any], metadata: dict[str, Any], keys: Keys) -> Any:
    """The ground truth: of the metadata, else of `reference_answer`, else the gold text.

    Null where each of them is `EMPTY`.
    """
    given = row.get("reference_answer")
    if isinstance(given, dict) and given.keys() == {"text"}:
        given = given["text"]
    for each in (metadata.get("reference_answer"), given, row.get(keys.gold)):
        if each not in EMPTY:
            return each
    return None
