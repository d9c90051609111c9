"""The types and rules that every other package imports. Standard library only.

Only `http_server`, `loopback` and `looking` touch a network.
"""
