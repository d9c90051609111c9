"""A reward function is asked for the rewards of samples, and its answer is checked.

    samples → checked → one call for all of them → the answer, unwrapped → a row an output → verdict

The common part of both published verifiers. The dict is theirs: `success`, `results`,
`total_samples`, `successful_samples` and `warnings`; a row of `results` has `sample_index`,
`input`, `output`, `status` and `errors`. Nothing of a sample or an output is logged.

**The reward.** A Lambda by its ARN, or a file in a process of its own. A file is the user's own
code. It runs as a Lambda runs it: its neighbours can be imported, what it prints stays out of its
answer, and what it does to its process ends with that.

**A sample**, by the data set rules of amzn-nova-forge 1.4.10:

| field | what it is |
| --- | --- |
| `messages` | a list of at least one; the system message first, and one of the user's |
| `messages[].role` | one of `ROLES`, in any case |
| `messages[].content` | a string or a list, not empty |
| `id` | a string that is not empty, or absent |
| `tools` | functions with a name, a description and parameters of type object; each name once |
| `reference_answer` | a string or an object, not empty, or absent |

**An output**: pydantic's reading of `RewardFunctionOutput`, which takes NaN, `"0.5"`, True and any
id. `strict=True` also refuses what a trainer cannot use:

| refused strictly, which the published verifiers take |
| --- |
| an answer that is no list: a single object, a string, the other envelope |
| three outputs for two samples |
| an id that is missing, of another sample, in another place |
| NaN, infinity, `"0.5"`, True, null as a reward |
| a metric whose value is no finite number, two of one name |
| another answer to the same samples |
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import BaseModel, ValidationError

from reward_functions.core.jsons import json_kind
from reward_functions.rollouts.request.errors import InvalidReward
from reward_functions.rollouts.request.rewards import rewards_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Row = dict[str, Any]
Problem = tuple[str, str]
"""A field, and what is wrong with it."""

RUNNER: Final = Path(__file__).with_name("verifying_runner.py")

LONGEST: Final = 900.0
"""Seconds of a call: the longest of a Lambda."""

LARGEST: Final = 6 * 1024 * 1024
"""Bytes of a request and of an answer: the most of a Lambda that is called and waited for."""

IS_ARN: Final = re.compile(r"arn:aws[a-z-]{0,16}:lambda:")
ARN: Final = re.compile(
    r"arn:aws[a-z-]{0,16}:lambda:(?P<region>[a-z0-9-]{1,32}):[0-9]{12}"
    r":function:(?P<name>[A-Za-z0-9_-]{1,64})(?::[A-Za-z0-9_$-]{1,128})?"
)
"""In any partition, with or without an alias or a version."""

MOST_WORDS: Final = 300
"""Characters of what a user's code raises that an error repeats."""

NAMED: Final = "sagemaker"
"""What the name of a function for HyperPod contains, in any case."""

MOST: Final = 50
"""Errors that a message lists."""

ROLES: Final = frozenset({"system", "user", "assistant", "tool", "bot", "developer"})
MEMBERS: Final = frozenset({"role", "content", "tool_calls", "tool_call_id"})
"""Of a message."""

SUCCESS: Final = 200


class CallFailed(Exception):
    """Nothing came that could be checked. The message is for people."""


class RewardMetric(BaseModel):
    """One metric, or one part of a reward."""

    name: str
    value: int | float
    type: Literal["Metric", "Reward"]


class RewardFunctionOutput(BaseModel):
    """The answer of a reward function for one sample."""

    id: Any
    aggregate_reward_score: int | float
    metrics_list: list[RewardMetric] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """How a function is checked.

    Args:
        function: an ARN of Lambda, or the path of a Python file.
        given: the samples, sent in one call.
        client: makes boto3's client of Lambda, for an ARN.
        formats: whether outputs are looked at.
        envelope: whether the answer is wrapped as open-weight models have it.
        strict: whether the stricter rules hold too; the function is called twice then.
    """

    function: str
    given: Sequence[Any]
    client: Callable[[], Any]
    formats: bool = True
    envelope: bool = False
    strict: bool = False

    def verdict(self, warnings: Sequence[str] = ()) -> dict[str, Any]:
        """The result.

        Raises:
            ValueError: any sample failed; the message lists why.
        """
        try:
            rows = self._rows()
        except CallFailed as error:
            rows = [{"status": "error", "errors": [str(error)]}] if self.given else []
        passed = sum(row["status"] == "success" for row in rows)
        failed = len(self.given) - passed
        if self.strict:  # an output too many hides no other's error
            failed = max(failed, len(rows) - passed)
        if failed > 0:
            raise ValueError(_message(rows, failed, passed, len(self.given)))
        return {
            "success": True,
            "results": rows,
            "total_samples": len(self.given),
            "successful_samples": passed,
            "warnings": list(warnings),
        }

    def _rows(self) -> list[Row]:
        answer = self._answer()
        if not isinstance(answer, list):
            return [_row(0, self.given, answer, [_no_list(answer)] if self.strict else [])]
        rows = [self._checked(index, output) for index, output in enumerate(answer)]
        if self.strict and (wrong := [*self._wrong_as_a_whole(answer)]):
            first = rows[0] if rows else _row(0, self.given, answer, [])
            rows[:1] = [first | {"status": "error", "errors": [*wrong, *first["errors"]]}]
        return rows

    def _answer(self) -> Any:
        """What the function says of the samples, unwrapped."""
        if is_arn(self.function):
            answer = ask_lambda(self.client, self.function, self.given)
        else:
            answer = ask_file(self.function, self.given)
        if isinstance(answer, dict) and {"errorMessage", "errorType"} & answer.keys():
            kind = answer.get("errorType", "Unknown")
            message = answer.get("errorMessage", "Unknown error")
            raise CallFailed(f"Lambda execution error - {kind}: {message}")
        return _unwrapped(answer) if self.envelope else answer

    def _wrong_as_a_whole(self, answer: list[Any]) -> Iterator[str]:
        if len(answer) != len(self.given):
            yield f"there are {len(answer)} outputs for {len(self.given)} samples"
        try:
            second = self._answer()
        except CallFailed:
            second = None
        pairs = enumerate(zip_longest(answer, second if isinstance(second, list) else []))
        # By their JSON: a NaN is another reward than itself.
        if differing := [at for at, (one, other) in pairs if json.dumps(one) != json.dumps(other)]:
            yield f"a second call answers otherwise, first at output {differing[0]}"

    def _checked(self, index: int, output: Any) -> Row:
        sample = self.given[index] if index < len(self.given) else {}
        errors = [*_unlike_theirs(output)] if self.formats else []
        if self.strict:
            errors.extend(f": {each}" for each in _unfit(sample, output))
        return _row(index, sample, output, [f"Output {index}{each}" for each in errors])


# Who is asked.


def is_arn(function: str) -> bool:
    """Whether a function is named by its ARN; else it is a file."""
    return bool(IS_ARN.match(function))


def require_hyperpod_name(function: str) -> None:
    """Refuse a function that HyperPod does not call.

    Raises:
        ValueError: its name does not say SageMaker, or it is no ARN of a function.
    """
    known = ARN.fullmatch(function)
    if known is None:
        raise ValueError(f"Invalid Lambda ARN format: {function}")
    if NAMED not in known["name"].lower():
        raise ValueError(
            f"HyperPod calls functions with 'SageMaker' in the function name, not {known['name']!r}"
        )


def ask_lambda(client: Callable[[], Any], arn: str, samples: Any) -> Any:
    """The answer of a Lambda, decoded.

    Args:
        client: makes boto3's, of Lambda.
        arn: of the function.
        samples: sent in one call.

    Raises:
        CallFailed: the request is too large, AWS does not answer it, or the answer is no JSON.
    """
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - of an extra

    body = _body_of(samples)
    try:
        response = client().invoke(FunctionName=arn, InvocationType="RequestResponse", Payload=body)
        answer = response["Payload"].read()
    except (BotoCoreError, ClientError, OSError) as error:
        raise CallFailed(f"Lambda invocation failed: {error}") from None
    return _decoded(answer, "the answer is not JSON")


def ask_file(path: str | Path, samples: Any, *, seconds: float = LONGEST) -> Any:
    """The answer of a file's `lambda_handler`, called in a process of its own.

    Its standard error is this process's: a traceback stands there.

    Args:
        path: of a Python file.
        samples: as a Lambda gets them.
        seconds: until the process is killed.

    Raises:
        CallFailed: there is no such file, it has no handler, cannot be imported, raises, ends its
            process, takes too long, or answers what is no JSON or too large.
    """
    file = Path(path)
    if not file.is_file():
        raise CallFailed(f"Python file not found: {path}")
    body = _body_of(samples)
    failed = "Handler execution failed"
    with TemporaryDirectory(prefix="reward-verify-") as folder:
        answer = Path(folder) / "answer.json"
        # -P: the runner's own folder is no place that the file's imports are looked for.
        command = [sys.executable, "-P", str(RUNNER), str(file.absolute()), str(answer)]
        try:
            done = subprocess.run(  # noqa: S603 - the user's own file
                command,
                input=body.encode(),
                stdout=subprocess.DEVNULL,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise CallFailed(f"{failed}: no answer in {seconds:g} seconds") from None
        if not answer.exists():
            raise CallFailed(f"{failed}: its process ended with {done.returncode}")
        if answer.stat().st_size > LARGEST:
            raise CallFailed(f"{failed}: its answer has more than {LARGEST:,} bytes")
        given = _decoded(answer.read_bytes(), "the answer is not JSON")
    if "failed" in given:
        raise CallFailed(str(given["failed"])[:MOST_WORDS])
    return given["answer"]


def _body_of(samples: Any) -> str:
    try:
        body = json.dumps(samples)
    except (TypeError, ValueError, RecursionError) as error:
        raise CallFailed(f"the samples are not JSON: {error}") from None
    if len(body) > LARGEST:
        raise CallFailed(f"the samples have more than {LARGEST:,} bytes: send fewer")
    return body


def _decoded(body: bytes | str, otherwise: str) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise CallFailed(otherwise) from None


def _unwrapped(payload: Any) -> Any:
    """What the envelope of open-weight models holds: `{"statusCode": 200, "body": JSON}`."""
    if not isinstance(payload, dict):
        kind = type(payload).__name__
        raise CallFailed(f"OSS reward function returns 'statusCode' and 'body', not {kind}")
    if (status := payload.get("statusCode")) != SUCCESS:
        raise CallFailed(f"OSS reward function returned non-200 status code: {status!r}")
    if (body := payload.get("body")) is None:
        raise CallFailed("OSS reward function returned no 'body'")
    if not isinstance(body, str):
        return body
    return _decoded(body, "OSS reward function 'body' is not valid JSON")


# What is a sample.


def checked_samples(given: Sequence[Any]) -> list[str]:
    """Warnings of samples that have no reference.

    Raises:
        ValueError: any of them is no sample; the message lists why.
    """
    wrong = [
        f"Sample {index}, field '{field}': {what}"
        for index, sample in enumerate(given)
        for field, what in _problems_of(sample)
    ]
    if wrong:
        raise ValueError("Input validation failed with the following errors:\n" + _listed(wrong))
    return [
        f"Sample {index} (id: {sample.get('id', 'unknown')}): No 'reference_answer' provided."
        for index, sample in enumerate(given)
        if sample.get("reference_answer") is None
    ]


def _problems_of(sample: Any) -> Iterator[Problem]:
    if not isinstance(sample, dict):
        yield "sample", f"is {json_kind(sample)}, not an object"
        return
    if sample.get("id") is not None:
        yield from _text("id", sample["id"])
    yield from _messages(sample.get("messages"))
    if sample.get("tools") is not None:
        yield from _tools(sample["tools"])
    yield from _filled("reference_answer", sample.get("reference_answer"), dict, "an object")


def _messages(given: Any) -> Iterator[Problem]:
    if not isinstance(given, list) or not given:
        yield "messages", "is not a list of at least one message"
        return
    roles = []
    for position, message in enumerate(given):
        where = f"messages -> {position}"
        if not isinstance(message, dict):
            yield where, f"is {json_kind(message)}, not an object"
            continue
        for name in sorted(message.keys() - MEMBERS, key=str):
            yield f"{where} -> {name}", "is no field of a message"
        role = message.get("role")
        role = role.lower() if isinstance(role, str) else role
        if role is not None and not (isinstance(role, str) and role in ROLES):
            yield f"{where} -> role", f"is none of {', '.join(sorted(ROLES))}"
        yield from _filled(f"{where} -> content", message.get("content"), list, "a list")
        roles.append(role)
    if "user" not in roles:
        yield "messages", "has no message of the user"
    if "system" in roles and roles[0] != "system":
        yield "messages", "has a system message that is not the first"


def _tools(given: Any) -> Iterator[Problem]:
    if not isinstance(given, list) or not given:
        yield "tools", "is not a list of at least one tool"
        return
    names = []
    for position, tool in enumerate(given):
        where = f"tools -> {position}"
        function = tool.get("function") if isinstance(tool, dict) else None
        if not isinstance(function, dict) or tool.get("type") != "function":
            yield where, 'is not {"type": "function", "function": {…}}'
            continue
        names.append(repr(function.get("name")))
        for name in ("name", "description"):
            yield from _text(f"{where} -> function -> {name}", function.get(name))
        parameters = function.get("parameters")
        if not (isinstance(parameters, dict) and parameters.get("type") == "object"):
            yield f"{where} -> function -> parameters", "is not a schema of type object"
    if len(set(names)) != len(names):
        yield "tools", "has two tools of one name"


def _text(field: str, given: Any) -> Iterator[Problem]:
    if not (isinstance(given, str) and given.strip()):
        yield field, "is not a string that says something"


def _filled(field: str, given: Any, kind: type, named: str) -> Iterator[Problem]:
    """What is wrong with a string, or a value of another kind, which may be absent."""
    if given is None:
        return
    if not isinstance(given, str | kind):
        yield field, f"is {json_kind(given)}, not a string or {named}"
    elif not (given.strip() if isinstance(given, str) else given):
        yield field, "is empty"


# What is an output.


def _unlike_theirs(output: Any) -> Iterator[str]:
    """What the published toolkits refuse, as ends of a sentence that begins with the output."""
    if not isinstance(output, dict):
        yield f": Expected dict, got {type(output).__name__}"
        return
    try:
        RewardFunctionOutput.model_validate(output)
    except ValidationError as error:
        for each in error.errors(include_input=False, include_url=False):
            yield f": {'.'.join(map(str, each['loc']))} - {each['msg']}"


def _no_list(answer: Any) -> str:
    if isinstance(answer, dict) and "statusCode" in answer:
        return (
            "the answer is the envelope of open-weight models, and a Nova model takes a list: "
            "check it with is_nova=False"
        )
    return f"the answer is {json_kind(answer)}, not a list with an output for each sample"


def _unfit(sample: Any, output: Any) -> Iterator[str]:
    """What a trainer cannot use, which the published verifiers take."""
    if not isinstance(output, dict):
        yield f"is {json_kind(output)}, not an object"
        return
    wanted = sample.get("id") if isinstance(sample, dict) else None
    if wanted is not None and output.get("id") != wanted:
        yield "id is not that of the sample in its place"
    yield from _number("aggregate_reward_score", output.get("aggregate_reward_score"))
    if (metrics := output.get("metrics_list")) is None:
        return
    if not isinstance(metrics, list):
        yield f"metrics_list is {json_kind(metrics)}, not a list"
        return
    names = []
    for position, metric in enumerate(metrics):
        where = f"metrics_list.{position}"
        if not isinstance(metric, dict) or not isinstance(metric.get("name"), str):
            yield f"{where} has no name"
            continue
        names.append(metric["name"])
        yield from _number(f"{where}.value", metric.get("value"))
        if metric.get("type") not in ("Metric", "Reward"):
            yield f"{where}.type is neither Metric nor Reward"
    if len(set(names)) != len(names):
        yield "metrics_list has two metrics of one name"


def _number(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, bool) or not isinstance(value, int | float):
        yield f"{name} is {json_kind(value)}, not a number"
        return
    try:
        rewards_of(value)
    except InvalidReward as error:
        yield f"{name}: {error}"


# What is said of it.


def _row(index: int, sample: Any, output: Any, errors: list[str]) -> Row:
    row = {
        "sample_index": index,
        "input": sample,
        "output": output,
        "status": "error" if errors else "success",
        "errors": errors,
    }
    return row if output is not None else {k: v for k, v in row.items() if k != "output"}


def _message(rows: Sequence[Row], failed: int, passed: int, total: int) -> str:
    errors = [each for row in rows for each in row["errors"]]
    if not errors:
        errors = [f"there are {len(rows)} outputs for {total} samples"]
    return (
        f"Reward function verification failed: {failed}/{total} sample(s) failed validation. "
        f"Only {passed}/{total} sample(s) passed.\nValidation errors:\n{_listed(errors)}"
    )


def _listed(errors: Sequence[str]) -> str:
    more = [f"  - and {len(errors) - MOST} more"] if len(errors) > MOST else []
    return "\n".join([*(f"  - {each}" for each in errors[:MOST]), *more])
