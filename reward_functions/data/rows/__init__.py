"""Rows as people have them, read as the rows that a trainer sends a reward function.

A file of any known format (`formats`; parquet and Arrow, `tables`) holds objects. The objects of a
file have one shape: `shapes` finds it from the first of them, or you name it with a mapping. It
turns each object into `{id, messages, reference_answer, metadata}`. `reading` ties these together,
and `writing` goes the other way, for `reward data convert`.
"""
