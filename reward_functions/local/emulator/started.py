"""An emulator that was started, by this process or another one: its address and its clients."""

from __future__ import annotations

import json
import ssl
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import TYPE_CHECKING, Any, Final

from reward_functions.aws.emulator_record import LOOPBACK, Emulator, LocalAwsError, endpoint
from reward_functions.local.emulator.environment import (
    ACCOUNT,
    REGION,
    SECRET,
    merged,
    users_own,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from boto3.session import Session

TRAINED: Final = frozenset({"bedrock", "bedrock-runtime", "sagemaker", "sagemakerjobruntime"})
"""Services, as boto3 names them, that the training double stands in for."""

LOOK_SECONDS: Final = 1.0
"""What an emulator that is ready takes at most to say so."""

RESET_SECONDS: Final = 30.0
"""What emptying it may take: the processes of its functions end one by one."""


class EmulatorEnded(LocalAwsError):
    """The emulator is gone. The message has the last line it wrote."""


@dataclass(frozen=True, slots=True)
class LocalAws(Emulator):
    """An emulator that was started, by this process or another one."""

    @property
    def training_endpoint(self) -> str:
        """The address of the training double beside it; "" where there is none."""
        training = self.record.training
        return endpoint(training.port, tls=False) if training else ""

    @property
    def environment(self) -> dict[str, str]:
        """The variables that point every AWS tool at it."""
        training = self.record.training
        return users_own(
            self.folder.path,
            self.record.port,
            self.record.certificate,
            training.port if training else None,
        )

    def environment_for(self, environ: Mapping[str, str]) -> dict[str, str]:
        """A whole environment turned towards it: for a program to run in."""
        return merged(environ, self.environment)

    def require(self) -> None:
        """Nothing, while it runs.

        Raises:
            EmulatorEnded: it has ended.
        """
        if not self.alive:
            raise EmulatorEnded(f"the local AWS {self.name!r} has ended{self.last_words()}")

    def session(self, **credentials: str) -> Session:
        """A boto3 session whose clients reach it, whatever the caller's own environment says.

        Args:
            credentials: as `boto3.Session` takes them; the root of the account where not given.
        """
        import boto3  # noqa: PLC0415 - half a second, and starting an emulator needs none of it

        own = {"aws_access_key_id": ACCOUNT, "aws_secret_access_key": SECRET}
        session = boto3.Session(**(credentials or own), region_name=REGION)
        certificate = self.record.certificate
        verified = {} if certificate is None else {"verify": str(certificate.certificate)}
        # A session takes no address of its own; its clients do.
        session.client = partial(self._client, session.client, verified)
        return session

    def _client(
        self, make: Callable[..., Any], verified: dict[str, str], service: str, **options: Any
    ) -> Any:
        address = {"endpoint_url": self.endpoint} | verified
        if self.training_endpoint and service in TRAINED:
            address = {"endpoint_url": self.training_endpoint}
        return make(service, **address | options)

    def client(self, service: str, **options: Any) -> Any:
        """A boto3 client of one of its services, as root; the options are boto3's."""
        return self.session().client(service, **options)

    def reset(self) -> None:
        """Empty it of everything that was made in it.

        Raises:
            LocalAwsError: it has ended, or does not do so.
        """
        self.require()
        if self.training_endpoint:
            self.ask_training("POST", "reset")
        status = self._asked("POST", "/_ministack/reset", RESET_SECONDS)
        if status != HTTPStatus.OK:
            raise LocalAwsError(f"the local AWS {self.name!r} does not empty itself: {status}")

    def ready(self) -> bool:
        """Whether it answers."""
        return self._asked("GET", "/_ministack/ready", LOOK_SECONDS) == HTTPStatus.OK

    def _asked(self, method: str, path: str, patience: float) -> int | None:
        """The status of an answer; None where there is none."""
        connection = self.connection(patience)
        try:
            connection.request(method, path)
            response = connection.getresponse()
            response.read()
        except (OSError, HTTPException):
            return None
        finally:
            connection.close()
        return response.status

    def connection(self, patience: float) -> HTTPConnection:
        """A connection to it, not opened yet.

        Args:
            patience: seconds to wait for each piece of an answer.
        """
        certificate, port = self.record.certificate, self.record.port
        if certificate is None:
            return HTTPConnection(LOOPBACK, port, timeout=patience)
        trusted = ssl.create_default_context(cafile=str(certificate.certificate))
        return HTTPSConnection(LOOPBACK, port, timeout=patience, context=trusted)

    def ask_training(self, method: str, what: str, **given: Any) -> dict[str, Any]:
        """What the training double beside it answers to one of its controls.

        Args:
            method: of HTTP.
            what: such as "throttle"; `training_double.server` has them all.
            given: the request's fields.

        Raises:
            LocalAwsError: there is no double, it has ended, or it refuses.
        """
        training = self.record.training
        if training is None:
            raise LocalAwsError(f"the local AWS {self.name!r} runs without --training")
        connection = HTTPConnection(LOOPBACK, training.port, timeout=RESET_SECONDS)
        path, body = f"/_training/{what}", json.dumps(given).encode() if given else b""
        signed = self.enforcing and method != "GET"
        headers = self._signature(method, path, body) if signed else {}
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            answer: dict[str, Any] = json.loads(response.read())
        except (OSError, HTTPException, ValueError):
            if not training.process.alive:
                raise LocalAwsError(
                    f"the training double of {self.name!r} has ended, with all that it held: "
                    f"reward local down --name {self.name}, then up --training"
                ) from None
            raise LocalAwsError(
                f"the training double of {self.name!r} does not answer: see "
                f"{self.folder.training_log}"
            ) from None
        finally:
            connection.close()
        if response.status != HTTPStatus.OK:
            raise LocalAwsError(f"the training double refuses: {answer.get('message')}")
        return answer

    def _signature(self, method: str, path: str, body: bytes) -> dict[str, str]:
        """The headers that make a request to the training double one of root."""
        from botocore.auth import SigV4Auth  # noqa: PLC0415 - a tenth of a second
        from botocore.awsrequest import AWSRequest  # noqa: PLC0415
        from botocore.credentials import Credentials  # noqa: PLC0415

        request = AWSRequest(method, f"{self.training_endpoint}{path}", data=body)
        SigV4Auth(Credentials(ACCOUNT, SECRET), "bedrock", REGION).add_auth(request)
        return dict(request.headers.items())

    def last_words(self) -> str:
        """The last line of its log, behind a colon."""
        return self.folder.tail(self.folder.log)
