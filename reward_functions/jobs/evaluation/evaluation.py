"""An evaluation: both models' answers scored by one pinned version, compared, and put into words.

    the interval of the difference lies above 0       better
    below 0                                           worse
    it holds 0                                        no difference shown: never "equal"

Greedy answers decide; sampled ones are reported beside them. Of few prompts an exact test has to
agree (`comparing.verdict`).

The groups that prompts are compared in: a key of their metadata, or the kind of their answer.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from reward_functions.core.errors import BadReference, ConfigurationError
from reward_functions.core.suggest import did_you_mean
from reward_functions.core.types import Scored
from reward_functions.data.answers import kind_of, stated_answer
from reward_functions.jobs.evaluation import comparing
from reward_functions.jobs.evaluation.evaluation_record import EvaluationRecord, Flip
from reward_functions.jobs.evaluation.sides import Answers, beside
from reward_functions.jobs.evaluation.words import conclusion, warned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from reward_functions.core.types import RewardResult, Sample
    from reward_functions.jobs.asking import AnswerAttempt, AskedPrompt
    from reward_functions.jobs.evaluation.both import Asked, Given
    from reward_functions.jobs.evaluation.comparing import Turned
    from reward_functions.jobs.evaluation.evaluation_record import Beside, Mode, Side
    from reward_functions.jobs.evaluation.split import Split
    from reward_functions.jobs.grader import VersionScorer
    from reward_functions.jobs.model_calls import Sampling


KIND: Final = "kind of answer"
NONE: Final = "(none)"

LONGEST: Final = 80
"""Characters of a group's name."""


class NoGroup(ConfigurationError):
    """No prompt has the key that groups them."""


def group_names(prompts: Sequence[AskedPrompt], by: str = "") -> dict[str, str]:
    """The group of each prompt, by the prompt's digest.

    Args:
        prompts: of the split.
        by: a key of their metadata, whose values are strings, numbers or truth values; "" groups by
            the kind of their reference: whole number, formula, choice and so on.

    Raises:
        NoGroup: no prompt has the key.
    """
    if not by:
        return {prompt.digest: _kind(prompt) for prompt in prompts}
    names = {prompt.digest: _value(prompt.sample.metadata.get(by)) for prompt in prompts}
    if set(names.values()) == {NONE}:
        keys = {key for prompt in prompts for key in prompt.sample.metadata if key.isidentifier()}
        raise NoGroup(f"--by {by!r}: no row's metadata has this key{did_you_mean(by, keys)}")
    return names


def _value(value: object) -> str:
    if isinstance(value, str | int | float):
        return str(value)[:LONGEST] or NONE
    return NONE


def _kind(prompt: AskedPrompt) -> str:
    try:
        answer, _ = stated_answer(prompt.sample.reference)
    except BadReference:
        return NONE
    return kind_of(answer)


CARE: Final = 0.02
"""The difference one cares about where nothing else is said: two points of the scale."""


class NothingCompared(ConfigurationError):
    """No prompt has a score of both models."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How an evaluation is made.

    Args:
        job: its name; "" where models were named by hand.
        split: the file's name.
        split_sha256: of its bytes.
        answers: sampled answers to a prompt, from 0.
        temperature: of the sampled ones.
        success: from which share of the scale an answer is right, above 0, at most 1.
        care: the difference one cares about, above 0, at most 1.
        by: a key of the rows' metadata; "" for the kind of their answer.
        seed: of the draw of prompts and of the bootstrap.
        simulation: whether the training double answers.
    """

    job: str = ""
    split: str = ""
    split_sha256: str = ""
    answers: int = 0
    temperature: float = 1.0
    success: float = 1.0
    care: float = CARE
    by: str = ""
    seed: int = 0
    simulation: bool = False


def evaluate(
    given: Given,
    asked: Sequence[Asked],
    split: Split,
    scorer: VersionScorer,
    settings: Settings,
    *,
    advance: Callable[[int], object] = lambda _: None,
    now: datetime | None = None,
) -> EvaluationRecord:
    """Score the answers by the pinned version, and compare.

    Args:
        given: what `Askings.answers` returned.
        asked: what was asked, in the same order.
        split: whose prompts they answer.
        scorer: the pinned version.
        settings: of the evaluation.
        advance: called with the number of answers of each batch that was scored.
        now: the moment; the clock's where not given.

    Raises:
        NothingCompared: no prompt has a score of both models.
        NoGroup: no prompt has the key that groups them.
        AwsFailed: the version cannot be invoked.
    """
    scored = _scored(given, split.prompts, scorer, advance)
    aside = tuple(
        beside(answers, one.price, timed=not settings.simulation)
        for one, answers in zip(asked, scored.values(), strict=True)
    )
    models = {one.side: one.endpoint.model for one in asked}
    return record_of(scored, models, asked[0].sampling, split, scorer, settings, aside, now=now)


def record_of(  # noqa: PLR0917 - as `evaluate` has them
    scored: Mapping[tuple[Side, Mode], Answers],
    models: Mapping[Side, str],
    sampling: Sampling,
    split: Split,
    scorer: VersionScorer,
    settings: Settings,
    aside: tuple[Beside, ...],
    *,
    now: datetime | None = None,
) -> EvaluationRecord:
    """Compare what is scored already.

    Args:
        scored: of both sides, greedy answers at least.
        models: what was asked.
        sampling: of the greedy answers.
        split: whose prompts were answered.
        scorer: the pinned version.
        settings: of the evaluation.
        aside: what stands beside the means; empty where the answers are not known, and then the
            record has no text or reason of one.
        now: the moment; the clock's where not given.

    Raises:
        NothingCompared: no prompt has a score of both models.
        NoGroup: no prompt has the key that groups them.
    """
    names = group_names(split.prompts, settings.by)
    base, tuned = scored["base", "greedy"], scored["tuned", "greedy"]
    seed, success = settings.seed, settings.success
    both = comparing.pairs(base, tuned)
    greedy = comparing.compared(both, base, seed)
    if greedy is None:
        raise NothingCompared(_nothing(base, tuned))
    flipped = comparing.turned(both, success)
    power = comparing.power(both, settings.care)
    verdict = comparing.verdict(both, greedy.difference)
    rows, left_out = comparing.groups(both, names, success, seed)
    several, drawn = {}, None
    if settings.answers:
        several = comparing.pairs(scored["base", "sampled"], scored["tuned", "sampled"])
        drawn = comparing.compared(several, scored["base", "sampled"], seed)
    known = scorer.deployed
    return EvaluationRecord(
        job=settings.job,
        base=models["base"],
        tuned=models["tuned"],
        grader=str(scorer.arn),
        reward=known.reward if known else "",
        reward_version=known.version if known else 0,
        simulation=settings.simulation,
        measured_at=now or datetime.now(UTC),
        split=settings.split,
        split_sha256=settings.split_sha256,
        compared_with=split.compared,
        prompts=len(split.prompts),
        repeated=split.repeated,
        unread=split.unread,
        answers=settings.answers,
        temperature=settings.temperature,
        max_tokens=sampling.max_tokens,
        reasoning_effort=sampling.reasoning_effort,
        success=success,
        seed=seed,
        verdict=verdict,
        conclusion=conclusion(verdict, greedy, power),
        warnings=tuple(
            warned(
                split,
                greedy,
                power,
                sampling,
                errors=_errors(scored.values()),
                groups_left_out=left_out,
            )
        ),
        greedy=greedy,
        mcnemar=comparing.tested(flipped),
        power=power,
        sampled=drawn,
        pass_at_k=tuple(comparing.passes(several, settings.answers, success, seed)),
        grouped_by=settings.by or KIND,
        groups=tuple(rows),
        beside=aside,
        flips=tuple(_flips(flipped, base, tuned, split.prompts, scorer if aside else None)),
    )


def _scored(
    given: Given,
    prompts: Sequence[AskedPrompt],
    scorer: VersionScorer,
    advance: Callable[[int], object],
) -> dict[tuple[Side, Mode], Answers]:
    """All answers with their results, on one scale."""
    by_digest = {prompt.digest: prompt.sample for prompt in prompts}
    results: dict[tuple[Side, Mode], Mapping[AnswerAttempt, RewardResult]] = {}
    for which, answers in given.items():
        samples = [by_digest[at.prompt].answered(one.text) for at, one in answers.items()]
        results[which] = dict(zip(answers, scorer.score(samples, advance), strict=True))
    every = [result for each in results.values() for result in each.values()]
    scale = scorer.scale([one.score.value for one in every if isinstance(one, Scored)])
    return {
        (side, mode): Answers(
            side, mode, answers, results[side, mode], scale.minimum, scale.maximum
        )
        for (side, mode), answers in given.items()
    }


def _flips(
    flipped: Turned,
    base: Answers,
    tuned: Answers,
    prompts: Sequence[AskedPrompt],
    scorer: VersionScorer | None,
) -> Iterator[Flip]:
    """The prompts that turned wrong, then those that turned right, in the order asked.

    Without a scorer the answers are not known.
    """
    by_digest = {prompt.digest: prompt for prompt in prompts}
    order = [*flipped.wrong, *flipped.right]
    sides = [(answers, {at.prompt: at for at in answers.given}) for answers in (base, tuned)]

    def sample(answers: Answers, at: AnswerAttempt) -> Sample:
        return by_digest[at.prompt].sample.answered(answers.given[at].text)

    why = [
        scorer.reasons([sample(answers, at[one]) for one in order])
        if scorer
        else [None] * len(order)
        for answers, at in sides
    ]
    for place, digest in enumerate(order):
        (ours, theirs) = (at[digest] for _, at in sides)
        yield Flip(
            place=by_digest[digest].place,
            turned="wrong" if digest in flipped.wrong else "right",
            base_score=base.share(ours) or 0.0,
            tuned_score=tuned.share(theirs) or 0.0,
            base_reason=why[0][place] or "",
            tuned_reason=why[1][place] or "",
            base_text=_utf8(base.given[ours].text) if scorer else None,
            tuned_text=_utf8(tuned.given[theirs].text) if scorer else None,
        )


def _utf8(text: str) -> str:
    """A text that JSON can hold: half of a surrogate pair is shown by a question mark."""
    return text.encode("utf-8", "replace").decode()


def _errors(every: Iterable[Answers]) -> dict[str, int]:
    """Why answers have no score, by how often."""
    problems = Counter(
        str(result.error)
        for answers in every
        for result in answers.results.values()
        if not isinstance(result, Scored)
    )
    return dict(problems.most_common())


def _nothing(base: Answers, tuned: Answers) -> str:
    """Why nothing is compared."""
    worst = next(iter(_errors([base, tuned])), "no prompt has a score of both")
    return (
        f"no prompt has a score of both models, so that nothing is compared; the grader: {worst}: "
        "check it with `reward deployed check`"
    )
