"""A transport by its kind, to be shared by all rollouts of a process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.suggest import did_you_mean
from reward_functions.rollouts.report.transports import KINDS
from reward_functions.rollouts.report.transports.account import Account
from reward_functions.rollouts.report.transports.alpha import Alpha
from reward_functions.rollouts.report.transports.bearer import Bearer
from reward_functions.rollouts.report.transports.modelled import Modelled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from reward_functions.rollouts.report.transports import Transport

_CLASSES: Final[dict[str, Callable[[Account, Iterable[str]], Transport]]] = {
    each.kind: each for each in (Modelled, Bearer, Alpha)
}


def open_transport(kind: str, *, trusted: Iterable[str] = (), session: Any = None) -> Transport:
    """A transport with connections, credentials and tokens of its own.

    Args:
        kind: one of `KINDS`.
        trusted: endpoints that may be given a credential, beside AWS's and the environment's.
        session: boto3's or botocore's; None for one of the environment.

    Raises:
        ConfigurationError: no such kind, or the installed boto3 is too old for it.
    """
    if kind not in _CLASSES:
        raise ConfigurationError(f"{kind!r} is no transport of rollouts{did_you_mean(kind, KINDS)}")
    return _CLASSES[kind](Account(session), trusted)
