"""The package that a function runs from: a zip of our files, our pins and a stage's packages.

artifact.py       the zip of one reward, its digest before, and whether it can be imported
closure.py        which of our own files a function can reach
parts.py          what a zip is put together from
packages.py       what a stage adds: a folder, a wheel, a requirement
pins.py           our own requirements, with their hashes
pruning.py        what a function never reads of them
records.py        what of a distribution's record goes into a zip
lock.py           what the requirements of a stage's packages resolve to
target.py         the processor and the Python that it is for
interpreter.py    a Python of that version
cache.py          what was built before
"""
