"""Rows as people have them, read as the rows that a trainer sends a reward function.

A file of any known format (`formats`; parquet and Arrow, `tables`) holds objects; the objects of a
file have one shape, which `shapes` finds from the first of them, or the user names
with a mapping, and by which it turns each into `{id, messages, reference_answer, metadata}`;
`reading` ties these together, and `writing` goes the other way, for `reward data convert`.
"""
