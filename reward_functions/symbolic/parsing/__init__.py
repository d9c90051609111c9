"""From a string to a tree: tokens, grammar, and the other readings of what is ambiguous.

arguments.py           what a command or a function takes
atoms.py               the smallest complete values, by the kind of the token that begins them
bases.py               numbers in a base
brackets.py            what stands between brackets
calculus.py            operators with a variable of their own
cases_in_words.py      cases written out in a row
chemistry.py           formulas and reactions of chemistry
clauses.py             what stands after an answer and says when it holds
commands.py            LaTeX commands that begin a value, each with the rule that reads it
conditions.py          conditions with words between them
cursor.py              a cursor over tokens: what every rule of the grammar looks and steps with
dates.py               days of the calendar
document.py            what a string is
enumeration.py         answers in numbered parts: (1) 12 (2) 5, (a) x; (b) y, (i) yes (ii) no
environments.py        LaTeX environments
functions.py           functions with their arguments
grammar.py             what a rule of the grammar may use
letters.py             runs of letters
lexer.py               a string to tokens
lookahead.py           what comes next, decided by a few tokens, none of which is taken
naming.py              what a statement gives a value to
numerals.py            numbers in digits
parser.py              tokens to the tree
plain.py               plain numbers and fractions
plus_minus.py          the two answers that ± stands for
postfixes.py           what is written after and above an atom
progressions.py        lists without an end
separators.py          other readings of a comma
spelling.py            one spelling for strings that differ in signs of typesetting
terms.py               what makes a term
unicode_notation.py    mathematical signs of Unicode in the words of LaTeX
units.py               what stands after an amount
vocabulary.py          the words of the grammar
"""
