"""Data of our own making, to rehearse with where nothing can be downloaded. Not to train on.

    stories.py     GSM8K: stories with small sums
    problems.py    MATH: short problems with exact answers of many kinds
    filings.py     FinQA: pages of invented annual reports, with questions and programs
    writing.py     rows of them, as `reward data prepare` writes rows

Each makes *records* as the public files hold them, from templates and drawn numbers; answers are
computed. The records then take the same way as those of the public files, so that system prompt,
answer form, reference, ids and metadata are the data set's own. `metadata.synthetic` is true.

A dozen templates are no data set: a model that is trained on these rows learns the templates.
"""
