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
"""
