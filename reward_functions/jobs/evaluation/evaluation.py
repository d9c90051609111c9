"""Both models asked alike, their answers scored by one pinned version, compared; in words too.

    greedy      temperature 0, one answer to a prompt
    sampled     the temperature of rollouts, several answers to a prompt

The cost comes first. With a folder, answers are kept in `SIDE-MODE.jsonl`, for their owner alone,
and what is there is not asked again. The tuned model's greedy answers come first: one that answers
nothing ends the asking before the others are paid for.

A score is a share of the reward's scale, 0 to 1. An answer without a score is no 0: it is counted
apart. A latency is one call's, from its start to its last byte, without the pauses of a busy model.
Only prompts for which both models have a score are compared. A prompt counts once, with all its
answers.

    the interval of the difference lies above 0       better
    below 0                                           worse
    it holds 0                                        no difference shown: never "equal"

Greedy answers decide; sampled ones are reported beside them. Of few prompts an exact test has to
agree (`verdict_of`). Prompts are compared in groups too: by a key of their metadata, or by the kind
of their answer. A point is a hundredth of the reward's scale.
"""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from reward_functions.core.errors import BadReference, ConfigurationError
from reward_functions.core.means import mean
from reward_functions.core.suggest import did_you_mean
from reward_functions.core.types import Scored
from reward_functions.data.answers import kind_of, stated_answer
from reward_functions.jobs.asking import HIGH, MILLION, AnswerFile, AskingCost, ask, cost, setup
from reward_functions.jobs.evaluation.evaluation_record import (
    Beside,
    Compared,
    EvaluationRecord,
    Flip,
    Group,
    PassAtK,
    Power,
    Verdict,
)
from reward_functions.reports.statistics import (
    Difference,
    McNemar,
    holm,
    mcnemar,
    mean_difference,
    mean_square,
    pass_at_k,
    prompts_needed,
    quantile,
    sizes,
    smallest_shown,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from reward_functions.aws.deployed.scorer import VersionScorer
    from reward_functions.core.types import RewardResult, Sample
    from reward_functions.jobs.asking import (
        AnswerAttempt,
        AskedPrompt,
        Endpoint,
        ModelAnswer,
        Patience,
        Sampling,
    )
    from reward_functions.jobs.evaluation.evaluation_record import Mode, Side, Verdict
    from reward_functions.reports.statistics import Difference


@dataclass(frozen=True, slots=True)
class Split:
    """What is asked.

    Args:
        prompts: each once, in the order drawn.
        repeated: rows that ask what another row asks.
        unread: rows that are not valid samples.
        warnings: what the split shares with the job's files and is not refused for.
        compared: the files it was compared with, by what they are; their SHA-256 is not kept.
    """

    prompts: tuple[AskedPrompt, ...]
    repeated: int
    unread: int
    warnings: tuple[str, ...]
    compared: tuple[str, ...]


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
        """The cost that is still to come, of each."""
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


CLOSE: Final = 1e-9
"""Shares of a scale that are one: rewards are decimals, and their quotients are rounded."""

Price = tuple[float, float]


class NothingAnswered(ConfigurationError):
    """A model of which no answer says anything. One sentence: which, and what to look at."""


@dataclass(frozen=True, slots=True)
class Answers:
    """One model's answers of one way to draw them.

    Args:
        side: "base" or "tuned".
        mode: "greedy" or "sampled".
        given: by attempt.
        results: of the reward, by attempt.
        minimum: of the scale.
        maximum: of the scale.
    """

    side: Side
    mode: Mode
    given: Mapping[AnswerAttempt, ModelAnswer]
    results: Mapping[AnswerAttempt, RewardResult]
    minimum: float
    maximum: float

    def share(self, attempt: AnswerAttempt) -> float | None:
        """The earnings of an answer, 0 to 1; None where it has no score."""
        result = self.results[attempt]
        if not isinstance(result, Scored):
            return None
        return (result.score.value - self.minimum) / (self.maximum - self.minimum)

    def by_prompt(self) -> dict[str, list[float]]:
        """The shares of each prompt's scored answers, by the prompt's digest."""
        groups: dict[str, list[float]] = {}
        for attempt in self.given:
            share = self.share(attempt)
            if share is not None:
                groups.setdefault(attempt.prompt, []).append(share)
        return groups


def is_right(share: float, success: float) -> bool:
    """Whether a share of the scale counts as right: from `success` on."""
    return share >= success - CLOSE


def require_answers(side: Side, model: str, given: Sequence[ModelAnswer]) -> None:
    """Refuse answers of which none holds a character: no statistics are made of them.

    Raises:
        NothingAnswered: all are empty.
    """
    if any(answer.text.strip() for answer in given):
        return
    ended = [answer.ended for answer in given]
    if ended.count("length") * 2 >= len(ended):
        cause = "they end at the limit of tokens before the answer begins: raise --max-tokens"
    elif ended.count("filtered") * 2 >= len(ended):
        cause = "a filter withholds them: look at the model's guardrail and content filter"
    else:
        cause = (
            "look at one with `reward job baseline --ask MODEL -n 1 -k 1 --out FILE`, and at the "
            "job's response length with `reward job metrics`"
        )
    raise NothingAnswered(
        f"the {side} model {model} answered nothing to {len(given):,} of {len(given):,} prompts, "
        f"so that nothing is compared; {cause}"
    )


def beside(answers: Answers, price: Price | None, *, timed: bool) -> Beside:
    """The figures beside the mean.

    Args:
        answers: at least one.
        price: dollars per million tokens, read and written; None where it is not known.
        timed: whether latencies say anything; those of a simulation do not.
    """
    given = list(answers.given.values())
    written = [answer.usage.output for answer in given]
    read = sum(answer.usage.input for answer in given)
    times = [answer.seconds for answer in given if answer.seconds is not None] if timed else []
    usd = None if price is None else (read * price[0] + sum(written) * price[1]) / MILLION
    unscored = sum(answers.share(attempt) is None for attempt in answers.given)
    return Beside(
        side=answers.side,
        mode=answers.mode,
        answers=len(given),
        unscored=unscored,
        empty=sum(not answer.text.strip() for answer in given),
        filtered=sum(answer.ended == "filtered" for answer in given),
        cut=sum(answer.ended == "length" for answer in given),
        tokens_read=read,
        tokens_written=sum(written),
        tokens_mean=mean(written),
        tokens_p50=quantile(written, 0.5),
        tokens_p95=quantile(written, 0.95),
        seconds_p50=quantile(times, 0.5) if times else None,
        seconds_p95=quantile(times, 0.95) if times else None,
        usd=usd,
    )


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

    @property
    def test(self) -> McNemar:
        """McNemar's test of them."""
        return mcnemar(len(self.right), len(self.wrong))


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
    means = _means(found.values(), seed)
    if means is None:
        return None
    asked = len({attempt.prompt for attempt in base.given})
    return Compared(mode=base.mode, left_out=asked - len(found), **means._asdict())


class _Means(NamedTuple):
    base: float
    tuned: float
    difference: Difference


def _means(found: Collection[tuple[list[float], list[float]]], seed: int) -> _Means | None:
    """The means of the prompts' means; None where there is no prompt."""
    difference = mean_difference(differences(found), seed)
    if difference is None:
        return None
    base = mean([mean(ours) for ours, _ in found])
    return _Means(base, mean([mean(theirs) for _, theirs in found]), difference)


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


def verdict_of(found: Pairs, difference: Difference) -> Verdict:
    """Better or worse where the interval does not hold 0; of few prompts, where a test agrees.

    The test is the sign test of the prompts that earn more and those that earn less, which is
    McNemar's where answers are right or wrong.
    """
    if difference.holds_zero:
        return "no difference shown"
    if difference.prompts < FEW:
        changes = differences(found.values())
        signs = mcnemar(sum(each > 0 for each in changes), sum(each < 0 for each in changes))
        if signs.p_value > LEVEL:
            return "no difference shown"
    return "better" if difference.value > 0 else "worse"


def power_of(found: Pairs, care: float) -> Power:
    """The power of this split, and what a difference worth detecting takes."""
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
            ([_pass(ours, k, success)], [_pass(theirs, k, success)])
            for ours, theirs in found.values()
            if min(len(ours), len(theirs)) >= k
        ]
        means = _means(both, seed)
        if means is not None:
            yield PassAtK(k=k, **means._asdict())


def groups_of(
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
    tests = {name: turned(inside, success).test for name, inside in largest}
    adjusted = holm({name: test.p_value for name, test in tests.items()})
    rows = []
    for name, inside in largest:
        means = _means(inside.values(), seed)
        if means is None:
            continue
        test = tests[name]
        rows.append(
            Group(
                name=name,
                gained=test.gained,
                lost=test.lost,
                p_value=test.p_value,
                adjusted=adjusted[name],
                **means._asdict(),
            )
        )
    return rows, len(members) - len(largest)


def _pass(shares: Sequence[float], k: int, success: float) -> float:
    return pass_at_k(len(shares), sum(is_right(share, success) for share in shares), k)


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
class ModelComparison:
    """How two models are compared.

    Args:
        answers: sampled answers to a prompt, from 0.
        temperature: of the sampled ones, 0 to 2.
        success: from which share of the scale an answer is right, above 0, at most 1.
        care: the difference one cares about, above 0, at most 1.
        by: a key of the rows' metadata; "" for the kind of their answer.
        seed: of the draw of prompts and of the bootstrap.
    """

    answers: int = 4
    temperature: float = 1.0
    success: float = 1.0
    care: float = CARE
    by: str = ""
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(ModelComparison):
    """How an evaluation is made.

    Args:
        job: its name; "" where models were named by hand.
        split: the file's name.
        split_sha256: of its bytes.
        simulation: whether the training double answers.
    """

    job: str = ""
    split: str = ""
    split_sha256: str = ""
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
    both = pairs(base, tuned)
    greedy = compared(both, base, seed)
    if greedy is None:
        raise NothingCompared(_nothing(base, tuned))
    flipped = turned(both, success)
    power = power_of(both, settings.care)
    verdict = verdict_of(both, greedy.difference)
    rows, left_out = groups_of(both, names, success, seed)
    several, drawn = {}, None
    if settings.answers:
        several = pairs(scored["base", "sampled"], scored["tuned", "sampled"])
        drawn = compared(several, scored["base", "sampled"], seed)
    known = scorer.deployed
    given = asdict(settings)
    del given["care"], given["by"]
    return EvaluationRecord(
        **given,
        base=models["base"],
        tuned=models["tuned"],
        grader=str(scorer.arn),
        reward=known.reward if known else "",
        reward_version=known.version if known else 0,
        measured_at=now or datetime.now(UTC),
        compared_with=split.compared,
        prompts=len(split.prompts),
        repeated=split.repeated,
        unread=split.unread,
        max_tokens=sampling.max_tokens,
        reasoning_effort=sampling.reasoning_effort,
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
        mcnemar=flipped.test,
        power=power,
        sampled=drawn,
        pass_at_k=tuple(passes(several, settings.answers, success, seed)),
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
        "look at it with `reward audit NAME@STAGE`"
    )


def in_points(value: float, *, signed: bool = True) -> str:
    """A difference in points, such as "+3.2"."""
    shown = f"{100 * value:+.1f}" if signed else f"{100 * value:.1f}"
    return "0.0" if shown in {"-0.0", "+0.0"} else shown


def ends(difference: Difference) -> str:
    """The interval, such as "-1.2 to +3.1"."""
    return f"{in_points(difference.low)} to {in_points(difference.high)}"


def conclusion(verdict: Verdict, greedy: Compared, power: Power) -> str:
    """The verdict as a sentence, with what this split can show."""
    difference = greedy.difference
    measured = (
        f"{in_points(difference.value)} points of the scale, 95 % interval {ends(difference)}, on "
        f"{_some(difference.prompts, 'prompt')}"
    )
    if verdict != "no difference shown":
        return f"the tuned model is {verdict}: {measured}"
    holds = "the interval holds 0"
    if not difference.holds_zero:
        holds = f"under {FEW} prompts an exact test has to agree with the interval, and it does not"
    return f"no difference shown: {measured}; {holds}{_shown(power)}"


def _shown(power: Power) -> str:
    """What this split can show, as the end of a sentence."""
    if power.needed is None or power.smallest is None:
        return "; no prompt earned another score, so that nothing says what this split can show"
    return (
        f"; four times in five this split shows a difference of "
        f"{in_points(power.smallest, signed=False)} points, and "
        f"{in_points(power.care, signed=False)} points take about {power.needed:,} prompts"
    )


def warned(
    split: Split,
    greedy: Compared,
    power: Power,
    sampling: Sampling,
    *,
    errors: Mapping[str, int],
    groups_left_out: int,
) -> Iterator[str]:
    """Warnings to the reader, in sentences."""
    yield from split.warnings
    prompts, width = greedy.difference.prompts, greedy.difference.width
    few = f"{_some(prompts, 'prompt')} {'is' if prompts == 1 else 'are'} few"
    if greedy.difference.holds_zero and power.needed is not None and power.needed > prompts:
        yield (
            f"{few}: the interval is {in_points(width, signed=False)} points "
            f"wide, and a difference of {in_points(power.care, signed=False)} points takes about "
            f"{power.needed:,}"
        )
    elif prompts < FEW:
        yield f"{few}: an exact test has to agree with the interval"
    if greedy.left_out:
        yield (
            f"{_some(greedy.left_out, 'prompt')} without a score of one model or both left out: "
            "if the reward fails where one model answers oddly, the rest is no fair sample"
        )
    for error, count in list(errors.items())[:3]:
        yield f"{_some(count, 'answer')} without a score: {error}"
    if split.repeated:
        yield f"{_some(split.repeated, 'row')} of the split asking what another asks: asked once"
    if split.unread:
        yield f"{_some(split.unread, 'row')} of the split not valid: `reward data lint` says why"
    if sampling.reasoning_effort == HIGH:
        yield "with high effort the model takes no temperature: the greedy answers are drawn"
    if groups_left_out:
        yield f"{_some(groups_left_out, 'smaller group')} not shown"


def _some(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
