"""The limiter's name of `agentcore_rl_toolkit.concurrency`."""

from reward_functions.rollouts.collect.rate_limit import LocalRateLimiter, RateLimiter

__all__ = ["LocalRateLimiter", "RateLimiter"]
