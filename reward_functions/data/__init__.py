"""Public data sets and one's own questions as training data, and checks of it before it trains.

    sources.py     a local path, or a pinned download      records.py    records in, rows out
    gsm8k.py  math.py  finqa.py  pandalm.py                own.py        one's own questions
    wording.py     how a prompt is worded                  usable.py     can a reward use a row
    preparing.py   all of that, to files
    lengths.py     tokens, and the limits they suggest     splitting.py  splits by group
    leakage.py     what two files share                    linting.py    what a trainer would refuse
    replaying.py   whether a reward can judge the file     other_answers.py  that nobody should pay
    uploading.py   to S3                           answer_kinds.py   what a reference states

A data set is a module with `FILES`, its public home, and `outcomes(source)`, what becomes of each
of its records. `reward data …` is the command line over all of this.

appended_lines.py      a file that grows by whole lines of JSON
atomic.py              files that appear complete or not at all, one or several together
generated/             data of our own making, to rehearse with where nothing can be downloaded
json_rows.py           JSON objects from a file: JSONL, or one JSON array; `-` is standard input
replayed_answers.py    the answers of a replay
row_limits.py          what one row, and all rows of one file, may take in memory; asked before
rows/                  rows as people have them
"""
