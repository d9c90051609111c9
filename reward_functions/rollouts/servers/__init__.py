"""Addresses that deployed stages and shells hold: a forwarder, a server of agents."""
