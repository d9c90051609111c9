"""Agreement of a judge with people, its consistency, and its bias towards position and length.

cases.py      labels by people                       ┐
asking.py     ratings by the judge, kept in a ledger ┴→ ratings.py → figures.py → sheets.py

`sheets.py` makes the card: `markdown.py` and `page.py` show it to people, `records.py` gives it to
programs.
"""
