"""Shapers: rewards for the form of a response alone, one per file.

A shaper compares with no reference, so a wrong answer in the right form earns its maximum. It
declares that as `partial_credit`, and is meant as a small part of a composite whose other part
knows what is correct: see `reward_functions.core.combine`.
"""
