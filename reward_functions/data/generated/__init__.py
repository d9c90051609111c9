"""Data of our own making, to rehearse with where nothing can be downloaded. Not to train on.

    templates.toml   GSM8K's stories, MATH's problems, FinQA's pages: the words
    records.py       what is drawn and computed for them
    writing.py       rows of them, as `reward data prepare` writes rows

Each makes *records* as the public files hold them, from templates and drawn numbers; answers are
computed. The records then take the same way as those of the public files, so that system prompt,
answer form, reference, ids and metadata are the data set's own. `metadata.synthetic` is true.

A dozen templates are no data set: a model that is trained on these rows learns the templates.
"""
