"""How far a judge agrees with people, how steadily, and how much of it is length and position.

cases.py      what people said                       ┐
asking.py     what the judge says, kept in a ledger  ┴→ readings.py → figures.py → card.py
"""
