"""Which models judge, where they are, and what they may take: two frozen values.

A `JudgeModel` is one model behind one API; a `Judging` is what a deployment names: the jurors, who
stands in for them, and the limits of time and money. There is no default model. Both are plain data
with JSON types, so that they travel in one environment variable and in a file.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import ClassVar, Final, Literal

from reward_functions.core.errors import BadJudge

Backend = Literal["bedrock", "openai", "replay"]
Form = Literal["json_schema", "strict_tool", "tool", "json"]
Aggregate = Literal["mean", "median", "majority", "minimum", "rotate"]

LADDER: Final[tuple[Form, ...]] = ("json_schema", "strict_tool", "tool", "json")
"""How a structured verdict can be had, surest first."""

TIERS: Final = ("priority", "default", "flex", "reserved")
"""Amazon Bedrock's service tiers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeModel:
    """One model behind one API.

    Args:
        model: its id: of a Bedrock foundation model, of an OpenAI-compatible endpoint; for `replay`
            the name the recorded answers are reported under.
        backend: the API.
        region: of AWS, the function's own where empty.
        profile: the id or ARN of a Bedrock inference profile to call in place of the model.
        destinations: the regions that profile routes to, for the function's rights.
        tier: Bedrock's service tier.
        endpoint: the URL of the API, up to and with `/v1` for OpenAI's; where empty, Bedrock's own.
        key: where an API key is: `env:NAME`, or the ARN of a Secrets Manager secret. "" for none.
        answers: the JSONL file of recorded answers, for `replay`.
        form: how verdicts are asked for; "auto" looks the model's family up.
        max_tokens: of one answer, reasoning included. Bedrock reserves them from the quota when
            the call begins, so that more is not better.
        temperature: 0 to 1; None leaves it to the model, as reasoning models of OpenAI demand.
        timeout: seconds of one call, without the time it waited for its turn.
        rpm: requests per minute; 0 for no limit of ours.
        tpm: tokens per minute, counted as Bedrock does: input and `max_tokens`; 0 for none.
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
    form: Literal["auto", "json_schema", "strict_tool", "tool", "json"] = "auto"
    max_tokens: int = 2048
    temperature: float | None = 0.0
    timeout: float = 60.0
    rpm: int = 0
    tpm: int = 0

    def __post_init__(self) -> None:
        if not self.model.strip():
            raise BadJudge("a judge's model is named: none is the default")
        if self.backend == "openai" and not self.endpoint.startswith(("http://", "https://")):
            raise BadJudge(f"{self.model}: an OpenAI-compatible endpoint is an http or https URL")
        if self.backend == "replay" and not self.answers:
            raise BadJudge(f"{self.model}: replay needs the file of recorded answers")
        if self.key and not self.key.startswith(("env:", "arn:")):
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
        """What the API is asked for: the inference profile where there is one."""
        return self.profile or self.model


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """Who judges in one deployment, and within which limits.

    Args:
        models: the jurors; one is a judge.
        aggregate: how several jurors' scores become one. "rotate" asks one juror for each prompt,
            the same for the whole group.
        quorum: how many jurors must have come to a score; 0 for all of them.
        doubt: ask the first juror alone, and the others only where its own confidence is low.
        fallback: who is asked when a juror failed in spite of retries.
        concurrency: calls at once to begin with; throttling halves it, success raises it again.
        max_concurrency: calls at once at most, and connections to each model.
        retries: of one question, for failures that may pass.
        cache_size: verdicts a warm function remembers; 0 for none.
        cache_table: a DynamoDB table of verdicts; "" for none. It never holds a text.
        cache_days: until a verdict of that table expires.
        max_usd: dollars a batch may cost, 0 for no limit; what exceeds them is not asked.
        prices: dollars per million tokens by model id: (input, output) or (input, output, cache
            read, cache write). Before the dated table of this package.
    """

    __pydantic_config__: ClassVar = {"extra": "forbid"}

    models: tuple[JudgeModel, ...]
    aggregate: Aggregate = "mean"
    quorum: int = 0
    doubt: bool = False
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
        if not 0 <= self.quorum <= len(self.models):
            raise BadJudge(f"a quorum of {self.quorum} is not to be had of {len(self.models)}")
        if self.doubt and (len(self.models) == 1 or self.aggregate == "rotate"):
            raise BadJudge("a second opinion takes a second juror, and jurors who do not rotate")
        if not 1 <= self.concurrency <= self.max_concurrency:
            raise BadJudge("concurrency lies between 1 and max_concurrency")
        limits_hold = 0 < self.cache_days < inf and 0 <= self.max_usd < inf
        if not limits_hold or self.retries < 0 or self.cache_size < 0:
            raise BadJudge("a limit is out of range")
        for model, price in (self.prices or {}).items():
            if len(price) not in (2, 4) or not all(0 <= dollars < inf for dollars in price):
                raise BadJudge(f"{model}: prices are two or four numbers of dollars")
