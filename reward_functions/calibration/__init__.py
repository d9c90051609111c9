"""Whether a judge may be trusted: agreement with people, consistency, bias, cost.

    cases.py         labels by people                        ┐
    asking.py        the judge's ratings, kept in a ledger   ┴→ figures.py → card.py

The card is shown to people, in Markdown and as a page, and given to programs as JSON.
`fitness.py` says whether the judge is fit, `disagreeing.py` shows the cases in which it is against
the label, and `beside.py` compares it with the judge of an earlier card. Before
training, `probing.py` asks its models once, and `estimating.py` records its questions and says
what they would cost. `settings.py` reads its models' settings.
"""
