"""FinQA: records and their programs, and what `finqa` makes of an answer.

Public are two modules: `program`, the program language, and `reference`, the answer of a record.

program              parse, execute: made of syntax, parser and executor
reference            the answer of a record: read, prepared, classified; by agreement of its parts
reference_shapes     the same for a sample, in any shape that data sets have
final                which words of a response are its answer
values               the values they state: value, numbers, direction and renderings; or yesno
question             what the question fixes: scale, direction, percentage
cues                 every English word that these match, as patterns
comparison           whether a stated value is that answer, and if not, in what it differs
outcome              what becomes of an answer that is held against a reference
stated_program       the program a response states, and by equality whether it is the reference's

agreement.py     how the answer string of a FinQA record and its executed answer stand to each
claims.py        how an unmarked sentence claims its number
equality.py      whether two FinQA programs are one
executor.py      FinQA programs
numbers.py       the numbers of an answer
parser.py        parses FinQA programs into steps
renderings.py    which further numbers of an answer render its value again
syntax.py        what a FinQA program is: its steps, its numbers, and how large it may be
yesno.py         yes or no, as the final answer to a FinQA question
"""
