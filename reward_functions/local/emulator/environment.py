"""The variables the emulator gets, and those that point every AWS tool at it.

The emulator's functions inherit all of its environment, so it gets none of the caller's. Its users
get a configuration without profiles, with keys that mean nothing anywhere else: nothing they do can
reach a real account by mistake.

A socket that listens on the loopback interface before the process that it is for is started.

It is bound here and handed over: nobody can take the port in between.
"""

from __future__ import annotations

import os
import socket
from shlex import quote
from typing import TYPE_CHECKING, Final

from reward_functions.aws.emulator_record import LOOPBACK, LocalAwsError, endpoint

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from reward_functions.aws.emulator_record import Certificate


ACCOUNT: Final = "000000000000"
"""The emulator reads an access key of twelve digits as the root of that account."""

SECRET: Final = "test"  # noqa: S105 - the emulator's own, for its root
"""The one the emulator checks signatures of its root with."""

REGION: Final = "us-east-1"

TRAINING: Final = (
    "BEDROCK",
    "BEDROCK_RUNTIME",
    "BEDROCK_MANTLE",
    "SAGEMAKER",
    "SAGEMAKER_MLFLOW",
    "SAGEMAKERJOBRUNTIME",
)
"""Services that the training double stands in for, as the variables of their endpoints end."""

NEVER: Final = (
    "AWS_PROFILE",
    "AWS_DEFAULT_PROFILE",
    "AWS_SESSION_TOKEN",
    "AWS_SECURITY_TOKEN",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_ROLE_ARN",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS",
)
"""What would lead a tool to another account, or past the emulator."""


def emulators_own(
    folder: Path, port: int, certificate: Certificate | None, models: str | None = None
) -> dict[str, str]:
    """Everything the emulator finds in its environment.

    Args:
        folder: its home and the place of its temporary files.
        port: where it listens.
        certificate: for TLS; with it goes the enforcement of permissions.
        models: the URL of a server that speaks chat completions and answers Bedrock's Converse.
    """
    own = {
        "PATH": os.defpath,
        "LANG": "C.UTF-8",
        "HOME": str(folder / "home"),
        "TMPDIR": str(folder / "tmp"),
        "BIND_HOST": LOOPBACK,
        "GATEWAY_PORT": str(port),
        "LAMBDA_EXECUTOR": "local",
        "DOCKER_HOST": "unix:///nonexistent.sock",
        "IOT_MTLS_ENABLED": "0",
        "SFTP_ENABLED": "0",
    }
    if models is not None:
        own["MINISTACK_BEDROCK_PROXY_URL"] = models
    if certificate is not None:
        own |= {
            "AUTH": "true",
            "USE_SSL": "1",
            "MINISTACK_SSL_CERT": str(certificate.certificate),
            "MINISTACK_SSL_KEY": str(certificate.key),
        }
    return own


def users_own(
    folder: Path, port: int, certificate: Certificate | None, training: int | None = None
) -> dict[str, str]:
    """What the AWS SDKs, the AWS CLI and the CDK need to reach the emulator and nothing else.

    Args:
        folder: the emulator's.
        port: where it listens.
        certificate: for TLS.
        training: where the training double beside it listens; None where there is none.
    """
    address = endpoint(port, tls=certificate is not None)
    needed = {
        "AWS_ENDPOINT_URL": address,
        "AWS_ENDPOINT_URL_S3": address,
        "AWS_ACCESS_KEY_ID": ACCOUNT,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_CONFIG_FILE": str(folder / "config"),
        "AWS_SHARED_CREDENTIALS_FILE": str(folder / "credentials"),
        "AWS_EC2_METADATA_DISABLED": "true",
        # The CDK remembers which account a key belongs to, and asks no more.
        "CDK_HOME": str(folder / "cdk"),
        # After each deployment it praises npm's latest, a 3.0.0 that reads no assembly of today.
        "CDK_DISABLE_VERSION_CHECK": "1",
    }
    if certificate is not None:
        trusted = str(certificate.certificate)
        needed |= {"AWS_CA_BUNDLE": trusted, "NODE_EXTRA_CA_CERTS": trusted}
    if training is not None:
        needed |= to_training(training)
    return needed


def to_training(port: int) -> dict[str, str]:
    """What the AWS SDKs and OpenAI's need to reach the training double."""
    address = endpoint(port, tls=False)
    services = {f"AWS_ENDPOINT_URL_{service}": address for service in TRAINING}
    return services | {"OPENAI_BASE_URL": f"{address}/v1"}


def merged(environ: Mapping[str, str], needed: Mapping[str, str]) -> dict[str, str]:
    """A caller's environment turned towards the emulator, for a process that also needs a PATH."""
    kept = {name: value for name, value in environ.items() if not _leads_elsewhere(name)}
    return kept | dict(needed)


def shell_lines(environ: Mapping[str, str], needed: Mapping[str, str]) -> Iterator[str]:
    """The same for a POSIX shell to evaluate."""
    for name in sorted(environ):
        if _leads_elsewhere(name) and name not in needed:
            yield f"unset {name}"
    for name, value in needed.items():
        yield f"export {name}={quote(value)}"


def _leads_elsewhere(name: str) -> bool:
    return name in NEVER or name.startswith("AWS_ENDPOINT_URL")


BACKLOG: Final = 512
"""Connections that wait to be accepted: the CDK and a trainer open many at once."""


class PortInUse(LocalAwsError):
    """Something else listens on the port."""


def bound(port: int | None) -> socket.socket:
    """A socket that listens.

    Args:
        port: where; a free one where it is None.

    Raises:
        PortInUse: something else listens there.
        LocalAwsError: it is no port.
    """
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((LOOPBACK, port or 0))
        listening.listen(BACKLOG)
    except OverflowError:
        listening.close()
        raise LocalAwsError(f"{port} is no port: 1 to 65535") from None
    except OSError as error:
        listening.close()
        raise PortInUse(
            f"port {port} of the loopback interface cannot be had ({error.strerror}): end what "
            "listens there, choose another with --port, or leave --port out for a free one"
        ) from None
    return listening
