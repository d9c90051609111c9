"""Whether a judge may be trusted: agreement with people, consistency, bias, attacks, cost.

cases.py      labels by people                       ┐
asking.py     ratings by the judge, kept in a ledger ┴→ ratings.py → figures.py → sheets.py

`sheets.py` makes the card: `markdown.py` and `page.py` show it to people, `records.py` gives it to
programs. Before training, `doctor.py` attacks a judge, `probing.py` asks its models once, and
`estimating.py` says what it would cost.
"""
