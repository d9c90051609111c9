"""The figures that a job of SageMaker keeps in an MLflow app, read without a client of MLflow.

    GET …/mlflow/runs/get             the names of the run's figures
    GET …/mlflow/metrics/get-history  every value of one, page after page

Each request names the app in a header and is signed (SigV4) for `sagemaker`. Whether an app takes
signatures was never tried on AWS.

A value that is no finite number is left out, and a step that was written twice counts as it was
written last. A name whose first word says validation is of that split: `val-score/rewards/mean@1`.

Sources: sagemaker-mlflow 0.5.0 for header, service and address; "REST API" in MLflow's documents.
"""

from __future__ import annotations

import json
import re
from itertools import count
from math import isfinite
from time import sleep
from typing import TYPE_CHECKING, Any, Final, Literal
from urllib.parse import quote, urlencode

from reward_functions.aws.calls import FOREIGN
from reward_functions.aws.failures import AwsFailed, in_words
from reward_functions.aws.shell import aws_session
from reward_functions.jobs.clients import ca_bundle, mlflow_base_url, require_private
from reward_functions.jobs.drivers.openai import (
    ATTEMPTS,
    CONNECT,
    READ,
    SERVERS_OWN,
    TOO_MANY,
    wait_of,
)
from reward_functions.jobs.job import MetricPoint, MlflowRun

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from boto3.session import Session


SIGNED_FOR: Final = "sagemaker"
"""The service of the signature; classic tracking servers have `sagemaker-mlflow`."""

APP_HEADER: Final = "x-sm-mlflow-app-arn"
PATH: Final = "/api/2.0/mlflow/"

PAGE: Final = 10_000
"""Values of an answer: about a megabyte."""

VALIDATION: Final = frozenset({"val", "valid", "validation", "eval", "evaluation", "test"})
"""First words of names: Nova's recipes (`val-score/…`), SageMaker's multi-turn jobs (`val/…`), verl
(`val-core/…`, `val-aux/…`), the OpenAI-compatible API (`valid_…`) and TRL (`eval/…`)."""

FIRST_WORD: Final = re.compile(r"[A-Za-z]+")

OK: Final = 200

CODES: Final = {
    400: "ValidationException",
    401: "AccessDeniedException",
    403: "AccessDeniedException",
    404: "ResourceNotFoundException",
    429: "ThrottlingException",
}

DENIED: Final = "not allowed: the caller needs sagemaker-mlflow:Get* and sagemaker-mlflow:Search*"

REMEDIES: Final = {
    401: DENIED,
    403: DENIED,
    404: "the app has no such run: it, or the run in it, was deleted",
    429: "throttled; nothing is lost: try again in a minute",
}
"""What to do, by status."""


def metrics_of(
    run: MlflowRun, region: str, session: Session | None = None
) -> Iterator[MetricPoint]:
    """Every figure of a run so far, name by name, each by step.

    Raises:
        AwsFailed: the app refused, failed, was not reached or answered something else.
        WrongEndpoint: the call would reach another AWS than the one that is meant.
    """
    yield from MlflowApp(run.app, mlflow_base_url(region, session), region, session).points(run.run)


def split_of(name: str) -> Literal["training", "validation"]:
    """Whose figure a name is, by its first word."""
    first = FIRST_WORD.match(name)
    return "validation" if first and first[0].lower() in VALIDATION else "training"


class MlflowApp:
    """The MLflow app of an account, for reading.

    Args:
        arn: of the app.
        base_url: as `clients.mlflow_base_url` gives it.
        region: of the app, for the signature.
        session: boto3's; the caller's own where not given.
        pause: waits some seconds.

    Raises:
        BadAddress: the address would carry the signature unencrypted, or is no address.
    """

    def __init__(
        self,
        arn: str,
        base_url: str,
        region: str,
        session: Session | None = None,
        *,
        pause: Callable[[float], object] = sleep,
    ) -> None:
        from botocore.httpsession import URLLib3Session  # noqa: PLC0415 - 0.2 s
        from botocore.utils import get_environ_proxies  # noqa: PLC0415

        require_private(base_url)
        self.arn, self._base_url = arn, base_url.rstrip("/")
        self._region, self._session, self._pause = region, session, pause
        self._http = URLLib3Session(
            verify=ca_bundle(session) or True,
            proxies=get_environ_proxies(base_url),
            timeout=(CONNECT, READ),
        )

    def points(self, run: str) -> Iterator[MetricPoint]:
        """The figures of a run; see `metrics_of`."""
        found = self._get(f"reading the MLflow run {run}", "runs/get", run_id=run)
        named = found.get("run", {}).get("data", {}).get("metrics", [])  # absent without any
        for name in dict.fromkeys(each["key"] for each in named if each["key"].isprintable()):
            values = self._history(run, name)
            yield from (
                MetricPoint(step, name, value, split_of(name))
                for step, (_, value) in sorted(values.items())
            )

    def _history(self, run: str, name: str) -> dict[int, tuple[int, float]]:
        """By step: when its value was written last, and the value."""
        found: dict[int, tuple[int, float]] = {}
        asked = {"run_id": run, "metric_key": name, "max_results": str(PAGE)}
        while True:
            page = self._get(
                f"reading {name} of the MLflow run {run}", "metrics/get-history", **asked
            )
            for each in page.get("metrics", []):
                # JSON of protocol buffers has whole numbers of 64 bits as strings.
                step, at = int(each.get("step", 0)), int(each.get("timestamp", 0))
                value = _number(each.get("value"))
                if value is not None and (step not in found or at >= found[step][0]):
                    found[step] = at, value
            if not (following := page.get("next_page_token")):
                return found
            asked["page_token"] = following

    def _get(self, what: str, path: str, **query: str) -> dict[str, Any]:
        """An object, after as many tries as a busy app needs."""
        url = f"{self._base_url}{PATH}{path}?{urlencode(query, quote_via=quote)}"
        for attempt in count(1):
            with in_words(what):
                answer = self._http.send(self._signed(url))
            status = answer.status_code
            if not (status == TOO_MANY or status >= SERVERS_OWN) or attempt >= ATTEMPTS:
                break
            self._pause(wait_of(answer.headers, attempt))
        try:
            found = json.loads(answer.content)
        except ValueError:
            found = None
        if status == OK and isinstance(found, dict):
            return found
        if status == OK:
            raise AwsFailed(f"{what}: {FOREIGN}")
        message = found.get("message", "") if isinstance(found, dict) else ""
        reason = REMEDIES.get(status) or f"the app answers {status} {message}".rstrip()
        raise AwsFailed(f"{what}: {reason}", CODES.get(status, f"HTTP {status}"))

    def _signed(self, url: str) -> Any:
        """A request with its signature."""
        from botocore.auth import SigV4Auth  # noqa: PLC0415 - 0.2 s
        from botocore.awsrequest import AWSRequest  # noqa: PLC0415

        credentials = (self._session or aws_session()).get_credentials()
        if credentials is None:
            raise AwsFailed(
                "signing a request to MLflow: no credentials: `aws sso login`, or set a profile"
            )
        request = AWSRequest(
            "GET", url, headers={APP_HEADER: self.arn, "accept": "application/json"}
        )
        SigV4Auth(credentials.get_frozen_credentials(), SIGNED_FOR, self._region).add_auth(request)
        return request.prepare()


def _number(value: Any) -> float | None:
    """A finite number; None for what MLflow writes as a word, such as "NaN"."""
    numeric = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if numeric and isfinite(value) else None
