"""A run on AWS: what its Lambda does. The stage's state machine asks it until nothing is missing.

handler.py   the Lambda's entry
steps.py     what is to be done next
"""
