"""The questions a judge would ask, recorded without a call of any model.

A judge function writes its questions itself. A `QuestionRecorder` in place of the model records
them and answers with default verdicts.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from hashlib import sha256
from math import inf
from typing import TYPE_CHECKING, Any

from reward_functions.core.asking import Verdict
from reward_functions.core.errors import ConfigurationError, RewardError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from reward_functions.core.asking import Question
    from reward_functions.core.spec import Example, RewardSpec
    from reward_functions.core.types import Sample


@dataclass(slots=True)
class QuestionRecorder:
    """An `Ask` that records its questions and answers with the default of every field.

    Args:
        questions: recorded so far.
    """

    questions: list[Question] = field(default_factory=list)

    def __call__(self, question: Question, /, *, deadline: float = inf) -> Verdict:  # noqa: ARG002
        """The default verdict; the worst choice, which needs no quotation."""
        self.questions.append(question)
        return Verdict(question.read(question.filled({})), model="recorder")


def recorded_questions(
    spec: RewardSpec, parameters: Mapping[str, Any], samples: Iterable[Sample]
) -> Iterator[list[Question]]:
    """The judge's questions about each sample; none where the prefilter rejects the response.

    A sample that the judge cannot score has no questions, or only those before its error. Each is
    recorded as it is asked for: a question holds its sample's texts once more.

    Raises:
        BadParameter: it has no such parameter, or one of another type.
        BadJudge: its prompt or its rubric cannot be used.
    """
    for sample in samples:
        recorder = QuestionRecorder()
        try:
            spec.bind(parameters, ask=recorder)(sample)
        except ConfigurationError:
            raise
        except RewardError:
            pass  # calibration itself reports what the judge cannot score
        yield recorder.questions


def examples_with(spec: RewardSpec, parameters: Mapping[str, Any]) -> list[Example]:
    """The judge's worked examples with these parameters, and the defaults of the others.

    Raises:
        ConfigurationError: the parameters cannot be used.
    """
    spec.bind(parameters)
    defaults = {name: parameter.default for name, parameter in spec.parameters.items()}
    bound = defaults | dict(parameters)
    return [each for each in spec.examples if defaults | dict(each.parameters) == bound]


def instructions_digest(asked: Iterable[Sequence[Question]]) -> str:
    """A hash of a judge's instructions and of the fields of its verdicts.

    It changes with the prompt file, the rubric, and the fields, and not with the samples.
    """
    parts = {
        json.dumps([each.system, [[one.name, one.about, one.choices] for one in each.fields]])
        for questions in asked
        for each in questions
    }
    return sha256("\n".join(sorted(parts)).encode("utf-8", "replace")).hexdigest()
