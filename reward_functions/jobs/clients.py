"""Clients of the services that train and host, and the guard that keeps two kinds of AWS apart.

    shell                                   general    the others    a call goes
    of AWS                                  AWS        AWS           to AWS
    `reward local up --training`            here       here          to the training double
    `reward local up`                       here       (general)     refused: the emulator's own
                                                                     Bedrock trains nothing
    half-pointed, one way or the other      here/AWS   AWS/here      refused: data would go to one
                                                                     AWS, and the job to the other

*General* is `AWS_ENDPOINT_URL` or a profile's `endpoint_url`; the others are those of `SERVICES`,
each with a variable of its own. The AWS SDKs' reference guide says which one counts
("Service-specific endpoints"); *here* is this machine alone. The whole shell is checked whichever
service is wanted, for a job needs them all.

Addresses that a key or data are sent to, as the library that connects reads them.

refused                                          because
a backslash, a space, a control character        two parsers find two hosts in it
a name or a password before the host             it would stand in messages

The short-term key of Bedrock's OpenAI-compatible API: made here, renewed in time, never shown.

A key is a request to Bedrock that the caller's credentials have signed in advance. Its holder is
the caller, in one region, for at most twelve hours and never longer than the credentials last.

Source: AWS's package aws-bedrock-token-generator 1.1.0; `AWS_BEARER_TOKEN_BEDROCK` is botocore's.
"""

from __future__ import annotations

import os
import re
from base64 import b64encode
from bisect import bisect_left
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from reward_functions.aws.calls import client as control_plane
from reward_functions.aws.failures import NO_CREDENTIALS, AwsFailed, in_words
from reward_functions.aws.shell import aws_session
from reward_functions.aws.written_stages import emulator_hint
from reward_functions.core.errors import ConfigurationError
from reward_functions.core.loopback import AMBIGUOUS, is_loopback

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from boto3.session import Session

FORM: Final = "https://HOST or http://HOST:PORT"

SCHEMES: Final = frozenset({"http", "https"})


class BadAddress(ConfigurationError):
    """An address that nothing is sent to. The message does not show it: it may hold a password."""


def host_of(url: str, called: str = "an endpoint") -> str:
    """The host and port that a URL leads to.

    Args:
        url: of an endpoint.
        called: what it is called in a message, such as the variable that holds it.

    Raises:
        BadAddress: it has none, or one that two parsers read as two.
    """
    try:
        read = urlsplit(url)
        found = read.scheme in SCHEMES and read.hostname and read.port != 0
    except ValueError:
        raise BadAddress(f"{called} is no URL: write {FORM}") from None
    if AMBIGUOUS.search(url) or "@" in read.netloc:
        raise BadAddress(
            f"{called} has a backslash, a space, a control character or a password in it: write "
            f"{FORM}"
        )
    if not found:
        raise BadAddress(f"{called} is no URL: write {FORM}")
    return read.netloc


def require_private(url: str) -> str:
    """The host and port of an address that a key may be sent to: over https, or to this machine.

    Raises:
        BadAddress: it is no address, or the key would travel in the clear.
    """
    host = host_of(url)
    if urlsplit(url).scheme != "https" and not is_loopback(f"http://{host}"):
        raise BadAddress(f"{host}: a key travels over https, or to this machine")
    return host


GENERAL: Final = "AWS_ENDPOINT_URL"

MANTLE: Final = "bedrock-mantle"
"""The OpenAI-compatible API: no service of boto3, but named as those are."""

MLFLOW: Final = "sagemaker-mlflow"
"""MLflow's REST API of SageMaker's apps: no service of boto3, either."""

TRAINING: Final = (
    "bedrock",
    "bedrock-runtime",
    MANTLE,
    "sagemaker",
    MLFLOW,
    "sagemakerjobruntime",
)
"""What the local AWS emulator does not have, and the training double does."""

SERVICES: Final = (*TRAINING, "s3", "lambda")
"""What a job needs: with the last two, its data and its grader."""

ADDRESSES: Final = {
    MANTLE: ("the OpenAI-compatible API", "https://bedrock-mantle.{}.api.aws"),
    MLFLOW: ("MLflow", "https://mlflow.sagemaker.{}.app.aws"),
}
"""AWS's own, by region, of services that boto3 does not know. Source: AWS's guide to Bedrock,
"Access and security for open-weight models"; of MLflow, the host that the package sagemaker-mlflow
asks."""

VERSION: Final = "/v1"
"""The path below which the OpenAI-compatible API lies."""

PORTS: Final = {"http": 80, "https": 443}


class WrongEndpoint(ConfigurationError):
    """A call would go to another AWS than the one that is meant. The message names the way out."""


@dataclass(frozen=True, slots=True)
class Endpoints:
    """Where calls go that do not go to AWS's own address.

    Args:
        general: of every service that has no other; "" for AWS's own.
        services: of each of `SERVICES`, the general one where it has no other.
    """

    general: str
    services: Mapping[str, str]

    @property
    def local(self) -> bool:
        """Whether the shell points to the local AWS emulator."""
        return is_loopback(self.general)

    def check(self) -> None:
        """Refuse a shell that points to the emulator's own Bedrock, or to two kinds of AWS.

        Raises:
            WrongEndpoint: one sentence, with the command that turns the shell.
            BadAddress: an endpoint is no plain URL.
        """
        self.check_one_aws()
        emulated = [each for each in TRAINING if _port(self.services[each]) == _port(self.general)]
        if self.local and emulated:
            towards, _ = self._ways()
            raise WrongEndpoint(
                "the local AWS emulator's own Bedrock trains nothing, and this shell points there "
                f"without {_variables(emulated)}: {towards}"
            )

    def check_one_aws(self) -> None:
        """Refuse a shell that points to two kinds of AWS: enough where nothing is trained.

        Raises:
            WrongEndpoint: one sentence, with the commands that turn the shell.
            BadAddress: an endpoint is no plain URL.
        """
        named = {GENERAL: self.general} | {
            _variable(each): url for each, url in self.services.items()
        }
        for variable, url in named.items():
            if url:
                host_of(url, variable)
        here = [service for service, url in self.services.items() if is_loopback(url)]
        away = [service for service in self.services if service not in here]
        if self.local and away:
            split = f"{GENERAL} points to the local AWS emulator, and {_variables(away)} to AWS"
        elif here and not self.local:
            split = f"{_variables(here)} point to this machine, and {GENERAL} to AWS"
        else:
            return
        towards, turned_away = self._ways()
        raise WrongEndpoint(f"{split}: use one or the other, {turned_away} or {towards}")

    def _ways(self) -> tuple[str, str]:
        """The lines that point this shell at its emulator, and away from it."""
        from reward_functions.aws.emulator_record import (  # noqa: PLC0415 - for errors alone
            away_line,
            pointed_at,
            towards_line,
        )

        aws = pointed_at([self.general, *self.services.values()])
        return towards_line(aws, training=True), away_line(aws)


def endpoints(session: Session | None = None) -> Endpoints:
    """The endpoints of the environment and the profile, in the order of botocore.

    Args:
        session: boto3's, for its profile; the environment's own where not given.

    Raises:
        AwsFailed: the configuration cannot be read.
    """
    with in_words("reading the AWS configuration"):
        core = _core(session)
        ignored = core.get_config_variable("ignore_configured_endpoint_urls")
        profile = core.get_scoped_config()
        services = core.full_config.get("services", {}).get(profile.get("services"), {})
    if ignored:
        return Endpoints("", dict.fromkeys(SERVICES, ""))
    general = os.environ.get(GENERAL) or ""

    def configured(service: str) -> str:
        own = services.get(service.replace("-", "_"), {})
        return (
            os.environ.get(_variable(service))
            or general
            or (own.get("endpoint_url") if isinstance(own, dict) else "")
            or profile.get("endpoint_url")
            or ""
        )

    return Endpoints(
        general or profile.get("endpoint_url") or "",
        {service: configured(service) for service in SERVICES},
    )


def client(service: str, region: str, session: Session | None = None) -> Any:
    """A boto3 client of a service that a job needs.

    Args:
        service: of `SERVICES`, except those that boto3 does not know.
        region: of the job.
        session: boto3's; the caller's own where not given.

    Raises:
        WrongEndpoint: it would reach another AWS than the one that is meant.
        AwsFailed: the configuration cannot be read.
    """
    endpoints(session).check()
    return control_plane(service, region, session)


def openai_base_url(region: str, session: Session | None = None) -> str:
    """The base URL of the OpenAI-compatible API, without a slash at its end.

    Args:
        region: of the job.
        session: boto3's, for its profile.

    Returns:
        what `AWS_ENDPOINT_URL_BEDROCK_MANTLE` or the profile names, with `/v1` where it is missing;
        else AWS's own. A general endpoint that is not this machine's is not taken for it.

    Raises:
        WrongEndpoint: it would reach another AWS than the one that is meant, or no address is
            known.
        AwsFailed: the configuration cannot be read.
    """
    found = _base_url(MANTLE, region, session)
    return found if found.endswith(VERSION) else found + VERSION


def mlflow_base_url(region: str, session: Session | None = None) -> str:
    """The address of MLflow's REST API of SageMaker's apps, without a slash at its end.

    Args:
        region: of the job.
        session: boto3's, for its profile.

    Returns:
        what `AWS_ENDPOINT_URL_SAGEMAKER_MLFLOW` or the profile names; else AWS's own. A general
        endpoint that is not this machine's is not taken for it.

    Raises:
        WrongEndpoint: it would reach another AWS than the one that is meant, or no address is
            known.
        AwsFailed: the configuration cannot be read.
    """
    return _base_url(MLFLOW, region, session)


def _base_url(service: str, region: str, session: Session | None) -> str:
    """What a shell names for a service that boto3 does not know; else AWS's own address."""
    import boto3  # noqa: PLC0415 - half a second

    found = endpoints(session)
    found.check()
    given = found.services[service]
    if given and given != found.general:
        if not given.startswith("https://") and not (given.startswith("http://") and found.local):
            raise WrongEndpoint(f"{_variable(service)}: {given} is not https://")
        return given.rstrip("/")
    words, address = ADDRESSES[service]
    with in_words(f"finding the address of {words}"):
        partition = boto3.Session(region_name=region).get_partition_for_region(region)
    if partition != "aws":
        raise WrongEndpoint(
            f"no address of {words} is published for {region} ({partition}): "
            f"set {_variable(service)}"
        )
    return address.format(region)


def ca_bundle(session: Session | None = None) -> str:
    """The file of certificates that the AWS SDKs trust; "" for the system's own.

    Raises:
        AwsFailed: the configuration cannot be read.
    """
    with in_words("reading the AWS configuration"):
        found = _core(session).get_config_variable("ca_bundle")
    return found or os.environ.get("REQUESTS_CA_BUNDLE") or ""


def _core(session: Session | None) -> Any:
    """A session of botocore with the profile of one of boto3, for what boto3 does not give out."""
    import botocore.session  # noqa: PLC0415 - 0.2 s

    known = session is not None and session.profile_name in session.available_profiles
    return botocore.session.Session(profile=session.profile_name if session and known else None)


def _variable(service: str) -> str:
    return f"{GENERAL}_{service.replace('-', '_').upper()}"


def _variables(services: list[str]) -> str:
    return ", ".join(map(_variable, services))


def _port(url: str) -> int | None:
    """The port of a URL of this machine; one port is one server there."""
    try:
        parts = urlsplit(url)
        return parts.port or PORTS.get(parts.scheme)
    except ValueError:
        return None


HOST: Final = "bedrock.amazonaws.com"
PREFIX: Final = "bedrock-api-key-"
SECRET: Final = re.compile(rf"{PREFIX}[A-Za-z0-9+/=_-]*")
"""A key of ours, also an earlier one, or a part of one."""

UNSIGNED: Final = "&Version=1"
"""What follows the signed request, and is no part of what is signed."""

LONGEST: Final = 43_200
"""Seconds, twelve hours."""

MARGIN: Final = timedelta(minutes=5)
"""How long before its end a key is replaced: longer than any request takes."""

VARIABLE: Final = "AWS_BEARER_TOKEN_BEDROCK"
"""A key that the caller has already; boto3's own clients of Bedrock prefer it, too."""

MADE_REFUSED: Final = (
    "the key made from these AWS credentials is refused: they have expired, or belong to nobody; "
    "log in again, such as with `aws sso login`"
)
GIVEN_REFUSED: Final = (
    f"the key in {VARIABLE} is refused: it has expired, or is unknown; unset the variable, and a "
    "key is made from your AWS credentials"
)
"""What to do about a key that a service refuses."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key that no message shows: neither `repr`, `str` nor a format holds it.

    Args:
        secret: what is sent, as a bearer token.
        expires: when it ends; None where nobody knows.
    """

    secret: str
    expires: datetime | None

    def __repr__(self) -> str:
        return f"Key(expires={self.expires})"


class KeySource:
    """Keys that are made when they are needed; threads may share one.

    Args:
        make: makes one; a key of the caller's own, which cannot be replaced, is made each time.
        remedy: what to do about a key that is refused.
        clock: the time now, in UTC.
    """

    def __init__(
        self,
        make: Callable[[], Key],
        remedy: str = MADE_REFUSED,
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        self.remedy = remedy
        self._make = make
        self._clock = clock or _now
        self._key: Key | None = None
        self._lock = Lock()

    def __call__(self) -> Key:
        """The key in use, or a new one shortly before its end."""
        with self._lock:
            key = self._key
            if key is None or (key.expires and key.expires - self._clock() < MARGIN):
                key = self._key = self._make()
            return key

    def renewed(self, refused: Key) -> Key:
        """Another key than one that was refused; the same where there is no other."""
        with self._lock:
            if self._key is None or self._key is refused:
                self._key = self._make()
            return self._key


def given_key(secret: str) -> KeySource:
    """A key that somebody else made, and that cannot be replaced from here."""
    key = Key(secret, None)
    return KeySource(lambda: key, GIVEN_REFUSED)


def key_source(region: str, session: Session | None = None) -> KeySource:
    """Keys of the caller, for as long as the credentials can be refreshed.

    Args:
        region: where the keys are valid.
        session: boto3's; the caller's own where not given.
    """
    given = os.environ.get(VARIABLE)
    return given_key(given) if given else KeySource(lambda: made(region, session))


def made(region: str, session: Session | None = None) -> Key:
    """A new key, which lasts as long as it may.

    Raises:
        AwsFailed: there are no credentials, or they have expired.
    """
    with in_words("making a key of the OpenAI-compatible API"):
        credentials = (session or aws_session()).get_credentials()
        if credentials is None:
            raise AwsFailed(NO_CREDENTIALS.format(local=emulator_hint()))
        frozen = credentials.get_frozen_credentials()  # refreshed, where that is due
        seconds = lifetime(credentials)
        if not seconds:
            raise AwsFailed("the AWS credentials have expired; log in again")
        return signed(frozen, region, seconds)


def signed(credentials: Any, region: str, seconds: int) -> Key:
    """The key that some credentials sign.

    Args:
        credentials: botocore's, or any with `access_key`, `secret_key` and `token`.
        region: where it is valid.
        seconds: for how long, from 1 to `LONGEST`.
    """
    from botocore.auth import SigV4QueryAuth  # noqa: PLC0415 - 0.2 s
    from botocore.awsrequest import AWSRequest  # noqa: PLC0415

    expires = _now() + timedelta(seconds=seconds)
    action = {"Action": "CallWithBearerToken"}
    request = AWSRequest("POST", f"https://{HOST}/", headers={"host": HOST}, params=action)
    SigV4QueryAuth(credentials, "bedrock", region, expires=seconds).add_auth(request)
    whole = request.url.removeprefix("https://") + UNSIGNED
    return Key(PREFIX + b64encode(whole.encode()).decode(), expires)


def lifetime(credentials: Any) -> int:
    """Seconds that credentials last, at most `LONGEST`; those without an end last so long.

    botocore answers whether credentials end within some seconds, and not when they end.
    """
    ends_within = getattr(credentials, "refresh_needed", None)
    if ends_within is None:
        return LONGEST
    seconds = range(1, LONGEST + 1)
    return bisect_left(seconds, True, key=lambda each: bool(ends_within(refresh_in=each)))


def without(key: Key, message: str) -> str:
    """A message of a service, which may repeat the key that it was sent, or the end of one.

    A key is a signed request in Base64: what follows its prefix is never shown.
    """
    return SECRET.sub("(the key)", message.replace(key.secret, "(the key)"))


def _now() -> datetime:
    return datetime.now(UTC)
