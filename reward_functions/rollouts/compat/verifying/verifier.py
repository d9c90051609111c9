"""The one check of both verifiers, and what they give: a dict, or a ValueError with all errors.

    samples → checked → one call for all of them → the answer, unwrapped → a row an output → verdict

The dict is that of the published toolkits: `success`, `results`, `total_samples`,
`successful_samples` and `warnings`; a row of `results` has `sample_index`, `input`, `output`,
`status` and `errors`. Nothing of a sample or an output is logged.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from reward_functions.rollouts.compat.verifying import outputs, samples, strictness
from reward_functions.rollouts.compat.verifying.functions import (
    ARN,
    CallFailed,
    ask_file,
    ask_lambda,
    is_arn,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Row = dict[str, Any]

NAMED: Final = "sagemaker"
"""What the name of a function for HyperPod contains, in any case."""

MOST: Final = 50
"""Errors that a message lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """How a function is checked.

    Args:
        function: an ARN of Lambda, or the path of a Python file.
        given: the samples, sent in one call.
        client: makes boto3's client of Lambda, for an ARN.
        formats: whether outputs are looked at.
        envelope: whether the answer is wrapped as open-weight models have it.
        strict: whether `strictness` holds too; the function is called twice then.
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
        rows = self._rows()
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
        try:
            answer = self._answer()
        except FileNotFoundError:
            return self._all_failed(f"Python file not found: {self.function}")
        except CallFailed as error:
            return self._all_failed(str(error))
        if _raised(answer):
            return self._all_failed(_words(answer), answer)
        try:
            answer = outputs.unwrapped(answer) if self.envelope else answer
        except ValueError as error:
            return self._all_failed(str(error))
        if not isinstance(answer, list):
            wrong = [*strictness.a_list(answer)] if self.strict else []
            return [_row(0, self.given, answer, wrong)]
        rows = [self._checked(index, output) for index, output in enumerate(answer)]
        if self.strict and (wrong := self._wrong_as_a_whole(answer)):
            first = rows[0] if rows else _row(0, self.given, answer, [])
            rows[:1] = [first | {"status": "error", "errors": [*wrong, *first["errors"]]}]
        return rows

    def _answer(self) -> Any:
        if is_arn(self.function):
            return ask_lambda(self.client, self.function, self.given)
        return ask_file(Path(self.function), self.given)

    def _wrong_as_a_whole(self, answer: list[Any]) -> list[str]:
        try:
            again = self._answer()
            again = outputs.unwrapped(again) if self.envelope else again
        except (CallFailed, ValueError, FileNotFoundError) as error:
            again = f"a second call failed: {error}"
        return [
            *strictness.as_many(self.given, answer),
            *strictness.the_same_again(answer, again),
        ]

    def _checked(self, index: int, output: Any) -> Row:
        sample = self.given[index] if index < len(self.given) else {}
        errors = outputs.errors_of(output, index) if self.formats else []
        if self.strict:
            wrong = strictness.problems_of(sample, output)
            errors = [*errors, *(f"Output {index}: {each}" for each in wrong)]
        return _row(index, sample, output, errors)

    def _all_failed(self, error: str, *answer: Any) -> list[Row]:
        """A failed row for each sample; the first has the error."""
        return [
            _row(index, sample, answer[0] if answer else None, [error] if index == 0 else [""])
            for index, sample in enumerate(self.given)
        ]


def checked_samples(given: Sequence[Any]) -> list[str]:
    """Warnings of samples that have no reference.

    Raises:
        ValueError: any of them is no sample; the message lists why.
    """
    wrong = [
        f"Sample {index}, field '{field}': {what}"
        for index, sample in enumerate(given)
        for field, what in samples.problems_of(sample)
    ]
    if wrong:
        raise ValueError("Input validation failed with the following errors:\n" + _listed(wrong))
    return [
        f"Sample {index} (id: {sample.get('id', 'unknown')}): No 'reference_answer' provided."
        for index, sample in enumerate(given)
        if sample.get("reference_answer") is None
    ]


def require_hyperpod_name(function: str) -> None:
    """Nothing, where HyperPod may call a function.

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


def _raised(answer: Any) -> bool:
    return isinstance(answer, dict) and bool({"errorMessage", "errorType"} & answer.keys())


def _words(answer: dict[str, Any]) -> str:
    kind, message = answer.get("errorType", "Unknown"), answer.get("errorMessage", "Unknown error")
    return f"Lambda execution error - {kind}: {message}"


def _row(index: int, sample: Any, output: Any, errors: list[str]) -> Row:
    row = {
        "sample_index": index,
        "input": sample,
        "output": output,
        "status": "error" if errors else "success",
        "errors": [each for each in errors if each],
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
