"""Any endpoint that speaks OpenAI's chat completions: vLLM, bedrock-mantle, a local server.

The protocol has dialects. Reasoning in fields of its own is ignored. `max_tokens` is sent under its
older name, which servers know, and under the newer one where the model demands it. The timeout
covers the whole body, so that a server that sends single bytes cannot extend a call.
"""

from __future__ import annotations

import json
import re
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import urllib3
from urllib3.exceptions import HTTPError, NewConnectionError, SSLError
from urllib3.exceptions import TimeoutError as UrllibTimeout

from reward_functions.core.asking import Verdict
from reward_functions.core.errors import JudgeUnavailable, NoVerdict
from reward_functions.core.types import Usage
from reward_functions.judge_runtime import structured_output
from reward_functions.judge_runtime.usage import token_count

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reward_functions.core.asking import Question
    from reward_functions.core.errors import WhyNoVerdict, WhyUnavailable
    from reward_functions.judge_runtime.config import JudgeModel

MAX_BODY: Final = 2_000_000
"""Bytes of a response that are read. A verdict has some thousands."""

CHUNK: Final = 65_536

OK: Final = 200
TOO_MANY: Final = 429
SLOW: Final = frozenset({408, 504})
BUSY: Final = frozenset({409, 425, 500, 502, 503, 529})
PATH: Final = "is the model's name right, and does the endpoint end where its path does, at /v1?"
LASTING: Final[Mapping[int, str]] = {
    401: "the API key is missing or not accepted; key names the variable that holds it",
    402: "the account is not paid for",
    403: "may this API key call this model?",
    404: PATH,
    405: PATH,
    407: "a proxy wants credentials",
    410: "the model is no longer there",
}
"""The key, the account, the path or the model is refused, and not the question: what to look at."""

FINISHED: Final = frozenset({"stop", "tool_calls", "function_call"})
UNFINISHED: Final[Mapping[str, WhyNoVerdict]] = {"length": "cut", "content_filter": "refused"}

NEWER_NAME: Final = re.compile(r"^(?:openai/)?(?:o\d|gpt-[5-9])")
"""Models that refuse `max_tokens` and want `max_completion_tokens`."""


class Unreadable(HTTPError):
    """A body that is too large or incomplete."""


class OpenAI:
    """An `Ask` over chat completions.

    Args:
        model: its settings.
        key: sent as a bearer token; "" for none.
        connections: open at once, at most.
    """

    def __init__(self, model: JudgeModel, key: str, connections: int) -> None:
        self.model = model
        self.output_mode = structured_output.output_mode_of(model)
        self.url = model.endpoint.rstrip("/") + "/chat/completions"
        self.host = urlsplit(model.endpoint).netloc
        self.headers = {"content-type": "application/json"}
        if key:
            self.headers["authorization"] = f"Bearer {key}"
        self.pool = urllib3.PoolManager(maxsize=connections, block=False)

    def close(self) -> None:
        """Close the connections; the next call opens others."""
        self.pool.clear()

    def __call__(self, question: Question, /, *, deadline: float = inf) -> Verdict:
        """The verdict of one call.

        Raises:
            JudgeUnavailable: the endpoint failed, or did not answer in time.
            NoVerdict: the answer is no legal verdict.
        """
        end = min(deadline, monotonic() + self.model.timeout)
        if end - monotonic() <= 0:
            raise JudgeUnavailable("too little time is left for a call", "deadline")
        try:
            status, headers, body = self._post(self.request(question), end)
        except NewConnectionError:  # refused, or no such host: to urllib3 a kind of timeout
            reason = f"{self.model.model}: nothing answers at {self.host}"
            raise JudgeUnavailable(reason, "unreachable", unbilled=True, lasting=True) from None
        except SSLError as error:
            untrusted = "CERTIFICATE_VERIFY_FAILED" in str(error)
            what = (
                "the certificate is not accepted" if untrusted else "no TLS: is it http:// there?"
            )
            reason = f"{self.model.model} at {self.host}: {what}"
            raise JudgeUnavailable(reason, "unreachable", unbilled=True, lasting=True) from None
        except UrllibTimeout:
            raise JudgeUnavailable(f"{self.model.model}: no answer in time", "timeout") from None
        except Unreadable as error:
            raise JudgeUnavailable(f"{self.model.model}: {error}", "unreachable") from None
        except HTTPError as error:
            kind = type(error).__name__
            raise JudgeUnavailable(f"{self.model.model}: {kind}", "unreachable") from None
        if status != OK:
            raise self._outage(status, headers)
        return self._verdict(question, body)

    def request(self, question: Question) -> dict[str, Any]:
        """The body of the request."""
        model, fields = self.model, question.fields
        system = question.system
        if self.output_mode == "json":
            system += structured_output.instructions(fields)
        content = "\n\n".join(filter(None, (question.shared, question.text)))
        limit = "max_completion_tokens" if NEWER_NAME.match(model.model) else "max_tokens"
        request: dict[str, Any] = {
            "model": model.model,
            "messages": [
                {"role": "system", "content": system},
                {"role": "user", "content": content},
            ],
            limit: model.max_tokens,
        }
        if model.temperature is not None:
            request["temperature"] = model.temperature
        schema = structured_output.schema(fields)
        if self.output_mode == "json_schema":
            described = {"name": structured_output.TOOL, "strict": True, "schema": schema}
            request["response_format"] = {"type": "json_schema", "json_schema": described}
        if self.output_mode in ("strict_tool", "tool"):
            function: dict[str, Any] = {
                "name": structured_output.TOOL,
                "description": structured_output.TOOL_ABOUT,
                "parameters": schema,
            }
            if self.output_mode == "strict_tool":
                function["strict"] = True
            request["tools"] = [{"type": "function", "function": function}]
            request["tool_choice"] = {
                "type": "function",
                "function": {"name": structured_output.TOOL},
            }
        return request

    def _post(self, request: Mapping[str, Any], end: float) -> tuple[int, Mapping[str, str], bytes]:
        response = self.pool.request(
            "POST",
            self.url,
            body=json.dumps(request).encode(),
            headers=self.headers,
            timeout=urllib3.Timeout(total=max(0.001, end - monotonic())),
            retries=False,
            redirect=False,
            preload_content=False,
        )
        try:
            body = _read(response, end)
        except HTTPError:
            response.close()  # a half-read connection is of no use to the next call
            raise
        response.release_conn()
        return response.status, response.headers, body

    def _outage(self, status: int, headers: Mapping[str, str]) -> JudgeUnavailable:
        kind: WhyUnavailable = "denied"
        if status == TOO_MANY:
            kind = "throttled"
        elif status in SLOW:
            kind = "timeout"
        elif status in BUSY or status > max(BUSY):
            kind = "busy"
        wait = headers.get("retry-after", "")
        seconds = float(wait) if re.fullmatch(r"\d{1,8}(?:\.\d{1,6})?", wait) else 0.0
        advice = f", and asks for a pause of {seconds:,.0f} s" if seconds else ""
        if kind == "denied":
            advice = structured_output.advice(self.output_mode)
        if status in LASTING:
            advice = f": {LASTING[status]}"
        reason = f"{self.model.model} at {self.host}: {status}{advice}"
        unbilled, lasting = kind != "timeout", status in LASTING
        return JudgeUnavailable(reason, kind, seconds, unbilled=unbilled, lasting=lasting)

    def _verdict(self, question: Question, body: bytes) -> Verdict:
        try:
            response = json.loads(body)
        except (ValueError, RecursionError):
            reason = f"{self.model.model} at {self.host}: 200, and no JSON: {PATH}"
            raise JudgeUnavailable(reason, lasting=True) from None
        try:
            choice = response["choices"][0]
            message, reason = dict(choice["message"]), str(choice["finish_reason"])
        except (LookupError, TypeError, ValueError):
            raise JudgeUnavailable(f"{self.model.model}: the response is no completion") from None
        usage = _usage(response.get("usage"))
        if reason not in FINISHED or message.get("refusal"):
            kind = "refused" if message.get("refusal") else UNFINISHED.get(reason, "malformed")
            raise NoVerdict(f"{self.model.model}: stopped for {reason}", kind, usage)
        try:
            return Verdict(question.read(self._answer(message)), usage, self.model.model)
        except NoVerdict as error:
            error.usage = usage
            raise

    def _answer(self, message: Mapping[str, Any]) -> Any:
        """The content in place of the verdict: the text, or the arguments of the one tool call."""
        if self.output_mode in ("json_schema", "json"):
            return structured_output.decoded(message.get("content"))
        try:
            (call,) = message["tool_calls"]
            name, arguments = call["function"]["name"], call["function"]["arguments"]
        except (KeyError, TypeError, ValueError):
            raise NoVerdict("the answer is not one call of the tool") from None
        if name != structured_output.TOOL:
            raise NoVerdict("the answer is not one call of the tool")
        return structured_output.decoded(arguments)


def _read(response: urllib3.BaseHTTPResponse, end: float) -> bytes:
    """The whole body.

    Raises:
        HTTPError: it is too large, incomplete, or late.
    """
    body = bytearray()
    while chunk := response.read1(CHUNK):
        body += chunk
        if monotonic() >= end:
            raise UrllibTimeout("the body came too slowly")
        if len(body) > MAX_BODY:
            raise Unreadable("the body is too large")
    announced = response.headers.get("content-length", "")
    if announced.isdigit() and int(announced) != len(body):  # which `read` checks, not `read1`
        raise Unreadable("the body was cut off")
    return bytes(body)


def _usage(counts: Any) -> Usage:
    details = counts.get("prompt_tokens_details") if isinstance(counts, dict) else None
    given, cached = token_count(counts, "prompt_tokens"), token_count(details, "cached_tokens")
    taken = token_count(counts, "completion_tokens")
    return Usage(max(0, given - cached), taken, cache_read=cached)
