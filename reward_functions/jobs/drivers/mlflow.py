"""The figures that a job of SageMaker keeps in an MLflow app, read without a client of MLflow.

    GET …/mlflow/runs/get             the names of the run's figures
    GET …/mlflow/metrics/get-history  every value of one, page after page

Each request names the app in a header and is signed (SigV4) for `sagemaker`. Where the app takes no
signature, a presigned address gives cookies for the same paths, as for its pages in a browser; it
may lead on within its own host alone. Whether an app takes signatures was never tried on AWS.

A value that is no finite number is left out, and a step that was written twice counts as it was
written last. A name whose first word says validation is of that split: `val-score/rewards/mean@1`.

Sources: sagemaker-mlflow 0.5.0 for header, service and address; "REST API" in MLflow's documents;
sagemaker-train 1.27.0 for the presigned address.
"""

from __future__ import annotations

import json
import re
from http.cookies import CookieError, SimpleCookie
from itertools import count
from math import inf
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Final, Literal
from urllib.parse import quote, urlencode, urljoin, urlsplit

from reward_functions.aws.failures import ENDED, AwsFailed, in_words
from reward_functions.aws.shell import aws_session
from reward_functions.core.loopback import is_loopback
from reward_functions.jobs.clients import BadAddress, ca_bundle, client, require_private
from reward_functions.jobs.drivers.fields import number, text, within
from reward_functions.jobs.drivers.openai_api import (
    ATTEMPTS,
    CONNECT,
    MAX_BODY,
    READ,
    SERVERS_OWN,
    TOO_MANY,
    pool_for,
    read_whole,
    wait_of,
)
from reward_functions.jobs.failures import MAX_MESSAGE, UNREADABLE, answer
from reward_functions.jobs.job import MetricPoint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from boto3.session import Session

    from reward_functions.jobs.job import MlflowRun

SIGNED_FOR: Final = "sagemaker"
"""The service of the signature; classic tracking servers have `sagemaker-mlflow`."""

APP_HEADER: Final = "x-sm-mlflow-app-arn"
APP: Final = re.compile(
    r"arn:aws[a-z-]*:sagemaker:[a-z0-9-]{1,20}:[0-9]{12}:mlflow-app/[\w-]{1,64}"
)
RUN: Final = re.compile(r"[A-Za-z0-9]{1,64}")

PATH: Final = "/api/2.0/mlflow/"

PAGE: Final = 10_000
"""Values of an answer: about a megabyte."""

MAX_PAGES: Final = 100
"""Of one figure: a million values."""

MAX_VALUES: Final = 2_000_000
"""Of a run: each is kept in memory."""

LONGEST: Final = 600.0
"""Seconds in which a run is read; an app that drips, or has pages without an end, is given up."""

MAX_KEYS: Final = 1_000
MAX_NAME: Final = 200
"""Characters of a figure's name; one that is longer, or does not print, is left out."""

MAX_STEP: Final = 1_000_000_000

MAX_REDIRECTS: Final = 5
MAX_COOKIES: Final = 20

DOMAINS: Final = (".aws", ".amazonaws.com", ".amazonaws.com.cn")
"""How the names of AWS's hosts end."""

OPENING: Final = "/auth"
"""The path of a presigned address, behind which the paths of the API begin."""

EXPIRES: Final = 60
"""Seconds in which a presigned address is opened: at once, here."""

SESSION: Final = 1_800
"""Seconds for which its cookies count, the fewest (botocore's model of SageMaker)."""

VALIDATION: Final = frozenset({"val", "valid", "validation", "eval", "evaluation", "test"})
"""First words of names: Nova's recipes (`val-score/…`), SageMaker's multi-turn jobs (`val/…`), verl
(`val-core/…`, `val-aux/…`), the OpenAI-compatible API (`valid_…`) and TRL (`eval/…`)."""

FIRST_WORD: Final = re.compile(r"[A-Za-z]+")

OK: Final = 200
DENIED: Final = frozenset({401, 403})
REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})

CODES: Final = {
    400: "ValidationException",
    401: "AccessDeniedException",
    403: "AccessDeniedException",
    404: "ResourceNotFoundException",
    429: "ThrottlingException",
}

REMEDIES: Final = {
    401: (
        "not allowed: the caller needs sagemaker-mlflow:Get* and sagemaker-mlflow:Search*, and for "
        "a presigned address sagemaker:CreatePresignedMlflowAppUrl and sagemaker-mlflow:AccessUI"
    ),
    404: "the app has no such run: it, or the run in it, was deleted",
    429: "throttled; nothing is lost: try again in a minute",
}
"""What to do, by status."""
REMEDIES[403] = REMEDIES[401]

_Answer = tuple[int, "Mapping[str, str]", bytes]


def metrics_of(
    run: MlflowRun, region: str, session: Session | None = None
) -> Iterator[MetricPoint]:
    """Every figure of a run so far, name by name, each by step.

    Raises:
        AwsFailed: the app refused, failed, was not reached or answered something else.
        WrongEndpoint: the call would reach another AWS than the one that is meant.
    """
    from reward_functions.jobs.clients import mlflow_base_url  # noqa: PLC0415

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
        AwsFailed: the ARN is of no app.
        BadAddress: the address would carry the signature unencrypted, or is none.
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
        if not APP.fullmatch(arn):
            raise AwsFailed(f"reading MLflow: {text(arn, MAX_NAME)!r} is not the ARN of an app")
        self.arn = arn
        self._base_url = base_url.rstrip("/")
        self._host = require_private(base_url)
        self._region, self._session, self._pause = region, session, pause
        self._pool = pool_for(base_url, ca_bundle(session))
        self._cookies: dict[str, str] = {}
        self._end = inf

    def points(self, run: str) -> Iterator[MetricPoint]:
        """The figures of a run; see `metrics_of`."""
        if not RUN.fullmatch(run):
            raise AwsFailed(f"reading MLflow: {text(run, MAX_NAME)!r} is not the id of a run")
        self._end, read = monotonic() + LONGEST, 0
        for name in self.names(run):
            values = self._history(run, name)
            read += len(values)
            if read > MAX_VALUES:
                raise AwsFailed(f"reading the MLflow run {run}: it has over {MAX_VALUES:,} values")
            yield from (
                MetricPoint(step, name, value, split_of(name))
                for step, (_, value) in sorted(values.items())
            )

    def names(self, run: str) -> list[str]:
        """The names of a run's figures, each once."""
        what = f"reading the MLflow run {run}"
        metrics = within(self._get(what, "runs/get", run_id=run), "run", "data", "metrics")
        if metrics is None:  # a run without any has no such member
            return []
        if not isinstance(metrics, list):
            raise AwsFailed(f"{what}: {UNREADABLE}")
        found = (text(within(each, "key"), MAX_NAME + 1) for each in metrics[:MAX_KEYS])
        known = (name for name in found if 0 < len(name) <= MAX_NAME and name.isprintable())
        return list(dict.fromkeys(known))

    def _history(self, run: str, name: str) -> dict[int, tuple[float, float]]:
        """By step: when its value was written last, and the value."""
        what = f"reading {text(name, MAX_NAME)} of the MLflow run {run}"
        found: dict[int, tuple[float, float]] = {}
        token: dict[str, str] = {}
        for _ in range(MAX_PAGES):
            asked = {"run_id": run, "metric_key": name, "max_results": str(PAGE)}
            page = self._get(what, "metrics/get-history", **asked, **token)
            values = page.get("metrics", [])
            if not isinstance(values, list):
                raise AwsFailed(f"{what}: {UNREADABLE}")
            for each in values:
                step, value = _whole(within(each, "step") or 0), number(within(each, "value"))
                at = float(_whole(within(each, "timestamp")) or 0)
                if step is None or value is None or not 0 <= step <= MAX_STEP:
                    continue
                if step not in found or at >= found[step][0]:
                    found[step] = at, value
            following = text(page.get("next_page_token"), MAX_BODY)
            if not following or {"page_token": following} == token:
                return found
            token = {"page_token": following}
        raise AwsFailed(f"{what}: the history has over {MAX_PAGES * PAGE:,} values")

    def _get(self, what: str, path: str, **query: str) -> dict[str, Any]:
        """An object: signed, or with cookies where the app takes no signature."""
        if monotonic() >= self._end:
            raise AwsFailed(f"{what}: the run takes over {LONGEST:.0f} seconds; try again")
        asked = f"{PATH}{path}?{urlencode(query, quote_via=quote)}"
        status, body = self._whole_answer(what, asked)
        if status in DENIED and not self._cookies and self._opened():
            status, body = self._whole_answer(what, asked)
        if status == OK:
            return _object(what, body)
        reason = REMEDIES.get(status) or f"the app answers {status} {_message(body)}".rstrip()
        raise AwsFailed(f"{what}: {reason}", CODES.get(status, f"HTTP {status}"))

    def _whole_answer(self, what: str, asked: str) -> tuple[int, bytes]:
        """Status and body, after as many tries as a busy app needs."""
        for attempt in count(1):
            url = self._base_url + asked
            headers = self._cookie_header() if self._cookies else self._signed(url)
            status, more, body = self._tried(what, url, headers)
            if not (status == TOO_MANY or status >= SERVERS_OWN) or attempt >= ATTEMPTS:
                return status, body
            self._pause(wait_of(more, attempt))
        raise AssertionError  # pragma: no cover - `count` has no end

    def _tried(self, what: str, url: str, headers: Mapping[str, str]) -> _Answer:
        import urllib3  # noqa: PLC0415 - only who uses this API needs it
        from urllib3.exceptions import HTTPError, NewConnectionError, SSLError  # noqa: PLC0415

        end = monotonic() + READ
        try:
            response = self._pool.request(
                "GET",
                url,
                headers={**headers, "accept": "application/json", "accept-encoding": "identity"},
                timeout=urllib3.Timeout(connect=CONNECT, read=READ),
                retries=False,
                redirect=False,
                preload_content=False,
            )
            return response.status, response.headers, read_whole(response, end, MAX_BODY)
        except SSLError:
            reason = f"the certificate of {self._host} cannot be verified"
        except HTTPError as error:
            gone = isinstance(error, NewConnectionError) and is_loopback(self._base_url)
            what_now = ENDED if gone else "try again"
            reason = f"no whole answer from {self._host} ({type(error).__name__}); {what_now}"
        raise AwsFailed(f"{what}: {reason}")

    def _signed(self, url: str) -> dict[str, str]:
        """The headers of a request, with its signature."""
        from botocore.auth import SigV4Auth  # noqa: PLC0415
        from botocore.awsrequest import AWSRequest  # noqa: PLC0415

        with in_words("signing a request to MLflow"):
            credentials = (self._session or aws_session()).get_credentials()
        if credentials is None:
            raise AwsFailed(
                "signing a request to MLflow: no credentials: `aws sso login`, or set a profile"
            )
        request = AWSRequest("GET", url, headers={APP_HEADER: self.arn})
        SigV4Auth(credentials.get_frozen_credentials(), SIGNED_FOR, self._region).add_auth(request)
        return dict(request.headers.items())

    def _opened(self) -> bool:
        """Whether a presigned address gave cookies; the way it goes is no error of its own."""
        try:
            create = client(
                "sagemaker", self._region, self._session
            ).create_presigned_mlflow_app_url
            asked: dict[str, Any] = {
                "Arn": self.arn,
                "ExpiresInSeconds": EXPIRES,
                "SessionExpirationDurationInSeconds": SESSION,
            }
            url = text(answer("opening MLflow", create, **asked).get("AuthorizedUrl"))
            self._follow(url)
        except (AwsFailed, BadAddress):
            self._cookies = {}
        return bool(self._cookies)

    def _follow(self, url: str) -> None:
        """Open an address, and those that it leads to on its own host."""
        host = require_private(url)
        if not self._of_same_aws(url):
            raise BadAddress(f"{host} is of another AWS than the MLflow app's address")
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}"
        for _ in range(MAX_REDIRECTS):
            status, headers, _ = self._tried("opening MLflow", url, self._cookie_header())
            self._keep(headers)
            if status not in REDIRECTS:
                break
            url = _joined(url, headers.get("location", ""))
            if not url.startswith(f"{origin}/"):
                break
        if self._cookies:  # what is signed goes to the app's own address alone
            self._base_url = f"{origin}{parts.path.partition(OPENING)[0]}".rstrip("/")

    def _of_same_aws(self, url: str) -> bool:
        """Whether an address is the app's own host, or one of AWS's where the app is AWS's."""
        if is_loopback(url) or is_loopback(self._base_url):
            return is_loopback(url) and is_loopback(self._base_url)
        host, ours = (urlsplit(each).hostname or "" for each in (url, self._base_url))
        return host == ours or (host.endswith(DOMAINS) and ours.endswith(DOMAINS))

    def _keep(self, headers: Mapping[str, str]) -> None:
        """The cookies of an answer, by name; what is none is passed over."""
        every = getattr(headers, "getlist", lambda _: ())("set-cookie")
        for line in every:
            try:
                cookies = SimpleCookie(line)
            except CookieError:
                continue
            for name, morsel in cookies.items():
                if len(self._cookies) < MAX_COOKIES:
                    self._cookies[name] = morsel.coded_value

    def _cookie_header(self) -> dict[str, str]:
        pairs = "; ".join(f"{name}={value}" for name, value in self._cookies.items())
        return {"cookie": pairs} if pairs else {}


def _joined(url: str, location: str) -> str:
    """Where a redirection leads; "" where that is no address."""
    try:
        return urljoin(url, location)
    except ValueError:
        return ""


def _whole(value: Any) -> int | None:
    """A whole number; JSON of protocol buffers has those of 64 bits as strings."""
    if isinstance(value, str) and len(value) <= len(str(2**63)) and value.isascii():
        value = int(value) if value.isdigit() else None
    found = number(value)
    return int(found) if found is not None and found == int(found) else None


def _object(what: str, body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise AwsFailed(f"{what}: {UNREADABLE}")
    return found


def _message(body: bytes) -> str:
    """The app's own message, `{"error_code": …, "message": …}`; "" where it has none."""
    try:
        return text(within(json.loads(body), "message"), MAX_MESSAGE)
    except (ValueError, RecursionError):
        return ""
