"""Whether two trees mean the same, by the kind of thing that each of them is.

absolute.py               inequalities with an absolute value
arbitrary_constants.py    arbitrary constants
arrays.py                 sums, products and multiples of matrices and vectors, worked out
asked_quantity.py         left sides of equations that name the quantity a question asks for
assignments.py            what an equation gives a name to
cases.py                  congruences, and definitions by cases: values that hold under a
chains.py                 chains of equations: whether x = 1/3 ≈ 0.33 states one value all along
clocks.py                 times of day on a dial of twelve hours, and days of the calendar
closed_forms.py           numbers in square roots
derivatives.py            differential equations in one notation
dispatch.py               whole answers: which comparison the kinds of two trees ask for
ellipsis.py               the value of a sum that leaves terms out
families.py               answers with conditions after them
formulas.py               formulas and reactions of chemistry, electrons by shell
interval_sets.py          unions of intervals as sets
listed.py                 an answer against the members of a list that is one answer
members.py                parts against parts
mixed_units.py            amounts in several units of one kind: 2 h 30 min is 150 min, and 2.5 h
notation.py               the notations of one number
periods.py                arithmetic progressions
pieces.py                 the pieces on which two definitions by cases each have one formula
real_sets.py              sets of real numbers
relations.py              statements about names: equations, inequalities
restatement.py            whether an answer has done none of the arithmetic that a question
scalars.py                two single values
structural_form.py        reduced forms of trees
within.py                 sets of reals that are one set within a domain
words.py                  the tiers that need no tree: the same string, the same words
worked_out.py             whether anything is left to compute in an answer whose reference
"""
