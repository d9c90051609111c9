"""A certificate for the loopback interface, made on the spot.

An emulator that enforces permissions is reached over TLS: the bucket that `cdk bootstrap` makes
denies whoever comes without. The key never leaves its folder, and goes with it.
"""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Final

from reward_functions.aws.emulator_record import Certificate, LocalAwsError

if TYPE_CHECKING:
    from pathlib import Path

DAYS: Final = "30"
"""Longer than an emulator runs, and short enough to be worth nothing to anyone."""


def make_certificate(folder: Path) -> Certificate:
    """A certificate for 127.0.0.1 and localhost that signs itself, in a folder only we read.

    Raises:
        LocalAwsError: there is no openssl, or it fails.
    """
    folder.mkdir(mode=0o700, exist_ok=True)
    made = Certificate(folder / "certificate.pem", folder / "key.pem")
    try:
        subprocess.run(  # noqa: S603
            [
                *(
                    "openssl",
                    "req",
                    "-x509",
                    "-newkey",
                    "ec",
                    "-pkeyopt",
                    "ec_paramgen_curve:P-256",
                ),
                *("-nodes", "-days", DAYS, "-subj", "/CN=local AWS"),
                *("-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"),
                *("-addext", "basicConstraints=critical,CA:FALSE"),
                *("-keyout", str(made.key), "-out", str(made.certificate)),
            ],
            check=True,
            capture_output=True,
            text=True,
        )
    except FileNotFoundError:
        raise LocalAwsError(
            "openssl, which makes the certificate for TLS, is not on the PATH: install it"
        ) from None
    except subprocess.CalledProcessError as error:
        reason = error.stderr.strip().rpartition("\n")[2]
        raise LocalAwsError(f"openssl could not make a certificate: {reason}") from None
    return made
