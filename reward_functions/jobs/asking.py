"""A model is asked the prompts of a job's data: what that costs, the answers, where they are kept.

One answer comes by Bedrock's Converse, or by OpenAI-compatible chat completions.

    what ended it                                                        `ended`
    Converse: max_tokens, model_context_window_exceeded; chat: length    length
    Converse: guardrail_intervened, content_filtered; chat: content_filter, a refusal    filtered
    everything else                                                      end

Reasoning in blocks or fields of its own is no part of the answer: whether a trainer puts it into
the text that a reward reads is not documented.

Calls are made from several threads. A model that takes no more calls is asked again after a pause
that doubles, drawn at random so that the threads do not return together. When it stays busy the
asking ends with a sentence; every answer that came is kept where a file was given.

The file of a baseline's answers, one line of JSON each: what is there is not asked again.

    {"answers": 1, "setup": "9f2c…"}
    {"prompt": "0a1b…", "attempt": 0, "text": "…", "ended": "end", "input": 210, "output": 94,
     "seconds": 1.9}

A prompt stands there by its digest; its text does not. A file belongs to one model and one way to
draw from it; `appended_lines` keeps it whole.

A base is asked under the name that it is served under. A model that a job made is asked under the
ARN of its deployment or of the imported model, or the id that chat completions take. SageMaker
serves no base of its serverless jobs: you say which model of Bedrock stands in for it.

Sources: botocore's model of `Converse`; "Chat Completions" in OpenAI's API reference; "Extended
thinking in Amazon Nova 2" in the Nova 2 user guide for `reasoningConfig`.
"""

from __future__ import annotations

import hashlib
import json
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from copy import copy
from dataclasses import asdict, dataclass, field, replace
from http import HTTPStatus
from itertools import islice
from random import Random
from threading import Event
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol, Self

from reward_functions.aws.calls import FOREIGN, NO_ANSWER
from reward_functions.aws.failures import AwsFailed, in_words
from reward_functions.aws.shell import aws_session
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.function_calls import turn_of
from reward_functions.core.types import Message, Sample, Usage
from reward_functions.data.atomic import AppendedLines
from reward_functions.data.lengths import prompt_tokens
from reward_functions.jobs.clients import endpoints
from reward_functions.jobs.configuration import BadJob, JobConfiguration
from reward_functions.jobs.drivers.openai import Api, connected, wish_of
from reward_functions.jobs.services import SERVICES, HyperparameterValue
from reward_functions.judge_runtime.usage import token_count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from boto3.session import Session
    from openai import APIStatusError

    from reward_functions.jobs.lookup import Place
    from reward_functions.jobs.models import Base

Ended = Literal["end", "length", "filtered"]

CUT: Final = frozenset({"max_tokens", "model_context_window_exceeded", "length"})
FILTERED: Final = frozenset({"guardrail_intervened", "content_filtered", "content_filter"})

BUSY_CODES: Final = frozenset(
    {
        *("ThrottlingException", "ModelNotReadyException", "ServiceUnavailableException"),
        *("InternalServerException", "ModelTimeoutException", "ModelErrorException"),
    }
)
"""Errors of Converse after which the same question may be answered (botocore's model)."""

UNSERVED: Final = frozenset({"ValidationException", "ResourceNotFoundException"})
"""What Converse answers for an id that is trained from and not served under that name."""

BUSY_STATUS: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})

SYSTEM: Final = frozenset({"system", "developer"})
ASSISTANT: Final = frozenset({"assistant", "nova_assistant", "bot"})

MAX_TOKENS: Final = 2_048
"""Tokens of an answer where the job sets no `inferenceMaxTokens`: what AWS's SDK sets."""

PATIENCE: Final = 600.0
"""Seconds for one answer: thousands of tokens."""

SHOWN: Final = 200
"""Characters of a service's error message that are repeated."""

HIGH: Final = "high"
"""The effort with which Nova 2 takes neither a temperature nor a limit of tokens."""


class Busy(Exception):
    """The model takes no call now, and may take it later.

    Args:
        message: what it answered.
        seconds: how long it asks to wait; 0 where it does not say.
    """

    def __init__(self, message: str, seconds: float = 0.0) -> None:
        super().__init__(message)
        self.seconds = seconds


class BadPrompt(ConfigurationError):
    """A prompt that a model cannot be asked. The message names the role, and no text."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How answers are drawn.

    Args:
        temperature: 1.0 draws from the model's own distribution, as rollouts are.
        max_tokens: of an answer; the job's `inferenceMaxTokens`.
        reasoning_effort: low, medium or high; "" for the model's own choice.
    """

    temperature: float = 1.0
    max_tokens: int = MAX_TOKENS
    reasoning_effort: str = ""


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """An answer of a model: the text, how it ended, and the tokens it cost.

    `seconds` is how long the call took, without what came before it; None where nobody measured.
    """

    text: str
    ended: Ended = "end"
    usage: Usage = field(default_factory=Usage)
    seconds: float | None = field(default=None, compare=False)


class Endpoint(Protocol):
    """A model that can be asked, from many threads at once."""

    model: str

    def __call__(self, prompt: Sequence[Message], /) -> ModelAnswer:
        """One answer.

        Raises:
            Busy: asking again may help.
            AwsFailed: it does not; the message says what to do.
            BadPrompt: the prompt has a turn that the API does not take.
        """


class Converse:
    """A model that Bedrock's Converse serves.

    Args:
        model: a base model's id, an inference profile, or the ARN of a custom-model deployment.
        sampling: how answers are drawn.
        client: boto3's of `bedrock-runtime`; see `converse_client`.
    """

    def __init__(self, model: str, sampling: Sampling, client: Any) -> None:
        self.model, self.sampling, self.client = model, sampling, client

    def __call__(self, prompt: Sequence[Message], /) -> ModelAnswer:
        """One answer; see `Endpoint`."""
        from botocore.exceptions import HTTPClientError  # noqa: PLC0415 - 100 ms
        from botocore.parsers import ResponseParserError  # noqa: PLC0415

        request = self.request(prompt)
        try:
            with in_words(f"asking {self.model}"):
                try:
                    return _conversed(self.client.converse(**request))
                except HTTPClientError as error:
                    raise Busy(f"{self.model}: {type(error).__name__}") from None
                except (ResponseParserError, *NO_ANSWER):
                    raise AwsFailed(f"asking {self.model}: {FOREIGN}") from None
        except AwsFailed as error:
            raise _of_converse(error) from None

    def request(self, prompt: Sequence[Message]) -> dict[str, Any]:
        """The arguments of the call."""
        sampling = self.sampling
        thinks_at_length = sampling.reasoning_effort == HIGH
        request: dict[str, Any] = {"modelId": self.model, "messages": _turns(prompt)}
        system = [{"text": turn.content} for turn in prompt if turn.role in SYSTEM]
        if system:
            request["system"] = system
        if not thinks_at_length:
            request["inferenceConfig"] = {
                "temperature": sampling.temperature,
                "maxTokens": sampling.max_tokens,
            }
        if sampling.reasoning_effort:
            config = {"type": "enabled", "maxReasoningEffort": sampling.reasoning_effort}
            request["additionalModelRequestFields"] = {"reasoningConfig": config}
        return request


def converse_client(region: str, session: Session | None, connections: int) -> Any:
    """boto3's client for `Converse`, which tries each call once: the caller knows how to wait.

    Raises:
        WrongEndpoint: it would reach the local AWS emulator's own Bedrock.
        AwsFailed: there is no region, or no credentials.
    """
    from botocore.config import Config  # noqa: PLC0415

    once = Config(
        read_timeout=PATIENCE,
        max_pool_connections=connections,
        retries={"mode": "standard", "total_max_attempts": 1},
    )
    endpoints(session).check()
    with in_words("connecting to bedrock-runtime"):
        own = session or aws_session()
        return own.client("bedrock-runtime", region_name=region, config=once)


class Chat:
    """A model that OpenAI-compatible chat completions serve.

    Args:
        model: its id: a base model's, or what a job made.
        sampling: how answers are drawn.
        api: at its address.
    """

    def __init__(self, model: str, sampling: Sampling, api: Api) -> None:
        self.model, self.sampling, self.api = model, sampling, api

    def __call__(self, prompt: Sequence[Message], /) -> ModelAnswer:
        """One answer; see `Endpoint`. A key that is refused is replaced once."""
        request = self.request(prompt)
        from openai import APIConnectionError, APIStatusError  # noqa: PLC0415 - half a second

        completions = self.api.sdk.chat.completions.with_raw_response
        try:
            answered = completions.create(**request, timeout=PATIENCE)
            return self._completed(answered.http_response.content)
        except APIStatusError as error:
            raise self._refused(error) from None
        except APIConnectionError as error:
            reason = type(error.__cause__ or error).__name__
            raise Busy(f"{self.model} at {self.api.host}: {reason}") from None

    def request(self, prompt: Sequence[Message]) -> dict[str, Any]:
        """The body of the request."""
        sampling = self.sampling
        roles = [
            (turn, "assistant" if turn.role in ASSISTANT else turn.role)
            for turn in prompt
            if _known(turn.role)
        ]
        request: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": role, "content": turn.content} for turn, role in roles],
            "max_tokens": sampling.max_tokens,
            "temperature": sampling.temperature,
        }
        if sampling.reasoning_effort:
            request["reasoning_effort"] = sampling.reasoning_effort
        return request

    def _refused(self, error: APIStatusError) -> Busy | AwsFailed:
        status, where = error.status_code, f"{self.model} at {self.api.host}"
        if status in BUSY_STATUS:
            return Busy(f"{where} answers {status}", wish_of(error.response.headers))
        if status == HTTPStatus.UNAUTHORIZED:
            return AwsFailed(f"asking {where}: {self.api.keys.remedy}", str(status))
        message = self.api.message_of(error)[:SHOWN]
        return AwsFailed(
            f"asking {where}: {status} {message}{REMEDIES.get(status, '')}", str(status)
        )

    def _completed(self, body: bytes) -> ModelAnswer:
        try:
            response = json.loads(body)
            choice = response["choices"][0]
            message, reason = dict(choice["message"]), str(choice["finish_reason"])
        except (ValueError, RecursionError, LookupError, TypeError):
            raise Busy(f"{self.model} at {self.api.host}: the answer is no completion") from None
        usage, content = response.get("usage"), message.get("content")
        ended: Ended = "filtered" if message.get("refusal") else _ended(reason)
        tokens = Usage(token_count(usage, "prompt_tokens"), token_count(usage, "completion_tokens"))
        return ModelAnswer(content if isinstance(content, str) else "", ended, tokens)


REMEDIES: Final[dict[int, str]] = {
    403: "; who asks needs bedrock-mantle:CreateInference, which the stage's policies give",
    404: "; no model is served under this name here: see `reward job plan` for those that are",
}
"""What to do about a status of chat completions."""


def _known(role: str) -> bool:
    if role not in SYSTEM | ASSISTANT | {"user"}:
        raise BadPrompt(f"a prompt with a turn of {role[:SHOWN]!r} cannot be asked")
    return True


def _turns(prompt: Sequence[Message]) -> list[dict[str, Any]]:
    """The turns as Converse takes them: user and assistant by turns, equal ones merged."""
    turns: list[dict[str, Any]] = []
    for turn in prompt:
        if not _known(turn.role) or turn.role in SYSTEM:
            continue
        role = "assistant" if turn.role in ASSISTANT else "user"
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"].append({"text": turn.content})
        else:
            turns.append({"role": role, "content": [{"text": turn.content}]})
    return turns


def _of_converse(error: AwsFailed) -> Busy | AwsFailed:
    if error.code in BUSY_CODES:
        return Busy(str(error))
    if error.code in UNSERVED:
        return AwsFailed(
            f"{error}; where the model is served under another name, such as an inference "
            "profile's, give that one with --ask",
            error.code,
        )
    return error


def _conversed(answer: Mapping[str, Any]) -> ModelAnswer:
    texts = [block.get("text", "") for block in answer["output"]["message"]["content"]]
    counts = answer["usage"]
    usage = Usage(token_count(counts, "inputTokens"), token_count(counts, "outputTokens"))
    return ModelAnswer("".join(texts), _ended(answer["stopReason"]), usage)


def _ended(reason: str) -> Ended:
    if reason in CUT:
        return "length"
    return "filtered" if reason in FILTERED else "end"


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
        """The turns that the model is asked."""
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
    """The order of questions: every prompt once, then every prompt again."""
    return [AnswerAttempt(prompt.digest, number) for number in range(each) for prompt in prompts]


@dataclass(frozen=True, slots=True)
class AskingCost:
    """The cost of asking, before anything is asked.

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
        prompt.digest: prompt_tokens([turn_of(turn) for turn in prompt.turns]) for prompt in prompts
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
    """

    attempts: int = ATTEMPTS
    sleep: Callable[[float], object] | None = None
    seed: int | None = None

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
    turns, ending = {prompt.digest: prompt.turns for prompt in prompts}, Event()
    patience = patience or Patience()

    def answered(attempt: AnswerAttempt) -> ModelAnswer:
        return _answered(endpoint, turns[attempt.prompt], patience, ending)

    wanted = attempts_for(prompts, each)
    given = dict(kept.given) if kept else {}
    missing = [attempt for attempt in wanted if attempt not in given]
    for attempt, answer in _answers(answered, missing, concurrency, ending):
        given[attempt] = answer
        if kept:
            kept.keep(attempt, answer)
        advance(1)
    return {attempt: given[attempt] for attempt in wanted}


def _answers(
    answer: Callable[[AnswerAttempt], ModelAnswer],
    missing: Iterable[AnswerAttempt],
    concurrency: int,
    ending: Event,
) -> Iterator[tuple[AnswerAttempt, ModelAnswer]]:
    """The answers as they come; what was on its way when one failed comes before the error."""
    left = iter(missing)
    problem: AwsFailed | BadPrompt | None = None
    with ThreadPoolExecutor(concurrency, thread_name_prefix="asking") as pool:
        running = {pool.submit(answer, one): one for one in islice(left, concurrency)}
        try:
            while running:
                # A signal that comes just before an endless wait does not wake it.
                done, _ = wait(running, timeout=1.0, return_when=FIRST_COMPLETED)
                for future in done:
                    attempt = running.pop(future)
                    try:
                        yield attempt, future.result()
                    except (AwsFailed, BadPrompt) as error:
                        problem = problem or error
                        ending.set()
                if problem is None:
                    running |= {pool.submit(answer, one): one for one in islice(left, len(done))}
        finally:
            ending.set()
            pool.shutdown(wait=False, cancel_futures=True)
    if problem is not None:
        raise problem


def _answered(
    endpoint: Endpoint, turns: Sequence[Message], patience: Patience, ending: Event
) -> ModelAnswer:
    """One answer, in a thread; a model that stays busy is asked once more than there are pauses."""
    for pause in (*patience.pauses(), None):
        began = monotonic()
        try:
            return replace(endpoint(turns), seconds=monotonic() - began)
        except Busy as busy:
            reason = busy
        if pause is None or ending.is_set():
            break
        (patience.sleep or ending.wait)(max(pause, min(reason.seconds, LONGEST_PAUSE)))
    raise AwsFailed(
        f"the model stays busy, {patience.attempts} calls for one answer: {reason}; ask fewer at "
        "once with --concurrency, or later: with --out, what was answered is not asked again"
    )


def _digest(turns: Sequence[Message]) -> str:
    whole = json.dumps([[turn.role, turn.content, *turn.tool_calls] for turn in turns])
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


def with_kept_answers(sample: Sample, kept: Mapping[str, Sequence[str]]) -> list[Sample]:
    """A row with each of the answers that are kept to its prompt, in the order of asking.

    Args:
        sample: the row.
        kept: of `kept_texts`.
    """
    return [sample.answered(text) for text in kept.get(_digest(sample.context), ())]


def kept_texts(path: Path) -> dict[str, list[str]]:
    """The texts of a file of answers, of any model, by the digest of their prompt.

    Raises:
        ConfigurationError: the file holds something else.
        OSError: it cannot be read.
    """
    with path.open("rb") as stream:
        whole = [line for line in stream if line.endswith(b"\n")]
    given = _read(path, whole, None)
    found: dict[str, list[str]] = {}
    for attempt in sorted(given):
        found.setdefault(attempt.prompt, []).append(given[attempt].text)
    return found


def _read(
    path: Path, whole: Iterable[bytes], setup: str | None
) -> dict[AnswerAttempt, ModelAnswer]:
    """The answers; None as the setup takes those of any."""
    first, *lines = whole or [b""]
    try:
        head = json.loads(first)
    except (ValueError, RecursionError):
        head = None
    if not isinstance(head, dict) or head.get("answers") != VERSION:
        raise _foreign(path)
    if setup is not None and head.get("setup") != setup:
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
    if SERVICES[base.driver].hosted:
        return Converse(name, sampling, converse_client(region, session, concurrency))
    return Chat(name, sampling, connected(region, session))


def alike(endpoint: Converse | Chat, model: str, sampling: Sampling) -> Converse | Chat:
    """Another model, or another sampling, over the same connections.

    Args:
        endpoint: of `endpoint_of`.
        model: as it is asked for.
        sampling: of its answers.
    """
    other = copy(endpoint)
    other.model, other.sampling = model, sampling
    return other
