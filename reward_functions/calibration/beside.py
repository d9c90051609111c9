"""A second judge on the same cases: the figures of its card, and what the first one does otherwise.

    the card of an earlier run ──its ratings──→ the same cases ──→ differences, who is right where

The earlier card (.json) holds a rating for each case, and no text. Both judges are compared on the
cases that both rated. Differences are the first judge less the second. Prompts are drawn for both
at once, so that an interval is that of the difference. The test of who is right more often is the
sign-flip test by prompt.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from reward_functions.calibration.asking import Rating, Ratings, Trial
from reward_functions.calibration.figures import (
    CardFigure,
    Figures,
    confusion_matrix,
    figures,
    summed,
)
from reward_functions.core.errors import ConfigurationError
from reward_functions.data.json_rows import shown
from reward_functions.reports.statistics import DRAWS, intervals, sign_flip

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reward_functions.calibration.cases import LabelledCase, LabelledCases
    from reward_functions.calibration.figures import ConfusionMatrix

DIFFERENCES: Final = ("accuracy", "kappa")
"""The figures whose difference is shown, with invalid verdicts as wrong."""

LARGEST: Final = 100_000_000
"""Bytes of a card that are read: a rating takes about a hundred."""


class CaseRating(BaseModel):
    """The first rating of a case, as the card of a judge keeps it.

    Args:
        case: its id.
        value: 0 to 1; None for an invalid verdict.
        invalid: the kind of an invalid verdict; else "".
    """

    model_config = ConfigDict(strict=True)

    case: str
    value: Annotated[float | None, Field(ge=0, le=1, allow_inf_nan=False)]
    invalid: str = ""

    @property
    def rating(self) -> Rating:
        """The same as a rating of the case's first trial."""
        return Rating(trial=Trial(self.case), value=self.value, invalid=self.invalid)


class EarlierCard(BaseModel):
    """The parts of an earlier card that are read; the rest is left alone."""

    model_config = ConfigDict(strict=True)

    judge: str
    version: int
    models: list[str]
    digest: str
    missing: Annotated[int, Field(ge=0)] = 0
    verdicts: list[CaseRating] = []

    @property
    def called(self) -> str:
        """The judge and its models."""
        return with_models(self.judge, self.models)


def with_models(judge: str, models: Sequence[str]) -> str:
    """A judge and its models: "rubric (some-judge)"."""
    return f"{judge} ({', '.join(models)})" if models else judge


@dataclass(frozen=True, slots=True, kw_only=True)
class BesideJudge:
    """A second judge beside the first, on the cases that both rated.

    Args:
        called: the second judge and its models.
        file: of its card.
        ratings: of the second judge.
        missing: its trials without a rating; its cases without one where these are more.
        figures: of the second judge, over these cases.
        first: of the first judge, over these cases.
        differences: the first less the second, by the names of `DIFFERENCES`; without a value
            where one of both has no valid verdict.
        counts: cases by who is right: both, the first alone, the second alone, neither.
        p: of the sign-flip test, whether one is right more often; above 0, at most 1.
    """

    called: str
    file: str
    ratings: Ratings
    missing: int
    figures: Figures
    first: Figures
    differences: Mapping[str, CardFigure]
    counts: tuple[int, int, int, int]
    p: float


def read_card(file: Path | str, cases: LabelledCases) -> EarlierCard:
    """The card of an earlier run over the same cases.

    Args:
        file: the .json of a card.
        cases: of this run.

    Raises:
        ConfigurationError: it is no such card, holds no rating, or is one of other cases.
        OSError: it cannot be read.
    """
    with Path(file).open("rb") as stream:
        text = stream.read(LARGEST + 1)
    name = f"--beside {shown(str(file))}"
    try:
        card = EarlierCard.model_validate(json.loads(text[:LARGEST]))
        "".join([card.called, *(each.invalid for each in card.verdicts)]).encode()
    except (ValueError, ValidationError, RecursionError):
        raise ConfigurationError(
            f"{name}: not the .json of a card; `reward audit JUDGE CASES --card DIR` writes one"
        ) from None
    if card.digest != cases.digest:
        raise ConfigurationError(
            f"{name}: its cases or their labels are others than these: hold both judges against "
            "one file, on one scale"
        )
    if not card.verdicts:
        raise ConfigurationError(
            f"{name}: it holds no rating of a case: write it again with --resume, which asks no "
            "model twice"
        )
    return card


def judge_beside(
    cases: LabelledCases,
    ratings: Ratings,
    card: EarlierCard,
    file: Path | str,
    of_all: Figures,
    *,
    times: int = DRAWS,
    seed: int = 0,
) -> BesideJudge:
    """Both judges on the cases that both rated.

    Args:
        cases: with labels by people.
        ratings: of the first judge.
        card: of the second.
        file: of that card.
        of_all: the figures of the first judge over all its cases.
        times: draws of the bootstrap.
        seed: of the draws.

    Raises:
        ConfigurationError: no case has a rating of both.
    """
    other = {each.case: each.rating for each in card.verdicts}
    one = {case.id: found for case in cases.items if (found := ratings.first(case.id))}
    shared = [case for case in cases.items if case.id in one and case.id in other]
    if not shared:
        raise ConfigurationError(f"--beside {shown(str(file))}: no case has a rating of both")
    mine = Ratings({Trial(case.id): one[case.id] for case in shared}, {})
    theirs = Ratings({Trial(case.id): other[case.id] for case in shared}, {})
    prompts: dict[str, list[LabelledCase]] = defaultdict(list)
    for case in shared:
        prompts[case.prompt].append(case)
    groups = list(prompts.values())
    right = [
        [(_is_right(cases, case, one), _is_right(cases, case, other)) for case in group]
        for group in groups
    ]
    every = [pair for group in right for pair in group]
    nets = [sum(first - second for first, second in group) for group in right]
    return BesideJudge(
        called=card.called,
        file=shown(str(file)),
        ratings=theirs,
        missing=max(card.missing, sum(case.id not in other for case in cases.items)),
        figures=figures(cases, theirs, times=times, seed=seed),
        first=of_all
        if len(shared) == of_all.cases
        else figures(cases, mine, times=times, seed=seed),
        differences=_differences(cases, groups, (one, other), times, seed)
        if _decides(mine) and _decides(theirs)
        else dict.fromkeys(DIFFERENCES, CardFigure(None)),
        counts=(
            every.count((True, True)),
            every.count((True, False)),
            every.count((False, True)),
            every.count((False, False)),
        ),
        p=sign_flip(nets, seed).p_value,
    )


def _decides(ratings: Ratings) -> bool:
    """Whether any verdict is valid."""
    return any(each.value is not None for each in ratings.given.values())


def _class(cases: LabelledCases, rating: Rating) -> float | None:
    return None if rating.value is None else cases.nearest(rating.value)


def _is_right(cases: LabelledCases, case: LabelledCase, given: Mapping[str, Rating]) -> bool:
    return _class(cases, given[case.id]) == case.label


def _differences(
    cases: LabelledCases,
    groups: Sequence[Sequence[LabelledCase]],
    both: tuple[Mapping[str, Rating], Mapping[str, Rating]],
    times: int,
    seed: int,
) -> dict[str, CardFigure]:
    """The first less the second, with the interval of the difference."""
    size = len(cases.classes)
    tables = [
        tuple(
            confusion_matrix(
                [(case.label, _class(cases, given[case.id])) for case in group], cases.classes
            )
            for given in both
        )
        for group in groups
    ]

    def apart(drawn: Iterable[tuple[ConfusionMatrix, ...]]) -> dict[str, float | None]:
        one, other = (summed(each, size) for each in zip(*drawn, strict=True))
        pairs = ((one.accuracy(), other.accuracy()), (one.kappa(), other.kappa()))
        return dict(zip(DIFFERENCES, starmap(_less, pairs), strict=True))

    several = len(tables) > 1  # every draw of one prompt is that prompt
    found = intervals(tables, apart, times=times, seed=seed) if several else {}
    return {name: CardFigure(value, found.get(name)) for name, value in apart(tables).items()}


def _less(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other
