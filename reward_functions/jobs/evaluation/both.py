"""Both models, asked the same prompts with the same sampling; what it costs comes first.

    greedy      temperature 0, one answer to a prompt
    sampled     the temperature of rollouts, several answers to a prompt

With a folder, answers are kept in `SIDE-MODE.jsonl`, for their owner alone, and what is there is
not asked again. The tuned model's greedy answers come first: one that answers nothing ends the
asking before the others are paid for.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple, Self

from reward_functions.jobs.asking import AnswerFile, AskingCost, ask, cost, setup
from reward_functions.jobs.evaluation.sides import require_answers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from reward_functions.jobs.asking import (
        AnswerAttempt,
        AskedPrompt,
        Endpoint,
        ModelAnswer,
        Patience,
        Sampling,
    )
    from reward_functions.jobs.evaluation.evaluation_record import Mode, Side
    from reward_functions.jobs.evaluation.sides import Price


class Asked(NamedTuple):
    """One model, one way to draw its answers.

    Args:
        side: which of both.
        mode: which way.
        endpoint: the model.
        sampling: as the endpoint has it.
        each: answers to a prompt, at least one.
        price: dollars per million tokens, read and written; None where it is not known.
    """

    side: Side
    mode: Mode
    endpoint: Endpoint
    sampling: Sampling
    each: int
    price: Price | None


Given = dict[tuple["Side", "Mode"], "Mapping[AnswerAttempt, ModelAnswer]"]


class Askings:
    """Everything that is asked; open while it is, for the files that keep it.

    Args:
        asked: in the order of asking.
        prompts: for all of them.
        folder: of the kept answers; made where it is missing. None keeps none.

    Raises:
        ConfigurationError: a file there holds answers of another model or sampling.
        OSError: a file cannot be made, read or written.
    """

    def __init__(
        self, asked: Sequence[Asked], prompts: Sequence[AskedPrompt], folder: Path | None = None
    ) -> None:
        self.asked, self.prompts, self.folder = asked, prompts, folder
        self._kept: dict[Asked, AnswerFile] = {}
        self._open = ExitStack()

    def __enter__(self) -> Self:
        if self.folder is None:
            return self
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with ExitStack() as stack:
            for one in self.asked:
                path = self.folder / f"{one.side}-{one.mode}.jsonl"
                file = AnswerFile(path, setup(one.endpoint, one.sampling))
                self._kept[one] = stack.enter_context(file)
            self._open = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()

    def costs(self) -> list[AskingCost]:
        """What is still to ask, of each."""
        return [
            cost(self.prompts, one.each, list(self._given(one)), one.sampling, one.price)
            for one in self.asked
        ]

    def _given(self, one: Asked) -> Mapping[AnswerAttempt, ModelAnswer]:
        return self._kept[one].given if one in self._kept else {}

    def answers(
        self,
        *,
        concurrency: int = 8,
        patience: Patience | None = None,
        advance: Callable[[int], object] = lambda _: None,
    ) -> Given:
        """The answers of each.

        Raises:
            NothingAnswered: a model's greedy answers are all empty.
            AwsFailed: a model cannot be asked, or stays busy; what was answered is kept.
            BadPrompt: a prompt cannot be asked.
        """
        given: Given = {}
        for one in self.asked:
            answers = ask(
                one.endpoint,
                self.prompts,
                one.each,
                kept=self._kept.get(one),
                concurrency=concurrency,
                patience=patience,
                advance=advance,
            )
            if one.mode == "greedy":
                require_answers(one.side, one.endpoint.model, list(answers.values()))
            given[one.side, one.mode] = answers
        return given
