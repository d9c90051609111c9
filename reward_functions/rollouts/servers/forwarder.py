"""The Lambda that a trainer calls: deployed stages name it `rollouts.servers.forwarder.handler`."""

from reward_functions.rollouts.serve.forwarder import handler

__all__ = ["handler"]
