"""FinQA: records and their programs, and what `finqa` makes of an answer.

program              the program language: parse, execute, compare
reference            the answer of a record: read, prepared, classified
final                which words of a response are its answer
values               the values they state, by the patterns of `cues`; or yes or no, by `yesno`
question             what the question fixes: scale, direction, percentage
agreement            what a record's answer is, from its answer string and its executed answer
comparison           whether a stated value is that answer, and if not, in what it differs
syntax, parser, executor    what `program` is made of
stated_program, equality    the program a response states, and whether it is the reference's
"""
