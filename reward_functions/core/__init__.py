"""The types and rules that every other package imports. Standard library only.

Only `http_server`, `loopback` and `looking` touch a network.

alternatives.py      a list as a reference
asking.py            what a judge model is asked, and what it may answer
aws_region.py        which region a shell names, for everything here that calls AWS
batch.py             score a batch
combine.py           reward functions from reward functions: weigh, gate, clip, try in turn
deadlines.py         what is left of time and of hard algebra, while a sample is scored
declared.py          a composite declared as data
declaring.py         whether a reward is declared as one, and its parameters
errors.py            a low score means the model did badly
extras.py            what the base install leaves out
http_server/         an HTTP server on the standard library, for every server of this project
importing.py         what a user named by `module:attribute` or `file.py:attribute`, imported
jsons.py             what JSON values are called
local_requests.py    which requests a server of this machine refuses by their head
looking.py           looks at something that may be slow
loopback.py          whether a URL leads to this machine alone
means.py             the mean, by one function: equal values have that value as their mean, bit
mentions.py          what the source of a module mentions
parts.py             the parts of a composite, and whether it pays the truth most
patterns.py          `re` for modules with many patterns: each is compiled when it is first used
platforms.py         which systems this runs on: Linux and macOS; Windows with WSL
references.py        where the ground truth is inside a reference
registry.py          the registry: every reward function in our folders and in other packages'
spec.py              a reward function is one plain function with a declaration
suggest.py           the tail of an error message about a name that does not exist
threads.py           threads that nobody waits for
turn_markers.py      the markers that open and end a turn
types.py             the values that flow through every reward: samples in, scores out
"""
