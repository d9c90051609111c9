"""Every word that extraction matches: cues beside an answer, and sentences that state it.

phrase        what a phrase beside an answer is
before        the phrases before an answer, one row a phrase
after         those after it
lexicon       which phrases disqualify which form of an answer, and the words of their slots
compiling     from a row to what is matched
matching      which phrases stand beside an answer
statements    what opens a statement of an answer, and ends it
languages     the same in other languages than English
formulas      what stands between boxes and spans, or belongs to one
choices       how an option is picked
operations    arithmetic in words
sentences     the sentence around a value
clauses       what divides a sentence into clauses, and takes one back
derivations   the signs of a derivation that is set as a formula
"""
