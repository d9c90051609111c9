"""Every English word that extraction matches: cues beside an answer, and sentences that state it.

lexicon       cues that disqualify the answer beside them; `matching` compiles and matches them
statements    what opens a statement of an answer, and ends it
formulas      what stands between boxes and spans, or belongs to one
choices       how an option is picked
operations    arithmetic in words
sentences     the sentence around a value
"""
