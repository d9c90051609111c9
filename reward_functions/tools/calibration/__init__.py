"""How far a judge agrees with people, how steadily, and how much of it is length and position.

cases.py      what people said                       ┐
asking.py     what the judge says, kept in a ledger  ┴→ readings.py → figures.py → sheets.py

`sheets.py` makes the card: `markdown.py` and `page.py` show it to people, `records.py` gives it to
programs.
"""
