"""Whether a reward can be trained on: what it pays that it must not, and what it refuses.

from reward_functions.audit import audit, compare
"""
