"""Plots as SVG without a plotting library, each with axes that say what they are.

drawing     a chart, its marks, its text, its axes; part of a page, or a picture that stands alone
plots       two axes: histograms, courses over steps or minutes, one quantity against another
rows        a row for each name: bars, figures with intervals, values, matrices
"""
