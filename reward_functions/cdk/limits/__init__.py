"""AWS's own limits, met before anything is built.

quotas.py    on names, policies and functions
starts.py    on how functions start: what Lambda refuses together
"""
