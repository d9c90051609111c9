"""Plots as SVG without a plotting library, each with axes that say what they are.

drawing     a chart, its marks, its text; as a part of a page, or as a picture that stands alone
axes        ticks at round numbers, and where a value lies
bars        counts in equal steps, or by name
lines       courses over steps or minutes
bands       many courses, each in a band of its own
points      one quantity against another
spans       figures with their intervals
matrix      counts of two namings of the same things
strips      the values of each group on one line
"""
