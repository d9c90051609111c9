"""A pinned reward scores an episode.

scorer.py     the reward, and the pin that a record names it by
samples.py    a response to a request as the sample that is scored
sources.py    a digest of the sources of a reward
values.py     what a reward was given beside its source, as text
"""
