"""`python -m reward_functions.rollouts.servers.app`: an agent that HTTP reaches."""

from reward_functions.rollouts.serve.app import RolloutApp, main

__all__ = ["RolloutApp", "main"]

if __name__ == "__main__":
    main()
