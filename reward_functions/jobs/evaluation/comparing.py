"""Two models on the same prompts: the difference, its test, pass@k, groups and flips.

Only prompts for which both models have a score are compared; the others are counted. What counts is
a prompt, however many answers it has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.core.means import mean
from reward_functions.jobs.evaluation.evaluation_record import (
    Compared,
    Group,
    Interval,
    McNemarTest,
    PassAtK,
    Power,
    Verdict,
)
from reward_functions.jobs.evaluation.sides import CLOSE, is_right
from reward_functions.reports.statistics import (
    holm,
    mcnemar,
    mean_difference,
    mean_square,
    pass_at_k,
    prompts_needed,
    sizes,
    smallest_shown,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from reward_functions.jobs.evaluation.sides import Answers

FEW: Final = 30
"""Prompts below which the exact test has to agree with the interval, which is then too sure."""

LEVEL: Final = 0.05

MOST_GROUPS: Final = 50
"""Groups that are shown, the largest first; more are no groups but prompts."""

Pairs = dict[str, tuple[list[float], list[float]]]
"""By prompt: the shares of the scale of the base's answers, and of the tuned model's."""


class Turned(NamedTuple):
    """Prompts that turned, by their digests."""

    right: list[str]
    wrong: list[str]


def pairs(base: Answers, tuned: Answers) -> Pairs:
    """The prompts that both models have scores for, in the order asked."""
    ours, theirs = base.by_prompt(), tuned.by_prompt()
    return {digest: (ours[digest], theirs[digest]) for digest in ours if digest in theirs}


def compared(found: Pairs, base: Answers, seed: int) -> Compared | None:
    """The means and their difference; None where no prompt has both scores.

    Args:
        found: of both models.
        base: whose mode and prompts they are of.
        seed: of the draws.
    """
    difference = _interval(differences(found.values()), seed)
    if difference is None:
        return None
    asked = len({attempt.prompt for attempt in base.given})
    return Compared(
        mode=base.mode,
        base=mean([mean(ours) for ours, _ in found.values()]),
        tuned=mean([mean(theirs) for _, theirs in found.values()]),
        difference=difference,
        left_out=asked - len(found),
    )


def differences(found: Iterable[tuple[list[float], list[float]]]) -> list[float]:
    """Tuned less base, of the prompts' means; equal but for a rounding is 0."""
    each = (mean(theirs) - mean(ours) for ours, theirs in found)
    return [0.0 if abs(one) <= CLOSE else one for one in each]


def turned(found: Pairs, success: float) -> Turned:
    """The prompts whose first answer turned right, and those whose turned wrong."""
    right: list[str] = []
    wrong: list[str] = []
    for digest, (ours, theirs) in found.items():
        before, after = is_right(ours[0], success), is_right(theirs[0], success)
        if after and not before:
            right.append(digest)
        elif before and not after:
            wrong.append(digest)
    return Turned(right, wrong)


def tested(flipped: Turned) -> McNemarTest:
    """McNemar's test of the prompts that turned."""
    return McNemarTest(**mcnemar(len(flipped.right), len(flipped.wrong))._asdict())


def verdict(found: Pairs, difference: Interval) -> Verdict:
    """Better or worse where the interval does not hold 0; of few prompts, where a test agrees.

    The test is the sign test of the prompts that earn more and those that earn less, which is
    McNemar's where answers are right or wrong.
    """
    if difference.low <= 0 <= difference.high:
        return "no difference shown"
    if difference.prompts < FEW:
        changes = differences(found.values())
        signs = mcnemar(sum(each > 0 for each in changes), sum(each < 0 for each in changes))
        if signs.p_value > LEVEL:
            return "no difference shown"
    return "better" if difference.value > 0 else "worse"


def power(found: Pairs, care: float) -> Power:
    """What this split can show, and what a difference one cares about takes."""
    square = mean_square(differences(found.values()))
    needed = prompts_needed(square, care)
    return Power(
        mean_square=square,
        care=care,
        # Under `FEW` a second test has to agree, which takes more than the formula says.
        needed=None if needed is None else max(FEW, needed),
        smallest=smallest_shown(square, len(found)),
    )


def passes(found: Pairs, answers: int, success: float, seed: int) -> Iterator[PassAtK]:
    """pass@k for k = 1, 2, 4 … and all; of a k, the prompts with so many scored answers of each.

    Args:
        found: of sampled answers.
        answers: to a prompt.
        success: from which share of the scale an answer is right.
        seed: of the draws.
    """
    for k in sizes(answers):
        both = [
            (_pass(ours, k, success), _pass(theirs, k, success))
            for ours, theirs in found.values()
            if min(len(ours), len(theirs)) >= k
        ]
        difference = _interval([theirs - ours for ours, theirs in both], seed)
        if difference is not None:
            yield PassAtK(
                k=k,
                base=mean([ours for ours, _ in both]),
                tuned=mean([theirs for _, theirs in both]),
                difference=difference,
            )


def groups(
    found: Pairs, names: Mapping[str, str], success: float, seed: int
) -> tuple[list[Group], int]:
    """A row for each group of prompts, the largest first, and how many are left out.

    Args:
        found: of greedy answers.
        names: the group of each prompt.
        success: from which share of the scale an answer is right.
        seed: of the draws.
    """
    members: dict[str, Pairs] = {}
    for digest, both in found.items():
        members.setdefault(names[digest], {})[digest] = both
    largest = sorted(members.items(), key=lambda group: (-len(group[1]), group[0]))[:MOST_GROUPS]
    tests = {name: tested(turned(inside, success)) for name, inside in largest}
    adjusted = holm({name: test.p_value for name, test in tests.items()})
    rows = []
    for name, inside in largest:
        difference = _interval(differences(list(inside.values())), seed)
        if difference is None:
            continue
        rows.append(
            Group(
                name=name,
                base=mean([mean(ours) for ours, _ in inside.values()]),
                tuned=mean([mean(theirs) for _, theirs in inside.values()]),
                difference=difference,
                gained=tests[name].gained,
                lost=tests[name].lost,
                p_value=tests[name].p_value,
                adjusted=adjusted[name],
            )
        )
    return rows, len(members) - len(largest)


def _interval(changes: Sequence[float], seed: int) -> Interval | None:
    found = mean_difference(changes, seed)
    return None if found is None else Interval(**found._asdict())


def _pass(shares: Sequence[float], k: int, success: float) -> float:
    return pass_at_k(len(shares), sum(is_right(share, success) for share in shares), k)
