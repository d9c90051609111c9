"""Results of a folder in one list, each with its page: on this machine, read only.

    from reward_functions.view.library import Library
    for entry in Library(Path("runs")).listing().entries:
        print(entry.name, entry.kind, entry.mean, entry.finding)

    reading.py    files of a folder, opened safely; their beginning; what makes one unreadable
    entries.py    what a list says of a result
    row_index.py  rows of a file of lines: where each is, what it earned, why
    rows.py       files of rows: scores, runs over shards, rollouts, trajectories
    records.py    files of one record: audits, evaluations, calibrations, jobs; and pages
    samples.py    prompts and responses beside their scores
    library.py    the results of a folder, kept between two looks
    shown.py      the list and the pages as HTML
    app.py        the server, on starlette and uvicorn
    bundle.py     the same as files, for a bucket

Nothing here writes into the folder, and nothing of it is evaluated. `reward view` is the command.
"""
