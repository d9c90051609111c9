"""A reward function is asked for the rewards of samples, and its answer is checked.

verifier.py     the one check, and the result or the ValueError that the published toolkits give
samples.py      what is a sample: a row a rule
outputs.py      what the published toolkits take as an output
strictness.py   what a trainer needs of an answer: a row a rule, behind `strict=True`
functions.py    who is asked: a Lambda by its ARN, or a file in a process of its own
runner.py       that process
"""
