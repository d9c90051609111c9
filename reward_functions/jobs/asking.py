"""Answers of a model to the prompts of a job's data: what they cost, then the answers themselves.

Calls are made from several threads. A model that takes no more calls is asked again after a pause
that doubles, drawn at random so that the threads do not return together. When it stays busy the
asking ends with a sentence; every answer that came is kept where a file was given.

The file of a baseline's answers, one line of JSON each: what is there is not asked again.

    {"answers": 1, "setup": "9f2c…"}
    {"prompt": "0a1b…", "attempt": 0, "text": "…", "ended": "end", "input": 210, "output": 94,
     "seconds": 1.9}

A prompt stands there by its digest; its text does not. A file belongs to one model and one way to
draw from it; `appended_lines` keeps it whole.

The model that a baseline asks, and how its answers are drawn: as the job would draw them.

A base is asked under the name that it is served under; a model that a job made, under the ARN of
its deployment or of the imported model, or the id that chat completions take. SageMaker serves no
base of its serverless jobs: whoever asks says which model of Bedrock stands in for it.
"""

from __future__ import annotations

import hashlib
import json
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from copy import copy
from dataclasses import asdict, dataclass, replace
from itertools import islice
from queue import Empty, SimpleQueue
from random import Random
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from reward_functions.aws.failures import AwsFailed
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.types import Usage
from reward_functions.data.atomic import AppendedLines
from reward_functions.data.lengths import prompt_tokens
from reward_functions.jobs.clients import key_source, openai_base_url
from reward_functions.jobs.configuration import BadJob
from reward_functions.jobs.model_calls import (
    MAX_TOKENS,
    PATIENCE,
    BadPrompt,
    Busy,
    Chat,
    Converse,
    ModelAnswer,
    Sampling,
    converse_client,
)
from reward_functions.jobs.services import SERVICES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from reward_functions.core.types import Message, Sample
    from reward_functions.jobs.configuration import JobConfiguration
    from reward_functions.jobs.job import HyperparameterValue
    from reward_functions.jobs.lookup import Place
    from reward_functions.jobs.model_calls import Endpoint
    from reward_functions.jobs.models import Base

MILLION: Final = 1_000_000

ATTEMPTS: Final = 8
"""Calls for one answer, before a model counts as one that takes no calls."""

FIRST_PAUSE: Final = 1.0
LONGEST_PAUSE: Final = 60.0
"""Seconds between two calls for one answer: all of them together are two to four minutes."""


class AskedPrompt(NamedTuple):
    """A row of the data that is asked.

    Args:
        digest: of its turns.
        sample: the row.
        place: where it stands in its file.
    """

    digest: str
    sample: Sample
    place: str

    @property
    def turns(self) -> tuple[Message, ...]:
        """What the model is asked."""
        return self.sample.context


def chosen(
    samples: Sequence[Sample], places: Sequence[str], count: int, seed: int = 0
) -> list[AskedPrompt]:
    """Rows of the data, drawn at random; one for each distinct prompt.

    Raises:
        BadJob: no row has a prompt.
    """
    found: dict[str, AskedPrompt] = {}
    for sample, place in zip(samples, places, strict=True):
        if sample.context:
            digest = _digest(sample.context)
            found.setdefault(digest, AskedPrompt(digest, sample, place))
    if not found:
        raise BadJob("data: no row has a prompt to ask")
    drawn = list(found.values())
    Random(seed).shuffle(drawn)  # noqa: S311 - the same rows in every run
    return drawn[:count]


def attempts_for(prompts: Sequence[AskedPrompt], each: int) -> list[AnswerAttempt]:
    """What is asked: every prompt once, then every prompt again."""
    return [AnswerAttempt(prompt.digest, number) for number in range(each) for prompt in prompts]


@dataclass(frozen=True, slots=True)
class AskingCost:
    """What asking costs, before anything is asked.

    Args:
        calls: still to make.
        kept: answers that are there already.
        input: tokens of all prompts, estimated.
        output: tokens of all answers, at most.
        usd: dollars at most; None where the price is not known.
    """

    calls: int
    kept: int
    input: int
    output: int
    usd: float | None


def cost(
    prompts: Sequence[AskedPrompt],
    each: int,
    kept: Sequence[AnswerAttempt],
    sampling: Sampling,
    price: tuple[float, float] | None,
) -> AskingCost:
    """The cost of the answers that are not there yet.

    Args:
        prompts: to ask.
        each: answers to a prompt.
        kept: answers that are there.
        sampling: whose limit every answer may reach.
        price: dollars per million tokens, read and written; None where it is not known.
    """
    there = set(kept)
    sizes = {
        prompt.digest: prompt_tokens([asdict(turn) for turn in prompt.turns]) for prompt in prompts
    }
    wanted = attempts_for(prompts, each)
    missing = [attempt for attempt in wanted if attempt not in there]
    read = sum(sizes[attempt.prompt] for attempt in missing)
    written = len(missing) * sampling.max_tokens
    usd = None if price is None else (read * price[0] + written * price[1]) / MILLION
    return AskingCost(len(missing), len(wanted) - len(missing), read, written, usd)


def setup(endpoint: Endpoint, sampling: Sampling) -> str:
    """A digest of all that an answer depends on beside its prompt."""
    whole = json.dumps([endpoint.model, asdict(sampling)], sort_keys=True)
    return hashlib.sha256(whole.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Patience:
    """How a busy model is waited for.

    Args:
        attempts: calls for one answer.
        sleep: waits, in seconds; where not given, until the asking ends at the latest.
        seed: of the pauses.
        answer: seconds for one answer, from the call to its last byte.
    """

    attempts: int = ATTEMPTS
    sleep: Callable[[float], object] | None = None
    seed: int | None = None
    answer: float = PATIENCE

    def pauses(self) -> Iterator[float]:
        """Seconds before the second call, the third, and so on: half of a limit that doubles."""
        random = Random(self.seed)  # noqa: S311 - so that threads do not return together
        for at in range(self.attempts - 1):
            limit = min(LONGEST_PAUSE, FIRST_PAUSE * 2**at)
            yield random.uniform(limit / 2, limit)


def ask(
    endpoint: Endpoint,
    prompts: Sequence[AskedPrompt],
    each: int,
    *,
    kept: AnswerFile | None = None,
    concurrency: int = 8,
    patience: Patience | None = None,
    advance: Callable[[int], object] = lambda _: None,
) -> dict[AnswerAttempt, ModelAnswer]:
    """Answers to every prompt; those that are kept are not asked for.

    Args:
        endpoint: the model.
        prompts: to ask.
        each: answers to a prompt.
        kept: holds answers of before, and receives new ones; None for none.
        concurrency: calls at once.
        patience: how a busy model is waited for.
        advance: called with 1 for every new answer.

    Raises:
        AwsFailed: the model cannot be asked, or stays busy; what was answered is kept.
        BadPrompt: a prompt cannot be asked.
    """
    asking = _Asking(endpoint, {prompt.digest: prompt.turns for prompt in prompts}, patience)
    wanted = attempts_for(prompts, each)
    given = dict(kept.given) if kept else {}
    missing = [attempt for attempt in wanted if attempt not in given]
    for attempt, answer in asking.answers(missing, concurrency):
        given[attempt] = answer
        if kept:
            kept.keep(attempt, answer)
        advance(1)
    return {attempt: given[attempt] for attempt in wanted}


class _Asking:
    """The threads of one asking."""

    def __init__(
        self,
        endpoint: Endpoint,
        turns: Mapping[str, Sequence[Message]],
        patience: Patience | None,
    ) -> None:
        self.endpoint, self.turns = endpoint, turns
        self.patience = patience or Patience()
        self.ending = Event()

    def answers(
        self, missing: Iterable[AnswerAttempt], concurrency: int
    ) -> Iterator[tuple[AnswerAttempt, ModelAnswer]]:
        """The answers as they come; what was on its way when one failed comes before the error."""
        left = iter(missing)
        problem: AwsFailed | BadPrompt | None = None
        with ThreadPoolExecutor(concurrency, thread_name_prefix="asking") as pool:
            running = {pool.submit(self.answer, one): one for one in islice(left, concurrency)}
            try:
                while running:
                    done, _ = wait(running, return_when=FIRST_COMPLETED)
                    for future in done:
                        attempt = running.pop(future)
                        try:
                            yield attempt, future.result()
                        except (AwsFailed, BadPrompt) as error:
                            problem = problem or error
                            self.ending.set()
                    if problem is None:
                        running |= {
                            pool.submit(self.answer, one): one for one in islice(left, len(done))
                        }
            finally:
                self.ending.set()
                pool.shutdown(wait=False, cancel_futures=True)
        if problem is not None:
            raise problem

    def answer(self, attempt: AnswerAttempt) -> ModelAnswer:
        """One answer, in a thread."""
        turns = self.turns[attempt.prompt]
        for pause in self.patience.pauses():
            try:
                return self._in_time(turns)
            except Busy as busy:
                sleep = self.patience.sleep or self.ending.wait
                sleep(max(pause, min(busy.seconds, LONGEST_PAUSE)))
                if self.ending.is_set():
                    break
        try:
            return self._in_time(turns)
        except Busy as busy:
            raise AwsFailed(
                f"the model stays busy, {self.patience.attempts} calls for one answer: {busy}; ask "
                "fewer at once with --concurrency, or later: with --out, what was answered is not "
                "asked again"
            ) from None

    def _in_time(self, turns: Sequence[Message]) -> ModelAnswer:
        """One answer, whole and in time: a server may send a byte every minute for ever.

        Raises:
            AwsFailed: it is late. The call is left to itself; nothing ends one from outside.
        """
        outcomes: SimpleQueue[ModelAnswer | Busy | ConfigurationError | None] = SimpleQueue()

        def call() -> None:
            outcome: ModelAnswer | Busy | ConfigurationError | None = None
            began = monotonic()
            try:
                answer = self.endpoint(turns)
                outcome = replace(answer, seconds=monotonic() - began)
            except (Busy, ConfigurationError) as error:
                outcome = error
            finally:
                outcomes.put(outcome)

        Thread(target=call, daemon=True, name="answer").start()
        try:
            outcome = outcomes.get(timeout=self.patience.answer)
        except Empty:
            raise AwsFailed(
                f"{self.endpoint.model} gave no whole answer within {self.patience.answer:g} "
                "seconds: ask for fewer tokens with --max-tokens, or later; with --out, what was "
                "answered is not asked again"
            ) from None
        if isinstance(outcome, Exception):
            raise outcome
        if outcome is None:
            raise RuntimeError("the call ended without an answer")
        return outcome


def _digest(turns: Sequence[Message]) -> str:
    whole = json.dumps([[turn.role, turn.content] for turn in turns])
    return hashlib.sha256(whole.encode()).hexdigest()[:32]


VERSION: Final = 1


class AnswerAttempt(NamedTuple):
    """One of the answers to a prompt.

    Args:
        prompt: the digest of its turns.
        number: from 0.
    """

    prompt: str
    number: int


class AnswerFile:
    """Answers that are kept, open for appending.

    Args:
        path: of the file; an existing one is continued.
        setup: a digest of the model and of the way to draw from it.

    Raises:
        ConfigurationError: the file holds something else, or answers of another setup, or another
            command writes to it.
        OSError: it cannot be read or written.
    """

    def __init__(self, path: Path, setup: str) -> None:
        self.path = path
        self.given: dict[AnswerAttempt, ModelAnswer] = {}
        self._lines = AppendedLines(path)
        try:
            self._continue(path, setup)
        except (ConfigurationError, OSError):
            self._lines.close()
            raise

    def _continue(self, path: Path, setup: str) -> None:
        """Read what is there, or begin."""
        if self._lines.length:
            self.given = _read(path, self._lines.whole(), setup)
        elif self._lines.torn:
            raise _foreign(path)
        else:
            self._lines.append({"answers": VERSION, "setup": setup})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._lines.close()

    def keep(self, attempt: AnswerAttempt, answer: ModelAnswer) -> None:
        """Append an answer; it is on the disk when the method returns."""
        self.given[attempt] = answer
        self._lines.append(
            {
                "prompt": attempt.prompt,
                "attempt": attempt.number,
                "text": answer.text,
                "ended": answer.ended,
                "input": answer.usage.input,
                "output": answer.usage.output,
                "seconds": answer.seconds,
            }
        )


def _read(path: Path, whole: Iterable[bytes], setup: str) -> dict[AnswerAttempt, ModelAnswer]:
    first, *lines = whole
    try:
        head = json.loads(first)
    except (ValueError, RecursionError):
        head = None
    if not isinstance(head, dict) or head.get("answers") != VERSION:
        raise _foreign(path)
    if head.get("setup") != setup:
        raise ConfigurationError(
            f"{path} holds answers of another model, temperature or limit of tokens: give another "
            "file with --out"
        )
    given: dict[AnswerAttempt, ModelAnswer] = {}
    for number, text in enumerate(lines, 2):
        try:
            attempt, answer = _answer(json.loads(text))
        except (ValueError, KeyError, TypeError, RecursionError):
            raise ConfigurationError(f"{path}, line {number}: not an answer") from None
        given[attempt] = answer
    return given


def _answer(line: Any) -> tuple[AnswerAttempt, ModelAnswer]:
    """One line; not by pydantic, whose strings hold no half of a surrogate pair.

    Raises:
        KeyError, TypeError: it is not an answer.
    """
    attempt = AnswerAttempt(line["prompt"], line["attempt"])
    usage = Usage(line["input"], line["output"])
    return attempt, ModelAnswer(line["text"], line["ended"], usage, line.get("seconds"))


def _foreign(path: Path) -> ConfigurationError:
    return ConfigurationError(f"{path} is no file of answers: give another with --out")


LIMITS: Final = ("inferenceMaxTokens", "max_response_length", "sampling_max_tokens")
"""Hyperparameters that limit an answer: Bedrock's, and those of SageMaker's recipes
(sagemaker-hyperpod-recipes; AWS's guide to multi-turn jobs)."""

MOST_DIGITS: Final = 9

EFFORTS: Final = ("reasoningEffort", "reasoning_effort")
"""Those that say how long it thinks."""

NOBODY: Final = (
    "Bedrock serves no {model} under a name of SageMaker's: name who answers for it, as ask = "
    '"MODEL" in the file or --ask MODEL: the id of the same model on Bedrock, an inference '
    "profile, or the ARN of an imported model or a Marketplace endpoint"
)


def sampling_of(
    asked: JobConfiguration, temperature: float = 1.0, max_tokens: int | None = None
) -> Sampling:
    """How answers are drawn.

    Args:
        asked: the job, for its limit of an answer and its effort.
        temperature: of the answers, from 0 to 2.
        max_tokens: of an answer; the job's own limit (`LIMITS`) where not given.

    Raises:
        BadJob: the job's limit is no whole number.
    """
    return drawn_as(asked.hyperparameters, temperature, max_tokens)


def drawn_as(
    given: Mapping[str, HyperparameterValue], temperature: float, max_tokens: int | None = None
) -> Sampling:
    """How answers are drawn by a job of these hyperparameters; else as `sampling_of`.

    Args:
        given: by the service's own names; a service gives numbers back as strings.
        temperature: of the answers, from 0 to 2.
        max_tokens: of an answer; that of the hyperparameters where not given.

    Raises:
        BadJob: their limit is no whole number.
    """
    name = next((each for each in LIMITS if each in given), LIMITS[0])
    limit = max_tokens or given.get(name, MAX_TOKENS)
    if isinstance(limit, str) and limit.isascii() and limit.isdigit() and len(limit) <= MOST_DIGITS:
        limit = int(limit)  # SageMaker's hyperparameters are strings
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        shown = repr(limit)[:42]
        raise BadJob(f"{name}: {shown} is not a whole number from 1: name a limit, --max-tokens N")
    effort = next((str(given[each]) for each in EFFORTS if each in given), "")
    return Sampling(temperature, limit, effort)


def endpoint_of(
    base: Base, sampling: Sampling, where: Place, *, ask: str | None = None, concurrency: int = 8
) -> Converse | Chat:
    """What is asked.

    Args:
        base: of the job, which says by which API.
        sampling: of its answers.
        where: the stage, in whose region it is served.
        ask: another name than the base's own, such as the ARN of a custom-model deployment.
        concurrency: calls at once.

    Raises:
        BadJob: nobody is named who answers for a base of SageMaker.
    """
    region, session = where.stage.region, where.session
    if SERVICES[base.driver].packages and not (ask or base.known):
        raise BadJob(f"ask: {NOBODY.format(model=base.identifier[:200])}")
    name = ask or (base.known.inference_id if base.known else base.identifier)
    if base.driver != "openai":
        return Converse(name, sampling, converse_client(region, session, concurrency))
    url, keys = openai_base_url(region, session), key_source(region, session)
    return Chat(name, sampling, url, keys, concurrency)


def alike(endpoint: Converse | Chat, model: str, sampling: Sampling) -> Converse | Chat:
    """Another model, or another sampling, behind the same connections.

    Args:
        endpoint: of `endpoint_of`.
        model: as it is asked for.
        sampling: of its answers.
    """
    other = copy(endpoint)
    other.model, other.sampling = model, sampling
    return other
