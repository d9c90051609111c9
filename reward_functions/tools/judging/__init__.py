"""Checks of a judge before training: probe its models, attack it, estimate its cost."""
