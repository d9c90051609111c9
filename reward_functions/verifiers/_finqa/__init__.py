"""What `finqa` is made of: which words are the answer, what they state, and whether it is right.

final        which words of a response are its answer
values       the values they state, by the patterns of `words`; or yes or no, by `yesno`
question     what the question fixes: scale, direction, percentage
agreement    what a record's answer is, from its answer string and its executed answer
comparison   whether a stated value is that answer, and if not, in what it differs

program, parser, executor    the program language, offered by `finqa_program`
stated_program, equality     the program a response states, and whether it is the reference's
"""
