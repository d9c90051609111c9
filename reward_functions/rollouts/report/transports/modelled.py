"""boto3's `sagemakerjobruntime`: SigV4, with the idempotency token of the model.

botocore builds and signs each request; `http` sends it. botocore's own sending has one timeout for
all calls of a client and its own retries, which would multiply with ours and exceed the deadline.
botocore's event `before-send` is made for that: who answers it sends in its place.

A botocore without the service is an error, and no reason to go over to bearer tokens: they are
another permission (`sagemaker:CallWithBearerToken`), and whoever sees one may use it.
"""

from __future__ import annotations

from functools import lru_cache
from threading import local
from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.errors import ConfigurationError
from reward_functions.rollouts.report.transports import CredentialsMissing
from reward_functions.rollouts.report.transports.http import Http
from reward_functions.rollouts.report.transports.limits import require_sendable
from reward_functions.rollouts.report.transports.replies import read_reply
from reward_functions.rollouts.request.endpoints import require_trusted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from reward_functions.rollouts.report.intents import Intent
    from reward_functions.rollouts.report.transports import Reply
    from reward_functions.rollouts.report.transports.account import Account

SERVICE: Final = "sagemakerjobruntime"
OPERATIONS: Final = {"complete": "complete_rollout", "reward": "update_reward"}

CLIENTS: Final = 16
"""Kept at once, by endpoint and region: a payload may name any of AWS's."""


class Modelled:
    """A transport over boto3's client.

    Args:
        account: who signs.
        trusted: endpoints that may be sent a signature, beside AWS's.

    Raises:
        ConfigurationError: the installed botocore does not know the service.
    """

    kind: Final = "modelled"

    def __init__(self, account: Account, trusted: Iterable[str] = ()) -> None:
        if SERVICE not in account.session().get_available_services():
            raise ConfigurationError(
                f"the installed boto3 has no client of {SERVICE}: pip install 'boto3>=1.44', "
                "or set REWARD_ROLLOUTS_TRANSPORT=bearer"
            )
        self._account = account
        self._http = Http(account.ca_bundle)
        self._trusted = set(trusted)
        self._call = local()
        self._clients = lru_cache(maxsize=CLIENTS)(self._opened)

    def send(self, intent: Intent, *, timeout: float) -> Reply:
        """Send an intent once; see `Transport`."""
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

        require_sendable(intent)
        require_trusted(intent.target.endpoint, trusted=self._trusted)
        client = self._client(intent.target.endpoint, intent.target.region)
        self._call.timeout, self._call.answer = timeout, None
        try:
            getattr(client, OPERATIONS[intent.operation])(
                JobArn=intent.target.job_arn,
                TrajectoryId=intent.target.trajectory_id,
                ClientToken=intent.token,
                **intent.payload,
            )
        except (BotoCoreError, ClientError) as error:
            # Before it was sent: STS refuses a role, a provider does not answer. Behind it, the
            # reply says more than botocore's exception for it.
            if self._call.answer is None:
                name = type(error).__name__
                raise CredentialsMissing(f"it could not be signed: {name}") from None
        return read_reply(self._call.answer)

    def trust(self, endpoints: Iterable[str]) -> None:
        """Allow these endpoints too."""
        self._trusted |= set(endpoints)

    def renew(self) -> None:
        """Look for credentials anew."""
        self._account.renew()

    def _client(self, endpoint: str, region: str) -> Any:
        with self._account.lock:  # botocore opens clients one at a time
            self._account.credentials()
            return self._clients(self._account.session(), endpoint, region)

    def _opened(self, session: Any, endpoint: str, region: str) -> Any:
        from botocore.config import Config  # noqa: PLC0415

        client = session.create_client(
            SERVICE,
            region_name=region,
            endpoint_url=endpoint,
            config=Config(
                user_agent="reward-functions",  # botocore's own takes a tenth of a report's time
                retries={"mode": "standard", "total_max_attempts": 1},
                use_fips_endpoint=False,  # the endpoint is given: AWS_USE_FIPS_ENDPOINT would clash
                use_dualstack_endpoint=False,
            ),
        )
        client.meta.events.register("before-send", self._sent)
        return client

    def _sent(self, request: Any, **_: Any) -> Any:
        """Send a signed request in botocore's place, and show botocore the status alone.

        Its parser fails on a reply that is nested deeply; `replies` reads what there is.
        """
        from botocore.awsrequest import AWSResponse  # noqa: PLC0415

        answer = self._call.answer = self._http.send(request, timeout=self._call.timeout)
        return AWSResponse(request.url, answer.status, {}, _Empty())


class _Empty:
    """A body without a byte, as botocore reads one."""

    def stream(self) -> Iterator[bytes]:
        yield b""
