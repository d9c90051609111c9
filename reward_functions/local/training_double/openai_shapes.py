"""Bodies of the OpenAI-compatible API against tables: what is required, and of which type.

Sources: "Create a fine-tuning job with the OpenAI APIs" in the Bedrock user guide for what Bedrock
takes and adds (`lambda` graders, no `suffix`, no role); OpenAI's API reference for everything else.
The ranges of the hyperparameters are not documented; whole numbers and positive ones are.

Lists of the OpenAI-compatible API: pages by `limit` and `after`, moments in whole seconds.
"""

from __future__ import annotations

import re
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reward_functions.core.jsons import json_kind
from reward_functions.local.loopback_service.requests import BadAnswer, invalid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime


class Field(NamedTuple):
    """A row of a table.

    Args:
        types: of the JSON value; None where null is one of them.
        required: whether it must be there.
        fields: of an object, by name.
        items: of each element of a list.
        only: the values it may have; any where empty.
        check: what else holds, and its name.
    """

    types: tuple[type | None, ...]
    required: bool = True
    fields: dict[str, Field] | None = None
    items: Field | None = None
    only: tuple[str, ...] = ()
    check: tuple[Callable[[Any], bool], str] | None = None


def _text(*only: str, required: bool = True) -> Field:
    return Field((str,), required, only=only)


def _maybe(*types: type) -> Field:
    return Field((*types, None), required=False)


def _object(required: bool = True, **fields: Field) -> Field:  # noqa: FBT001, FBT002 - a table
    return Field((dict,), required, fields=fields)


def _between(least: float, most: float) -> tuple[Callable[[Any], bool], str]:
    return lambda value: least <= value <= most, f"from {least} to {most}"


POSITIVE: Final = (lambda value: value > 0, "positive, or `auto`")

WHOLE: Final = Field((int, str), required=False, check=POSITIVE)
NUMBER: Final = Field((int, float, str), required=False, check=POSITIVE)

HYPERPARAMETERS: Final = _object(
    required=False, n_epochs=WHOLE, batch_size=WHOLE, learning_rate_multiplier=NUMBER
)
GRADER: Final = Field(
    (dict,), fields={"type": _text("lambda"), "lambda": _object(function=_text())}
)
METHOD: Final = _object(
    type=_text("reinforcement"),
    reinforcement=_object(grader=GRADER, hyperparameters=HYPERPARAMETERS),
)
CREATE_JOB: Final = _object(
    model=_text(),
    training_file=_text(),
    validation_file=_maybe(str),
    method=METHOD,
    seed=_maybe(int),
    metadata=_maybe(dict),
)

TURN: Final = _object(
    role=_text("system", "developer", "user", "assistant", "tool"),
    content=Field((str, list)),
    name=_maybe(str),
)
CHAT: Final = _object(
    model=_text(),
    messages=Field((list,), items=TURN),
    temperature=Field((int, float, None), False, check=_between(0, 2)),
    top_p=_maybe(int, float),
    max_tokens=_maybe(int),
    max_completion_tokens=_maybe(int),
    n=Field((int, None), False, check=_between(1, 128)),
    seed=_maybe(int),
    stop=_maybe(str, list),
    stream=Field((bool, None), False, check=(lambda stream: not stream, "false (simulation)")),
    reasoning_effort=_maybe(str),
    user=_maybe(str),
)

FILE: Final = _object(
    id=_text(),
    object=_text("file"),
    bytes=Field((int,)),
    created_at=Field((int,)),
    filename=_text(),
    purpose=_text("fine-tune"),
    status=_text("uploaded", "processed", "error"),
)
ERROR: Final = Field(
    (dict, None), fields={"code": _text(), "message": _text(), "param": _maybe(str)}
)
JOB: Final = _object(
    id=_text(),
    object=_text("fine_tuning.job"),
    created_at=Field((int,)),
    finished_at=Field((int, None)),
    model=_text(),
    fine_tuned_model=Field((str, None)),
    organization_id=_text(),
    status=_text("validating_files", "queued", "running", "succeeded", "failed", "cancelled"),
    training_file=_text(),
    validation_file=Field((str, None)),
    result_files=Field((list,), items=_text()),
    trained_tokens=Field((int, None)),
    seed=Field((int,)),
    error=ERROR,
    hyperparameters=HYPERPARAMETERS,
    method=METHOD,
    metadata=_maybe(dict),
)
EVENT: Final = _object(
    id=_text(),
    object=_text("fine_tuning.job.event"),
    created_at=Field((int,)),
    level=_text("info", "warn", "error"),
    type=_text("message", "metrics"),
    message=_text(),
    data=Field((dict,)),
)
CHECKPOINT: Final = _object(
    id=_text(),
    object=_text("fine_tuning.job.checkpoint"),
    created_at=Field((int,)),
    fine_tuned_model_checkpoint=_text(),
    fine_tuning_job_id=_text(),
    step_number=Field((int,)),
    metrics=Field((dict,)),
)
MODEL: Final = _object(id=_text(), object=_text("model"), created=Field((int,)), owned_by=_text())
COMPLETION: Final = _object(
    id=_text(),
    object=_text("chat.completion"),
    created=Field((int,)),
    model=_text(),
    choices=Field(
        (list,),
        items=_object(
            index=Field((int,)),
            finish_reason=_text("stop", "length"),
            message=_object(role=_text("assistant"), content=_text(), refusal=_maybe(str)),
            logprobs=_maybe(dict),
        ),
    ),
    usage=_object(
        prompt_tokens=Field((int,)), completion_tokens=Field((int,)), total_tokens=Field((int,))
    ),
)
DELETED: Final = _object(id=_text(), object=_text("file"), deleted=Field((bool,)))


def listed(item: Field) -> Field:
    """A page of a list."""
    return _object(
        object=_text("list"),
        data=Field((list,), items=item),
        has_more=Field((bool,)),
        first_id=_maybe(str),
        last_id=_maybe(str),
    )


def require_request(field: Field, body: Any) -> None:
    """Nothing, where a request is as the table has it.

    Raises:
        Refused: it is not; the first field that is wrong is named.
    """
    for where, problem in _problems(field, body, ""):
        raise invalid(f"Invalid value for '{where}': {problem}", where)


def require_answer(field: Field, body: Any) -> None:
    """The same for what the double is about to answer.

    Raises:
        BadAnswer: it is not.
    """
    for where, problem in _problems(field, body, ""):
        raise BadAnswer(f"'{where}': {problem}")


def _problems(field: Field, value: Any, where: str) -> Iterator[tuple[str, str]]:
    """The path of each value that is wrong, and what is."""
    if value is None and None in field.types:
        return
    types = tuple(each for each in field.types if each is not None)
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        yield where, f"{json_kind(value)} is not of its type"
    elif isinstance(value, float) and not isfinite(value):
        yield where, "it is not finite"
    elif field.only and value not in field.only:
        yield where, f"one of {', '.join(field.only)} is taken"
    elif field.check and not _holds(field.check[0], value):
        yield where, f"it must be {field.check[1]}"
    elif isinstance(value, dict) and field.fields is not None:
        yield from _fields(field.fields, value, where)
    elif isinstance(value, list) and field.items is not None:
        for number, each in enumerate(value):
            yield from _problems(field.items, each, f"{where}[{number}]")


def _holds(check: Callable[[Any], bool], value: Any) -> bool:
    """A check of a number; the only string in the place of one is `auto`."""
    return value == "auto" if isinstance(value, str) else check(value)


def _fields(
    fields: dict[str, Field], value: dict[str, Any], where: str
) -> Iterator[tuple[str, str]]:
    prefix = f"{where}." if where else ""
    for name in value.keys() - fields.keys():
        yield f"{prefix}{name[:64]}", "there is no such parameter"
    for name, field in fields.items():
        if name in value:
            yield from _problems(field, value[name], f"{prefix}{name}")
        elif field.required:
            yield f"{prefix}{name}", "it is required"


DEFAULT: Final = 20
"""Items of a page that nobody limits: OpenAI's reference."""

MOST: Final = 100


def seconds(moment: datetime) -> int:
    """A moment as OpenAI writes it: seconds since 1970."""
    return int(moment.timestamp())


def page_of(items: Sequence[dict[str, Any]], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """One page of a list.

    Args:
        items: all of it, each with its `id`.
        parameters: `limit`, and `after`, the id of the last item of the page before.

    Raises:
        Refused: the limit is not a number from 1 to 100, or no item has the id.
    """
    limit, after = parameters.get("limit", str(DEFAULT)), parameters.get("after")
    if not (re.fullmatch(r"[0-9]{1,3}", limit) and 1 <= int(limit) <= MOST):
        raise invalid(f"Invalid value for 'limit': a number from 1 to {MOST} is taken", "limit")
    start = 0
    if after:
        places = [at for at, item in enumerate(items, 1) if item["id"] == after]
        if not places:
            raise invalid(f"Invalid value for 'after': no item has the id {after[:64]}", "after")
        start = places[0]
    shown = items[start : start + int(limit)]
    return {
        "object": "list",
        "data": [*shown],
        "has_more": start + len(shown) < len(items),
        "first_id": shown[0]["id"] if shown else None,
        "last_id": shown[-1]["id"] if shown else None,
    }
