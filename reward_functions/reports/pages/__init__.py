"""The one look of every page and plot: a card of figures, a plan, a job, a score report.

    palette     the colours, by what they are for, light and dark
    escaping    strings of data made harmless for HTML and SVG
    sections    what a page consists of: facts, warnings, tables, charts, quotations
    page        one self-contained document: no script, no network, phone and print
    charts      bars, lines, points, spans, a matrix, strips: each with axes that say what they are

A page shows what its caller computed; nothing here counts, samples or rounds.
"""
