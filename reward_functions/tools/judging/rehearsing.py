"""What a judge would ask, without asking anybody.

A judge writes its questions itself, so that the first is had by listening: an `Ask` that keeps the
question and hands in the answer a script would. Nothing leaves the machine.
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
    from collections.abc import Iterable, Mapping, Sequence

    from reward_functions.core.asking import Question
    from reward_functions.core.spec import Example, RewardSpec
    from reward_functions.core.types import Sample


@dataclass(slots=True)
class Listener:
    """An `Ask` that keeps what it is asked, and answers as a script that does not care."""

    heard: list[Question] = field(default_factory=list)

    def __call__(self, question: Question, /, *, deadline: float = inf) -> Verdict:  # noqa: ARG002
        """The default verdict. A quotation that must be there is left out where it may be."""
        self.heard.append(question)
        return Verdict(question.read(question.filled({})), model="listener")


def questions(
    spec: RewardSpec, parameters: Mapping[str, Any], samples: Iterable[Sample]
) -> list[list[Question]]:
    """What the judge asks about each sample that it can read: none where a gate is closed.

    Raises:
        BadParameter: it has no such parameter, or one of another type.
        BadJudge: its prompt or its rubric cannot be used.
    """
    asked = []
    for sample in samples:
        listener = Listener()
        try:
            spec.bind(parameters, ask=listener)(sample)
        except ConfigurationError:
            raise
        except (
            RewardError
        ):  # a reference it cannot read, another response it lacks: calibration says so
            pass
        asked.append(listener.heard)
    return asked


def examples(spec: RewardSpec, parameters: Mapping[str, Any]) -> list[Example]:
    """The judge's worked examples that have these settings, defaults elsewhere.

    Raises:
        ConfigurationError: the settings cannot be used.
    """
    spec.bind(parameters)
    defaults = {name: parameter.default for name, parameter in spec.parameters.items()}
    bound = defaults | dict(parameters)
    return [each for each in spec.examples if defaults | dict(each.parameters) == bound]


def digest(asked: Sequence[Sequence[Question]]) -> str:
    """A hash of what a judge is told apart from data: instructions, and the forms of verdicts.

    It changes with the prompt file, with the rubric, and with what the verdict is made of.
    """
    told = {
        json.dumps([each.system, [[one.name, one.about, one.choices] for one in each.fields]])
        for heard in asked
        for each in heard
    }
    return sha256("\n".join(sorted(told)).encode("utf-8", "replace")).hexdigest()
