"""The one look of every page and plot: a card of figures, a plan, a job, a score report.

    page        what a page consists of, as one self-contained document
    charts      bars, lines, points, spans, a matrix, strips: each with axes that say what they are

The template and the style are in `reports/templates`; the colours are in `charts/drawing`.
A page shows what its caller computed; nothing here counts, samples or rounds.
"""
