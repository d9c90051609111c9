"""The relay: its names, and `python -m reward_functions.rollouts.relay`."""

from reward_functions.rollouts.record.relay import Limits, Relay, Session

__all__ = ["Limits", "Relay", "Session"]

if __name__ == "__main__":
    from reward_functions.rollouts.record.relay.__main__ import main

    main()
