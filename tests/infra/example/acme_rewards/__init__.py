"""Rewards of our own."""
