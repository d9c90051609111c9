"""Frameworks of agents: the names of `aws_rft_sdk.adapters`.

strands.py    `wrap_model`
"""
