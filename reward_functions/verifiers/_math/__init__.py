"""What `math` is made of beside equality.

answer           the mathematics of a response's final answer, and whether it is contradicted
derivation       what a box that holds a derivation concludes
plain_units      the units of an answer in plain text
option_texts     a choice that is given by its letter and its text
reference        the answer that a reference gives
restatement      whether an answer hands the question back
verdict          equality under the parameters of `math`
"""
