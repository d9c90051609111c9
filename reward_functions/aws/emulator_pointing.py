"""Which emulator a shell points at, and the lines that turn the shell.

An emulator and the training double beside it have a port each; one port is one server here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from reward_functions.aws.emulator_record import DEFAULT, recorded
from reward_functions.core.loopback import is_loopback

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reward_functions.aws.emulator_record import Emulator


def pointed_at(urls: Iterable[str]) -> Emulator | None:
    """The emulator that one of these addresses is of, also one that has ended; None for none.

    Args:
        urls: such as `AWS_ENDPOINT_URL` holds; "" counts as none.
    """
    ports = {_port(url) for url in urls if is_loopback(url)}
    return next((aws for aws in recorded() if ports & _ports(aws)), None)


def options(aws: Emulator | None) -> str:
    """What `reward local up` is given to find this emulator again, with a space before each.

    Args:
        aws: None for one that nobody named.
    """
    if aws is None:
        return ""
    training = " --training" * (aws.record.training is not None)
    return f"{_named(aws)}{' --enforce' * aws.enforcing}{training}"


def towards_line(aws: Emulator | None, *, training: bool = False) -> str:
    """What points a shell at an emulator.

    Args:
        aws: None for one that nobody named.
        training: whether it is to have the training double, also where it has none yet.
    """
    added = options(aws)
    if training and "--training" not in added:
        added += " --training"
    return f'eval "$(reward local up{added} --print-env)"'


def away_line(aws: Emulator | None) -> str:
    """What ends an emulator, and points a shell away from it."""
    return f'eval "$(reward local down{_named(aws)} --print-env)"'


def _named(aws: Emulator | None) -> str:
    return "" if aws is None or aws.name == DEFAULT else f" --name {aws.name}"


def _ports(aws: Emulator) -> set[int]:
    training = aws.record.training
    return {aws.record.port, *([training.port] if training else [])}


def _port(url: str) -> int | None:
    try:
        return urlsplit(url).port
    except ValueError:
        return None
