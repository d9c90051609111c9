"""One answer of a model: by Bedrock's Converse, or by OpenAI-compatible chat completions.

    what ended it                                                        `ended`
    Converse: max_tokens, model_context_window_exceeded; chat: length    length
    Converse: guardrail_intervened, content_filtered; chat: content_filter, a refusal    filtered
    everything else                                                      end

Reasoning in blocks or fields of its own is no part of the answer: whether a trainer puts it into
the text that a reward reads is not documented.

Sources: botocore's model of `Converse`; "Chat Completions" in OpenAI's API reference; "Extended
thinking in Amazon Nova 2" in the Nova 2 user guide for `reasoningConfig`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

from reward_functions.aws.calls import FOREIGN, NO_ANSWER
from reward_functions.aws.failures import AwsFailed, in_words
from reward_functions.aws.shell import aws_session
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.types import Usage
from reward_functions.jobs.clients import endpoints, require_private, without
from reward_functions.judge_runtime.usage import token_count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from boto3.session import Session

    from reward_functions.core.types import Message
    from reward_functions.jobs.clients import Key, KeySource


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
    """What a model answered: the text, how it ended, and the tokens it cost.

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
    """A model behind Bedrock's Converse.

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
    """boto3's client for `Converse`, which tries each call once: whoever asks knows how to wait.

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
    """A model behind OpenAI-compatible chat completions.

    Args:
        model: its id: a base model's, or what a job made.
        sampling: how answers are drawn.
        base_url: up to `/v1`; https, or http to this machine.
        keys: where the key comes from that is sent as a bearer token.
        connections: open at once, at most.

    Raises:
        BadAddress: it would carry the key unencrypted, or is none.
    """

    def __init__(
        self,
        model: str,
        sampling: Sampling,
        base_url: str,
        keys: KeySource,
        connections: int = 8,
    ) -> None:
        import urllib3  # noqa: PLC0415 - 50 ms

        self.host = require_private(base_url)
        self.model, self.sampling = model, sampling
        self.url = f"{base_url.rstrip('/')}/chat/completions"
        self.keys = keys
        self.pool = urllib3.PoolManager(maxsize=connections, block=False)

    def __call__(self, prompt: Sequence[Message], /) -> ModelAnswer:
        """One answer; see `Endpoint`. A key that is refused is replaced once."""
        body = json.dumps(self.request(prompt)).encode()
        key = self.keys()
        status, headers, received = self._post(body, key)
        if status == HTTPStatus.UNAUTHORIZED and (other := self.keys.renewed(key)) is not key:
            key = other
            status, headers, received = self._post(body, key)
        if status != HTTPStatus.OK:
            raise self._refused(status, headers, received, key)
        return self._completed(received)

    def _post(self, body: bytes, key: Key) -> tuple[int, Mapping[str, str], bytes]:
        import urllib3  # noqa: PLC0415
        from urllib3.exceptions import HTTPError  # noqa: PLC0415

        try:
            response = self.pool.request(
                "POST",
                self.url,
                body=body,
                headers={
                    "content-type": "application/json",
                    "authorization": f"Bearer {key.secret}",
                    "accept-encoding": "identity",
                },
                timeout=urllib3.Timeout(total=PATIENCE),
                retries=False,
                redirect=False,
            )
        except HTTPError as error:
            raise Busy(f"{self.model} at {self.host}: {type(error).__name__}") from None
        return response.status, response.headers, response.data

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

    def _refused(
        self, status: int, headers: Mapping[str, str], body: bytes, key: Key
    ) -> Busy | AwsFailed:
        where = f"{self.model} at {self.host}"
        if status in BUSY_STATUS:
            wait = headers.get("retry-after", "")
            asked = float(wait) if re.fullmatch(r"\d{1,4}(?:\.\d{1,6})?", wait) else 0.0
            return Busy(f"{where} answers {status}", asked)
        if status == HTTPStatus.UNAUTHORIZED:
            return AwsFailed(f"asking {where}: {self.keys.remedy}", str(status))
        remedy = REMEDIES.get(status, "")
        message = without(key, _message(body))[:SHOWN]
        return AwsFailed(f"asking {where}: {status} {message}{remedy}", str(status))

    def _completed(self, body: bytes) -> ModelAnswer:
        try:
            response = json.loads(body)
            choice = response["choices"][0]
            message, reason = dict(choice["message"]), str(choice["finish_reason"])
        except (ValueError, RecursionError, LookupError, TypeError):
            raise Busy(f"{self.model} at {self.host}: the answer is no completion") from None
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


def _message(body: bytes) -> str:
    """The service's own message in an OpenAI error body; "" where it has none."""
    try:
        error = json.loads(body)["error"]
        return str(error["message"] if isinstance(error, dict) else error)
    except (ValueError, RecursionError, LookupError, TypeError):
        return ""
