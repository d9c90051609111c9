"""boto3: clients whose every policy call belongs to the rollout that makes it.

    runtime = wrap_boto3(boto3.client("sagemakerjobruntime", endpoint_url=…))
    runtime.sample(Body=json.dumps(request))["Body"].read()

| client | operation | what a rollout adds | recorded |
| --- | --- | --- | --- |
| sagemakerjobruntime | Sample, SampleWithResponseStream | ids, parameters, a span id | yes |
| bedrock-runtime, where a proxy stands | Converse | headers, parameters | yes |
| the same | ConverseStream, InvokeModel… | headers | counted as a turn |

Handlers of events stand on the client itself, as boto3 knows no other way; outside a rollout they
do nothing. The headers are there before the request is signed. botocore's own retries are attempts
of one call. Not handled: aioboto3's clients, whose handlers are asynchronous.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from botocore.response import StreamingBody

from reward_functions.rollouts.policy import converse
from reward_functions.rollouts.policy.answers import Answer, CallRefused
from reward_functions.rollouts.policy.calls import UnsupportedClient, open_call
from reward_functions.rollouts.policy.outgoing import CallHeaders, json_object, with_parameters
from reward_functions.rollouts.request.context import get_rollout_context
from reward_functions.rollouts.request.headers import make_inference_headers

if TYPE_CHECKING:
    from collections.abc import Callable

    from reward_functions.rollouts.policy.calls import PolicyCall

_Client = TypeVar("_Client")

CALL: Final = "reward_functions.policy_call"
"""Where a call is kept while it is made: in botocore's context of the request."""

ERROR: Final = 300
"""The first status that is no answer."""

ID: Final = "reward-functions-rollouts"
"""Of the handlers, so that a client that is wrapped twice has them once."""


def wrap_boto3(client: _Client) -> _Client:
    """The same client, whose policy calls carry the rollout that makes them.

    Args:
        client: boto3's, of `sagemakerjobruntime` or `bedrock-runtime`; one that is wrapped already
            stays as it is.

    Raises:
        UnsupportedClient: of any other service.
        PolicyFailure: at a call after the deadline of its episode.
    """
    meta = getattr(client, "meta", None)
    service = getattr(getattr(meta, "service_model", None), "service_name", "")
    if service not in PREPARED:
        raise UnsupportedClient(
            "wrap_boto3 takes a client of sagemakerjobruntime or bedrock-runtime, not "
            f"{service or type(client).__name__}"
        )
    events: Any = meta.events  # type: ignore[union-attr]
    kind = meta.service_model.service_id.hyphenize()  # type: ignore[union-attr]
    handlers: dict[str, Callable[..., Any]] = {
        "provide-client-params": _prepare,
        "before-sign": _identify,
        "response-received": _attempted,
        "after-call": _answered,
        "after-call-error": _failed,
    }
    for event, handler in handlers.items():
        events.register(f"{event}.{kind}", handler, unique_id=f"{ID}-{event}")
    return client


def _prepare(params: dict[str, Any], model: Any, context: dict[str, Any], **_: Any) -> Any:
    """The parameters of an operation with what its rollout adds; it is a call from here on."""
    prepare = PREPARED[model.service_model.service_name].get(model.name)
    if get_rollout_context() is None or prepare is None:
        return None
    changed, request = prepare(params)
    context[CALL] = open_call(request)
    return changed


def _sample(params: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any] | None]:
    headers = list(make_inference_headers(get_rollout_context()).values())
    ids = dict(zip(("JobArn", "TrajectoryId"), headers, strict=False))
    body = params.get("Body", b"")
    request = json_object(body) if isinstance(body, bytes | bytearray | str) else None
    if request is None:
        return params | ids, None
    request = with_parameters(request)
    return params | ids | {"Body": json.dumps(request, ensure_ascii=False).encode()}, request


def _converse(params: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any] | None]:
    sampled = with_parameters({})
    given = {new: sampled[old] for old, new in converse.NAMES.items() if old in sampled}
    changed = params | {"inferenceConfig": (params.get("inferenceConfig") or {}) | given}
    return changed, converse.request_of(changed)


def _counted(params: dict[str, Any]) -> tuple[dict[str, Any], None]:
    return params, None


PREPARED: Final[dict[str, dict[str, Callable[..., Any]]]] = {
    "sagemakerjobruntime": {"Sample": _sample, "SampleWithResponseStream": _sample},
    "bedrock-runtime": {
        "Converse": _converse,
        "ConverseStream": _counted,
        "InvokeModel": _counted,
        "InvokeModelWithResponseStream": _counted,
    },
}
"""Operations that call a policy: what makes their parameters, and their body in OpenAI's form."""


def _identify(request: Any, **_: Any) -> None:
    """The rollout's headers on a request that is about to be signed; each attempt has its own."""
    call = request.context.get(CALL)
    if call is None:
        return
    call.attempt()
    for name, value in CallHeaders().items():
        del request.headers[name]
        request.headers[name] = value


def _attempted(context: dict[str, Any], response_dict: Any, exception: Any, **_: Any) -> None:
    """An attempt that failed, whether or not botocore makes another."""
    call = context.get(CALL)
    if call is None:
        return
    if exception is not None:
        call.failed(exception)
    elif response_dict["status_code"] >= ERROR:
        call.failed(CallRefused(f"status {response_dict['status_code']}"))


def _answered(
    http_response: Any, parsed: dict[str, Any], model: Any, context: dict[str, Any], **_: Any
) -> None:
    """An answer that came; a stream is recorded while it is read."""
    call: PolicyCall | None = context.pop(CALL, None)
    if call is None or http_response.status_code >= ERROR:
        return
    call.answering()
    body = parsed.get("Body")
    if model.name == "Converse":
        call.answered(converse.completion_of(parsed))
    elif isinstance(body, StreamingBody):
        kind = http_response.headers.get("content-type", "")
        parsed["Body"] = _Copied(body, Answer(call, kind))
    else:
        call.left()


def _failed(exception: BaseException, context: dict[str, Any], **_: Any) -> None:
    """A call that ended without an answer."""
    call = context.pop(CALL, None)
    if call is not None:
        call.failed(exception)


class _Copied(StreamingBody):  # type: ignore[misc] # botocore has no types
    """A body as it is read, and a copy of it."""

    def __init__(self, body: Any, answer: Answer) -> None:
        super().__init__(body._raw_stream, body._content_length)  # noqa: SLF001 - no other way to it
        self._answer = answer

    def read(self, amt: int | None = None) -> bytes:
        """Read, and copy what is read."""
        with self._answer.failing():
            piece: bytes = super().read(amt)
        self._answer.read(piece)
        if not piece or amt is None:
            self._answer.end()
        return piece

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """The reader has all that it wants."""
        super().close()
        self._answer.end()
