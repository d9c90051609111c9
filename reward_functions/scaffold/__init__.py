"""A folder of your own to start from: a reward, or all that a training job takes.

    reward_files.py   a reward with worked examples, and its test
    columns.py        where the prompts and references of a file stand, guessed
    offers.py         which rewards a file's references suit
    rows.py           the file as training data, split without leaking
    folder.py         everything beside the data, and how all of it is written, or nothing

`reward init` asks and prints; what is written is decided here.
"""
