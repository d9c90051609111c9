"""The settings of a judge: its models, and the limits of time and money.

A `JudgeModel` is one model of one API. A `JudgeConfig` is what a deployment names: the panel of
models, their fallback, and the limits. There is no default model. Both are plain data of JSON
types, so that they fit into one environment variable or a file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import inf
from typing import ClassVar, Final, Literal

from reward_functions.core.errors import BadJudge

Backend = Literal["bedrock", "openai", "replay"]
OutputMode = Literal["json_schema", "strict_tool", "tool", "json"]
Aggregate = Literal["mean", "median", "majority", "minimum", "rotate"]

OUTPUT_MODES: Final[tuple[OutputMode, ...]] = ("json_schema", "strict_tool", "tool", "json")
"""The ways to ask for a structured verdict, most reliable first."""

OTHERWISE: Final = (
    'backend is "bedrock" by default: for an OpenAI-compatible server set backend = "openai" and '
    "endpoint"
)
"""What to do where Bedrock was not meant."""

_AFTER_HOST: Final = re.compile(r"[/?#\\]")
_NAMED_KEY: Final = re.compile(r"env:[A-Za-z_]\w*\Z|arn:", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeModel:
    """One model of one API.

    Args:
        model: the id of a Bedrock foundation model or of a model of an OpenAI-compatible endpoint;
            for `replay` the name the recorded answers are reported under.
        backend: the API.
        region: of AWS, the function's own where empty.
        profile: the id or ARN of a Bedrock inference profile to call in place of the model.
        destinations: the regions that profile routes to, for the permissions of the function.
        tier: Bedrock's service tier.
        endpoint: the URL of the API, up to and with `/v1` for OpenAI's; where empty, Bedrock's own.
        key: where an API key is: `env:NAME`, or the ARN of a Secrets Manager secret. "" for none.
        answers: the JSONL file of recorded answers, for `replay`.
        output_mode: how verdicts are asked for; "auto" depends on the family of the model.
        max_tokens: of one answer, reasoning included. Bedrock reserves them from the quota when
            the call begins, so that a generous limit costs throughput.
        temperature: 0 to 1; None leaves it to the model, as reasoning models of OpenAI demand.
        timeout: seconds of one call; waiting for the rate limit does not count.
        rpm: requests per minute; 0 for no limit.
        tpm: tokens per minute, input and `max_tokens` of each call as Bedrock counts them; 0 for
            no limit.

    Raises:
        BadJudge: a value is missing or out of range.
    """

    __pydantic_config__: ClassVar = {"extra": "forbid"}

    model: str
    backend: Backend = "bedrock"
    region: str = ""
    profile: str = ""
    destinations: tuple[str, ...] = ()
    tier: Literal["", "priority", "default", "flex", "reserved"] = ""
    endpoint: str = ""
    key: str = ""
    answers: str = ""
    output_mode: Literal["auto", "json_schema", "strict_tool", "tool", "json"] = "auto"
    max_tokens: int = 2048
    temperature: float | None = 0.0
    timeout: float = 60.0
    rpm: int = 0
    tpm: int = 0

    def __post_init__(self) -> None:
        if not self.model.strip():
            raise BadJudge("a judge's model is named: none is the default")
        if self.backend == "replay" and not self.answers:
            raise BadJudge(f"{self.model}: replay needs the file of recorded answers")
        _require_endpoint(self)
        if self.key and not _NAMED_KEY.match(self.key):
            raise BadJudge(f"{self.model}: a key is named env:NAME or by a secret's ARN, not given")
        limits_hold = self.max_tokens >= 1 and self.rpm >= 0 and self.tpm >= 0
        if not limits_hold or not 0 < self.timeout < inf:
            raise BadJudge(f"{self.model}: a limit is out of range")
        if self.backend == "bedrock" and self.timeout < 1:
            raise BadJudge(f"{self.model}: a call of Converse takes a timeout of a second or more")
        if self.temperature is not None and not 0 <= self.temperature <= 1:
            raise BadJudge(f"{self.model}: the temperature is between 0 and 1")

    @property
    def called(self) -> str:
        """The id in a request: of the inference profile where there is one, else of the model."""
        return self.profile or self.model


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeConfig:
    """The judge models of one deployment, and their limits.

    Args:
        models: one, or a panel of several.
        aggregate: how the scores of a panel become one: "mean", "median", "majority" (without
            one, the median), "minimum", or "rotate", which asks one panel member for each prompt,
            the same for the whole group.
        min_votes: the scores of panel members that a sample needs; 0 for all of them.
        escalate: ask the first panel member alone, and the others only where it reports low
            confidence.
        fallback: the model to ask where a panel member failed in spite of retries.
        concurrency: concurrent calls at first; throttling halves it, and every twenty answers raise
            it by one.
        max_concurrency: concurrent calls at most, and connections to each model.
        retries: of one question, after transient failures.
        cache_size: verdicts that a warm function caches; 0 for none.
        cache_table: a DynamoDB table of verdicts that all instances share, of hashes and choices,
            never a text or a failure; "" for none.
        cache_days: until a verdict in that table expires.
        max_usd: dollars a batch may cost. A call that could exceed them waits for those in flight,
            or is not made, and its sample is unscored. 0 for no limit.
        prices: dollars per million tokens by model id: (input, output) or (input, output, cache
            read, cache write). They override the dated table of this package.

    Raises:
        BadJudge: values are out of range, or contradict each other.
    """

    __pydantic_config__: ClassVar = {"extra": "forbid"}

    models: tuple[JudgeModel, ...]
    aggregate: Aggregate = "mean"
    min_votes: int = 0
    escalate: bool = False
    fallback: JudgeModel | None = None
    concurrency: int = 16
    max_concurrency: int = 32
    retries: int = 4
    cache_size: int = 10_000
    cache_table: str = ""
    cache_days: float = 7.0
    max_usd: float = 0.0
    prices: dict[str, tuple[float, ...]] | None = None

    def __post_init__(self) -> None:
        if not self.models:
            raise BadJudge("no judge model is named, and none is the default")
        if not 0 <= self.min_votes <= len(self.models):
            raise BadJudge(f"min_votes is {self.min_votes}, and the panel has {len(self.models)}")
        if self.escalate and (len(self.models) == 1 or self.aggregate == "rotate"):
            raise BadJudge("escalate needs a second panel member, and an aggregate but rotate")
        if not 1 <= self.concurrency <= self.max_concurrency:
            raise BadJudge("concurrency lies between 1 and max_concurrency")
        limits_hold = 0 < self.cache_days < inf and 0 <= self.max_usd < inf
        if not limits_hold or self.retries < 0 or self.cache_size < 0:
            raise BadJudge("a limit is out of range")
        for model, price in (self.prices or {}).items():
            if len(price) not in (2, 4) or not all(0 <= dollars < inf for dollars in price):
                raise BadJudge(f"{model}: prices are two or four numbers of dollars")


def _require_endpoint(model: JudgeModel) -> None:
    """Nothing, where the endpoint is one of its backend.

    Raises:
        BadJudge: it is not.
    """
    called, endpoint = model.model, model.endpoint.rstrip("/")
    if model.backend == "openai" and not endpoint.startswith(("http://", "https://")):
        raise BadJudge(
            f"{called}: endpoint is the server's http or https URL, up to and with /v1, such as "
            "http://localhost:8000/v1"
        )
    if endpoint.endswith("/completions"):
        raise BadJudge(f"{called}: endpoint ends with /v1, and /chat/completions is added to it")
    if model.backend == "bedrock" and endpoint.endswith("/v1"):
        raise BadJudge(f"{called}: {OTHERWISE} to its URL")
    if "@" in _AFTER_HOST.split(endpoint.split("://", 1)[-1], maxsplit=1)[0]:
        raise BadJudge(f"{called}: an endpoint names no user and no password: give a key")
