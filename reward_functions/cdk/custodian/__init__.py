"""The folder that becomes the custodian's code; `index` is all of it."""
