"""`reward local install`: the local AWS emulator, in an environment of its own."""

from __future__ import annotations

from reward_functions.cli._echo import say


def install() -> None:
    """Install the local AWS emulator, beside this environment's packages and not among them."""
    from reward_functions.cli._console import errors
    from reward_functions.local.emulator.emulator import ended_like_interrupted
    from reward_functions.local.emulator.installing import install as installed

    with (
        ended_like_interrupted(),
        errors().status("looking for the local AWS emulator") as status,
    ):
        python = installed(status.update)
    say(f"the local AWS emulator is installed in {python.parents[1]}: reward local up")
