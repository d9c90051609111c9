"""How to read the figures of a job: signs, what each means, what to do about it.

A sign is a row of `SIGNS`: the figures it needs, by words in their names, and a rule on them. A
course is compared by its thirds: the first, and the last. Where nobody measured a figure, or too
few points of it, that is what the sign says. Sources: contracts of the services where a row names
one; the others are this project's, and are meant to draw the eye, not to decide.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Final, Literal, get_args

from reward_functions.core.means import mean
from reward_functions.jobs.figures import read_as

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reward_functions.jobs.figures import Series

State = Literal["seen", "not seen", "too few points", "not measured"]

FEWEST: Final = 6
"""Points of a course in which a third says something."""

PLATEAU: Final = 0.15
"""A mean reward that stays below it (AWS's guide to open-weight reinforcement fine-tuning)."""

COLLAPSED: Final = 0.2
"""Of the entropy at the beginning."""

LONGER: Final = 1.5
"""Times the length at the beginning."""

MOST: Final = 0.9
"""Of the groups; `frac_reward_zero_std` is TRL's name of the share."""

SPIKE: Final = 10.0
"""Times the median of the gradient's norm."""

FALLEN: Final = 0.05
"""Of the reward on the validation file, on its scale, from its best."""

WIDER: Final = 1.5
"""Times the standard deviation at the beginning."""

UNSCORED: Final = 0.01
"""Of the samples."""


@dataclass(frozen=True, slots=True)
class Sign:
    """Something that the figures of a job can show.

    Args:
        name: of the sign.
        needs: words, all of which are in what the name of a figure is read as.
        split: whose figure it is.
        shows: whether a course shows it.
        meaning: what it means.
        remedy: what to do.
        fewest: points in which it can be seen.
        nothing_learned: whether a job that shows it has taught the policy nothing.
    """

    name: str
    needs: tuple[str, ...]
    split: str
    shows: Callable[[Sequence[float]], bool]
    meaning: str
    remedy: str
    fewest: int = FEWEST
    nothing_learned: bool = False


def _first(values: Sequence[float]) -> float:
    third = values[: len(values) // 3]
    return mean(third)


def _last(values: Sequence[float]) -> float:
    third = values[-(len(values) // 3) :]
    return mean(third)


OTHER_FORM: Final = (
    "likely the prompt asks for another form than the reward reads: `reward job preflight` "
    "compares them"
)

SIGNS: Final = (
    Sign(
        "every response earned the minimum",
        ("frac_reward_min",),
        "grader",
        lambda values: min(values) == 1.0,
        "no response earned anything: nothing was learned",
        OTHER_FORM,
        fewest=1,
        nothing_learned=True,
    ),
    Sign(
        "every group earned the same",
        ("frac_reward_zero_std",),
        "training",
        lambda values: min(values) == 1.0,
        "all responses of a group earned one reward, at every step: nothing was learned",
        OTHER_FORM,
        fewest=1,
        nothing_learned=True,
    ),
    Sign(
        "the reward stays low",
        ("reward", "mean"),
        "training",
        lambda values: _last(values) < PLATEAU and _last(values) - _first(values) < PLATEAU / 3,
        f"below {PLATEAU} and hardly rising: most groups earn nothing, and teach nothing",
        "measure the base model (`reward job baseline`); teach the format first (SFT)",
    ),
    Sign(
        "the reward falls",
        ("reward", "mean"),
        "training",
        lambda values: _last(values) < _first(values) - FALLEN,
        "the policy gets worse by its own reward",
        "lower the learning rate",
    ),
    Sign(
        "groups without advantage",
        ("frac_reward_zero_std",),
        "training",
        lambda values: _last(values) > MOST,
        "nearly every group earns one reward for all its responses, and teaches nothing",
        "stop here if the reward is good; otherwise use harder or easier prompts",
    ),
    Sign(
        "no standard deviation",
        ("reward_std",),
        "grader",
        lambda values: max(values[-(len(values) // 3) :]) == 0.0,
        "the grader gives every response the same reward",
        "look at its answers (`reward deployed check`), and at the base model's",
    ),
    Sign(
        "the rewards spread",
        ("reward_std",),
        "grader",
        lambda values: _last(values) > WIDER * _first(values) > 0.0,
        "rewards get more unlike, where a policy that learns gets steadier",
        "lower the learning rate; look for responses that exploit the reward",
    ),
    Sign(
        "the entropy collapses",
        ("entropy",),
        "training",
        lambda values: _last(values) < COLLAPSED * _first(values),
        "the policy always says the same: it explores no more, well or badly",
        "stop here if the reward is good; otherwise lower the learning rate or the epochs",
    ),
    Sign(
        "responses grow",
        ("length",),
        "training",
        lambda values: _last(values) > LONGER * _first(values) > 0.0,
        "longer reasoning, or padding that the reward pays for; long ones are cut off",
        "read some; compare with the reward; raise inferenceMaxTokens where they are cut",
    ),
    Sign(
        "the gradient spikes",
        ("grad_norm",),
        "training",
        lambda values: max(values) > SPIKE * median(values) > 0.0,
        "single steps move the policy far",
        "lower the learning rate, or raise the batch",
    ),
    Sign(
        "the validation falls",
        ("reward",),
        "validation",
        lambda values: values[-1] < max(values) - FALLEN,
        "the policy learns the training prompts, or exploits them",
        "fewer epochs, more prompts; a checkpoint from before, where the service has any",
    ),
    Sign(
        "samples without a score",
        ("unscored_share",),
        "grader",
        lambda values: max(values) > UNSCORED,
        "the grader failed on them, and imputed their reward: it is noise",
        "see why: `reward job diagnose`",
    ),
)


@dataclass(frozen=True, slots=True)
class Seen:
    """A sign, and whether a job shows it."""

    sign: Sign
    state: State
    figure: str


def signs(found: Sequence[Series]) -> list[Seen]:
    """Every sign, those that are seen first."""
    order = get_args(State)
    return sorted((_seen(sign, found) for sign in SIGNS), key=lambda each: order.index(each.state))


def _seen(sign: Sign, found: Sequence[Series]) -> Seen:
    fits = [
        each
        for each in found
        if each.points
        and each.split == sign.split
        and all(word in read_as(each.name) for word in sign.needs)
    ]
    for each in fits:
        if len(each.points) >= sign.fewest:
            return Seen(sign, "seen" if sign.shows(each.values) else "not seen", each.title)
    return Seen(sign, "too few points", fits[0].title) if fits else Seen(sign, "not measured", "")
