"""Amazon Bedrock: one question is one call of Converse.

The verdict is read from the place of its output mode, and only after a stop reason of a complete
answer. An empty or incomplete body of status 200 is an outage: botocore turns it into a dictionary
without an output. The instructions come first and the material to judge last, with a cache point
between where the family has a prompt cache and the prefix is long enough.
"""

from __future__ import annotations

import json
import re
from math import inf
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.asking import Verdict
from reward_functions.core.errors import BadJudge, JudgeUnavailable, NoVerdict
from reward_functions.core.types import Usage
from reward_functions.judge_runtime import structured_output
from reward_functions.judge_runtime.aws import client
from reward_functions.judge_runtime.config import OTHERWISE
from reward_functions.judge_runtime.usage import token_count

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reward_functions.core.asking import Question
    from reward_functions.core.errors import WhyNoVerdict, WhyUnavailable
    from reward_functions.judge_runtime.config import JudgeModel

OUTAGES: Final[Mapping[str, WhyUnavailable]] = {
    "ThrottlingException": "throttled",
    "TooManyRequestsException": "throttled",
    "ServiceQuotaExceededException": "throttled",
    "ModelNotReadyException": "busy",
    "ServiceUnavailableException": "busy",
    "InternalServerException": "busy",
    "ModelErrorException": "busy",
    "ModelTimeoutException": "timeout",
}
"""Error codes by the kind of outage; below status 500 any other code is a denial."""

LASTING: Final = frozenset({401, 403, 404})
"""The credentials, the right or the model is refused, and not the question."""

FINISHED: Final = frozenset({"end_turn", "tool_use", "stop_sequence"})
UNFINISHED: Final[Mapping[str, WhyNoVerdict]] = {
    "max_tokens": "cut",
    "model_context_window_exceeded": "cut",
    "malformed_model_output": "malformed",
    "malformed_tool_use": "malformed",
    "guardrail_intervened": "refused",
    "content_filtered": "refused",
}

MISSHAPEN: Final = (
    ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError
)  # fmt: skip
"""Exceptions of botocore's parser for a body of status 200 that is JSON of another shape."""

TIMEOUTS: Final = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0, 128.0)
"""Seconds a client waits for an answer when less than the model's own timeout is left. The timeout
of a client is fixed, so that each of these has a client once it is needed."""

SLACK: Final = 0.05
"""Seconds a call may exceed its time, for the code between the computation and the call."""

CACHING: Final = ((r"claude.*haiku|claude-opus", 4096), (r"claude|amazon\.nova", 1024))
"""(Pattern of model ids, tokens): families with a prompt cache, and the shortest prefix kept."""

CHARACTERS_PER_TOKEN: Final = 4.0
"""A high estimate: only a prefix that is surely long enough gets a cache point."""


class Bedrock:
    """An `Ask` over Converse.

    Args:
        model: its settings.
        connections: open at once, at most.
    """

    def __init__(self, model: JudgeModel, connections: int) -> None:
        self.model = model
        self.output_mode = structured_output.output_mode_of(model)
        self.connections = connections
        self._clients: dict[float, Any] = {}
        self._creating = Lock()

    def connect(self) -> None:
        """Create the client of the longest calls, while the function starts.

        Raises:
            BadJudge: there is no region to call, or the endpoint is no URL.
        """
        from botocore.exceptions import BotoCoreError, NoRegionError  # noqa: PLC0415 - heavy

        try:
            self._client(self.model.timeout)
        except NoRegionError:
            raise BadJudge(
                f"{self.model.model}: Bedrock needs a region, and none is set; {OTHERWISE}"
            ) from None
        except (BotoCoreError, ValueError) as error:
            raise BadJudge(f"{self.model.model}: {error}") from None

    def close(self) -> None:
        """Close the connections; the next call opens others."""
        with self._creating:
            for each in self._clients.values():
                each.close()
            self._clients.clear()

    def __call__(self, question: Question, /, *, deadline: float = inf) -> Verdict:
        """The verdict of one call.

        Raises:
            JudgeUnavailable: the service failed, or did not answer in time.
            NoVerdict: the answer is no legal verdict.
        """
        from botocore.exceptions import (  # noqa: PLC0415 - heavy
            BotoCoreError,
            ClientError,
            ConnectTimeoutError,
            EndpointConnectionError,
            NoCredentialsError,
            ReadTimeoutError,
        )
        from botocore.parsers import ResponseParserError  # noqa: PLC0415

        left = min(deadline - monotonic(), self.model.timeout)
        runtime = self._client(left)
        request = self.request(question)
        try:
            response = runtime.converse(**request)
        except ClientError as error:
            raise self._outage(error.response) from None
        except (ReadTimeoutError, ConnectTimeoutError) as error:
            unsent = isinstance(error, ConnectTimeoutError)
            reason = f"{self.model.model}: no answer in time"
            raise JudgeUnavailable(reason, "timeout", unbilled=unsent) from None
        except NoCredentialsError:
            reason = f"{self.model.model}: there are no AWS credentials"
            raise JudgeUnavailable(reason, "denied", lasting=True) from None
        except (ResponseParserError, *MISSHAPEN):
            raise JudgeUnavailable(f"{self.model.model}: the response is no Converse's") from None
        except BotoCoreError as error:
            kind = type(error).__name__
            unsent = isinstance(error, EndpointConnectionError)
            reason = f"{self.model.model}: {kind}"
            raise JudgeUnavailable(reason, "unreachable", unbilled=unsent, lasting=unsent) from None
        return self._verdict(question, response)

    def _client(self, left: float) -> Any:
        """The client with the longest timeout that the time left allows.

        Raises:
            JudgeUnavailable: it allows no call.
        """
        longest = (*(each for each in TIMEOUTS if each < self.model.timeout), self.model.timeout)
        allowed = [seconds for seconds in longest if seconds <= left + SLACK]
        if not allowed:
            raise JudgeUnavailable("too little time is left for a call", "deadline")
        with self._creating:  # boto3 creates clients safely in one thread only
            if allowed[-1] not in self._clients:
                self._clients[allowed[-1]] = client(
                    "bedrock-runtime",
                    timeout=allowed[-1],
                    region=self.model.region,
                    endpoint=self.model.endpoint,
                    connections=self.connections,
                )
            return self._clients[allowed[-1]]

    def request(self, question: Question) -> dict[str, Any]:
        """The arguments of Converse."""
        model, fields = self.model, question.fields
        system = question.system
        if self.output_mode == "json":
            system += structured_output.instructions(fields)
        inference: dict[str, Any] = {"maxTokens": model.max_tokens}
        if model.temperature is not None:
            inference["temperature"] = model.temperature
        request: dict[str, Any] = {
            "modelId": model.called,
            "system": [{"text": system}, *self._cache_point(system)],
            "messages": [{"role": "user", "content": self._content(question, system)}],
            "inferenceConfig": inference,
        }
        if model.tier:
            request["serviceTier"] = {"type": model.tier}
        if self.output_mode == "json_schema":
            described = {
                "name": structured_output.TOOL,
                "schema": json.dumps(structured_output.schema(fields)),
            }
            text_format = {"type": "json_schema", "structure": {"jsonSchema": described}}
            request["outputConfig"] = {"textFormat": text_format}
        if self.output_mode in ("strict_tool", "tool"):
            request["toolConfig"] = self._tool(question)
        return request

    def _tool(self, question: Question) -> dict[str, Any]:
        tool: dict[str, Any] = {
            "name": structured_output.TOOL,
            "description": structured_output.TOOL_ABOUT,
            "inputSchema": {"json": structured_output.schema(question.fields)},
        }
        if self.output_mode == "strict_tool":
            tool["strict"] = True
        return {
            "tools": [{"toolSpec": tool}],
            "toolChoice": {"tool": {"name": structured_output.TOOL}},
        }

    def _content(self, question: Question, system: str) -> list[dict[str, Any]]:
        if not question.shared:
            return [{"text": question.text}]
        cached = self._cache_point(system + question.shared)
        return [{"text": question.shared}, *cached, {"text": question.text}]

    def _cache_point(self, prefix: str) -> list[dict[str, Any]]:
        for pattern, tokens in CACHING:
            if re.search(pattern, self.model.model):
                pays = len(prefix) / CHARACTERS_PER_TOKEN >= tokens
                return [{"cachePoint": {"type": "default"}}] if pays else []
        return []

    def _outage(self, response: Mapping[str, Any]) -> JudgeUnavailable:
        code = str(response.get("Error", {}).get("Code", "unknown"))
        status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        server = status >= 500  # noqa: PLR2004 - HTTP: the server's fault
        kind = OUTAGES.get(code, "throttled" if status == 429 else "busy" if server else "denied")  # noqa: PLR2004
        where = f" in {self.model.region}" if self.model.region else ""
        advice = structured_output.advice(self.output_mode) if kind == "denied" else ""
        reason = f"{self.model.called}{where}: {code}{advice}"
        lasting = kind == "denied" and status in LASTING
        return JudgeUnavailable(reason, kind, unbilled=kind != "timeout", lasting=lasting)

    def _verdict(self, question: Question, response: Mapping[str, Any]) -> Verdict:
        usage = _usage(response.get("usage"))
        try:
            blocks = response["output"]["message"]["content"]
            reason = str(response["stopReason"])
        except (KeyError, TypeError):
            raise JudgeUnavailable(f"{self.model.model}: the response has no output") from None
        if reason not in FINISHED:
            kind = UNFINISHED.get(reason, "malformed")
            raise NoVerdict(f"{self.model.model}: stopped for {reason}", kind, usage)
        try:
            return Verdict(question.read(self._answer(blocks)), usage, self.model.model)
        except NoVerdict as error:
            error.usage = usage
            raise

    def _answer(self, blocks: Any) -> Any:
        """The content in place of the verdict: the one text, or the input of the one tool call."""
        if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
            raise NoVerdict("the answer has no content")
        if self.output_mode in ("json_schema", "json"):
            texts = [block["text"] for block in blocks if "text" in block]
            if len(texts) != 1:
                raise NoVerdict(f"the answer has {len(texts)} texts, not one")
            return structured_output.decoded(texts[0])
        calls = [block["toolUse"] for block in blocks if "toolUse" in block]
        if len(calls) != 1 or calls[0].get("name") != structured_output.TOOL:
            raise NoVerdict("the answer is not one call of the tool")
        return calls[0].get("input")


def _usage(counts: Any) -> Usage:
    return Usage(
        input=token_count(counts, "inputTokens"),
        output=token_count(counts, "outputTokens"),
        cache_read=token_count(counts, "cacheReadInputTokens"),
        cache_write=token_count(counts, "cacheWriteInputTokens"),
    )
