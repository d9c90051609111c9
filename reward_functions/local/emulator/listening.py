"""A socket that listens on the loopback interface before the process that it is for is started.

It is bound here and handed over: nobody can take the port in between.
"""

from __future__ import annotations

import socket
from typing import Final

from reward_functions.aws.emulator_record import LOOPBACK, LocalAwsError

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
