"""Calibration cards of cases made here: pairs with votes, grades from 0 to 10, and an enemy's."""

import json
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from reward_functions import get
from reward_functions.calibration.asking import Rating, Ratings, Trial
from reward_functions.calibration.beside import CaseRating, EarlierCard, judge_beside
from reward_functions.calibration.card import Card, about, page
from reward_functions.calibration.cases import read_cases
from reward_functions.calibration.figures import figures
from reward_functions.core.spec import UNIT_SCALE, Scale
from tests.gallery.hostile import NAME, UNBROKEN

DRAWS = 100
DAY = "2026-11-22"


def pairs():
    """Pairs that three people voted on; the judge prefers what is first and long a little."""
    rows = _pairs(Random(14), 160)
    return _card("pairwise", rows, UNIT_SCALE, _asked_again, models=["some-judge"])


def grades():
    """Grades from 0 to 10, which make the widest table of labels that there is."""
    draws = Random(14)
    rows = [_graded(at, f"Question {at // 2}?", at % 11) for at in range(150)]

    def rated(cases):
        for case in cases.items:
            yield _rating(
                case, min(1.0, max(0.0, round(case.label * 10 + draws.gauss(0.5, 2)) / 10))
            )

    return _card("rubric", rows, Scale(0, 10), rated, models=["some-judge", "another-judge"])


def few():
    """Three cases of one prompt, and one that was never answered."""
    rows = [_graded(at, "What is 1 + 1?", at % 2) for at in range(3)]

    def rated(cases):
        yield from (_rating(case, case.label) for case in cases.items[1:])

    missing = "JudgeUnavailable: nothing answers at 127.0.0.1:8901"
    return _card("reference", rows, UNIT_SCALE, rated, models=["some-judge"], missing=missing)


def beside():
    """A judge that guesses, beside the careful one of an earlier card over the same cases."""
    rows = _pairs(Random(14), 160)

    def guessed(cases):
        draws = Random(16)
        yield from (_rating(case, draws.choice([0.0, 0.5, 1.0])) for case in cases.items)

    models = ["a-small-judge"]
    return _card("pairwise", rows, UNIT_SCALE, guessed, models=models, other=_asked_again)


def hostile():
    """Every string that a file or a server gives is an enemy's."""
    rows = [_graded(at, NAME, at % 2) for at in range(4)]

    def rated(cases):
        yield from (_rating(case, None, invalid=NAME) for case in cases.items[:2])
        yield from (_rating(case, case.label) for case in cases.items[2:3])

    models = [NAME, UNBROKEN]
    return _card("reference", rows, UNIT_SCALE, rated, models=models, missing=NAME, file=NAME)


def _card(judge, rows, scale, rated, *, models, missing="", file="cases.jsonl", other=None):
    """The page of a card.

    Args:
        judge: its name.
        rows: of the file of cases.
        scale: of the labels.
        rated: from the cases to the ratings; a case without any counts as missing.
        models: that answered.
        missing: the reason of each case without a rating.
        file: the name that the card shows.
        other: from the cases to the ratings of a second judge; None for none.
    """
    with TemporaryDirectory() as folder:
        path = Path(folder) / "cases.jsonl"
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        cases = read_cases(str(path), scale)
    given = {rating.trial: rating for rating in rated(cases)}
    lacking = {Trial(case.id): missing for case in cases.items if Trial(case.id) not in given}
    ratings = Ratings(given, lacking)
    origin = about(get(judge), {}, cases, models=models, instructions="0" * 64, answers=[])
    origin = replace(origin, file=file, day=DAY, draws=DRAWS, calls=len(given), usd=0.0123)
    found = figures(cases, ratings, times=DRAWS)
    second = None
    if other is not None:
        earlier = EarlierCard(
            judge=judge,
            version=3,
            models=["a-large-judge"],
            digest=cases.digest,
            verdicts=[
                CaseRating(case=each.trial.case, value=each.value, invalid=each.invalid)
                for each in other(cases)
                if each.trial == Trial(each.trial.case)
            ],
        )
        second = judge_beside(cases, ratings, earlier, "earlier.json", found, times=DRAWS)
    return page(Card(origin, cases, ratings, found, second)).html()


def _pairs(draws, count):
    for at in range(count):
        label = draws.choice([0, 1, 1, 2, 2])
        votes = [label if draws.random() < 0.85 else draws.choice([0, 1, 2]) for _ in range(3)]
        responses = ["An answer. " * draws.randint(1, 30) for _ in range(2)]
        yield {
            "id": f"pair-{at}",
            "instruction": f"Question {at // 2}?",
            "response1": responses[0],
            "response2": responses[1],
            "label": label,
            "votes": votes,
        }


def _asked_again(cases):
    """Ratings in both orders and twice, so that no table of the card is left out."""
    draws = Random(15)
    for case in cases.items:
        leaning = 0.1 + 0.05 * (len(case.sample.response) > len(case.second_response))
        for swapped, repeat in ((False, 0), (True, 0), (False, 1)):
            chance = draws.random()
            invalid = "malformed" if chance > 0.97 else "refused" if chance > 0.95 else ""
            value = case.label if chance < 0.7 else draws.choice([0.0, 0.5, 1.0])
            value = 1.0 if draws.random() < leaning else value
            confidence = draws.choice([0.5, 0.9])
            yield Rating(
                trial=Trial(case.id, swapped, repeat),
                value=None if invalid else value,
                invalid=invalid,
                confidence=confidence,
                inconsistent=draws.random() < 0.1,
            )


def _graded(at, prompt, label):
    turns = [
        {"role": "user", "content": prompt},
        {"role": "assistant", "content": "An answer. " * (1 + at * 7 % 20)},
    ]
    return {"id": f"case-{at}", "messages": turns, "reference_answer": "2", "label": label}


def _rating(case, value, invalid=""):
    return Rating(trial=Trial(case.id), value=value, invalid=invalid)
