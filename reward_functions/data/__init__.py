"""Public data sets and one's own questions as training data, and checks of it before it trains.

    sources.py     a local path, or a pinned download      records.py    records in, rows out
    public.py      the public data sets                    wording.py    how a prompt is worded
    preparing.py   all of that, and one's own questions, to files
    answers.py     what a reference states, and whether a reward can use it
    lengths.py     tokens, and the limits they suggest     splitting.py  splits by group, and leaks
    linting.py     what a trainer would refuse             generated/    data to rehearse with
    json_rows.py   rows of JSON, and what a row may take   rows/         rows as people have them
    atomic.py      files that appear complete or not at all, and one that grows by lines

A public data set is a table of `public.toml` and a row of `public.ROWS`. `reward data …` is the
command line over all of this.
"""
