"""The parts that people read: tables, charts, pages, statistics, and the summary of a scored file.

sheets.py          tables that are shown in a terminal, in Markdown and on a page
pages/             the one look of every page and plot
conversation.py    turns of an agent as a part of a page
score_report/      the page of a scored file: its scores, its reasons, what to look at
rules/             the rules by which verifiers decide, one row each
statistics.py      every interval, test and estimate, each once
measured.py        how much of a check was measured, and the exit status that follows
evidence.py        the normal forms that a reward compared, in words
"""
