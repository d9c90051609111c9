"""What `math` is made of beside equality.

answer             the mathematics of a response's final answer, and whether it is contradicted
asked_order        values with names, in the order in which the prompt asks for the names
derivation         what a box that holds a derivation concludes
glued_commands     commands of a reference that lost the space before their letter
members            answers to a reference that is a list of members
option_texts       a choice that is given by its letter and its text
plain_units        the units of an answer in plain text
reference          the answer that a reference gives
reference_verdict  which of these a reference asks for
restatement        whether an answer hands the question back
stated_domain      the values that a prompt asks for, of sets
stray_notation     references in notation that got lost or added on the way
truths             answers to a question that yes or no answers
verdict            equality under the parameters of `math`
"""
