"""The hyperparameters of a multi-turn job that a page documents, with their ranges.

The service takes them as strings, and its schema need not say their ranges, so that a value out of
range would be found out by a job that has started. One that the page does not know goes to the
service as it is: the live schema decides.

Source: "Hyperparameters reference" of multi-turn reinforcement learning, SageMaker developer guide,
2026-11-22; `rollout_timeout` is a field report's, and goes unchecked.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.jobs.configuration import BadJob

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reward_functions.jobs.job import HyperparameterValue

LONGEST: Final = 2_500
"""Characters of a value: what SageMaker allows a training job's."""

MOST: Final = 100


class Documented(NamedTuple):
    """One row of the page.

    Args:
        default: as the page has it.
        least: of a number; None where it is a word, or any number.
        most: likewise.
        words: of which it is one; empty where it is a number.
        whole: whether it is a whole number.
    """

    default: str
    least: float | None = None
    most: float | None = None
    words: tuple[str, ...] = ()
    whole: bool = False

    @property
    def range(self) -> str:
        """What it may be, in words."""
        if self.words:
            return f"one of {', '.join(self.words)}"
        noun = "a whole number" if self.whole else "a number"
        return noun if self.least is None else f"{noun} from {self.least:g} to {self.most:g}"

    def problem(self, value: HyperparameterValue) -> str:
        """What is wrong with a value; "" where nothing is."""
        if self.words:
            return "" if str(value) in self.words else f"is none of {', '.join(self.words)}"
        try:
            number = float(value)
        except (ValueError, OverflowError):
            number = float("nan")
        if not isfinite(number) or (self.whole and number != int(number)):
            return f"is no {'whole ' if self.whole else ''}number"
        if self.least is not None and number < self.least:
            return f"is below {self.least:g}"
        if self.most is not None and number > self.most:
            return f"is above {self.most:g}"
        return ""


DOCUMENTED: Final[Mapping[str, Documented]] = {
    "global_batch_size": Documented("128", words=("32", "64", "128")),
    "group_size": Documented("8", 2, 32, whole=True),
    "advantage_method": Documented(
        "group_based",
        words=(
            *("monte_carlo", "group_based", "group_based_per_turn", "rloo", "reinforce_pp"),
            *("reinforce_pp_baseline", "opo", "grpo_passk", "gpg"),
        ),
    ),
    "loss_fn": Documented("ppo", words=("importance_sampling", "ppo", "cispo")),
    "clip_low_threshold": Documented("0.8", 0, 1),
    "clip_high_threshold": Documented("1.2", 1, 10),
    "temperature": Documented("1", 0, 2),
    "sampling_top_p": Documented("1", 0, 1),
    "sampling_max_tokens": Documented("4096", 512, 8192, whole=True),
    "max_epochs": Documented("1", 1, 30, whole=True),
    "max_steps": Documented("50", 1, 1000, whole=True),
    "val_every": Documented("10", 0, 100, whole=True),
    "learning_rate": Documented("4e-05"),
}


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


SPELT: Final[Mapping[str, str]] = {_plain(name): name for name in DOCUMENTED}
"""Names by their letters alone: `groupSize` is one that was meant, and not a newer one."""


def written(given: Mapping[str, HyperparameterValue]) -> dict[str, str]:
    """Hyperparameters as a document has them: strings, and those that were given alone.

    Raises:
        BadJob: one is out of the range that the page documents, is a known name in another
            spelling, or is no number or text of at most 2,500 characters.
    """
    if len(given) > MOST:
        raise BadJob(f"hyperparameters: {len(given)} are more than the {MOST} that a job takes")
    return {name: _written(name, value) for name, value in given.items()}


def _written(name: str, value: HyperparameterValue) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise BadJob(f"hyperparameters: {name} is no number and no text")
    known = DOCUMENTED.get(name)
    meant = SPELT.get(_plain(name))
    if known is None and meant:
        raise BadJob(f"hyperparameters: {name} is written {meant} in multi-turn jobs")
    text = f"{value:g}" if isinstance(value, float) and value.is_integer() else str(value)
    if len(text) > LONGEST:
        raise BadJob(f"hyperparameters: {name} has {len(text):,} characters; {LONGEST:,} at most")
    if known is not None and (problem := known.problem(text)):
        raise BadJob(f"hyperparameters: {name} = {text[:40]} {problem}")
    return text
