"""What the notebooks of this repository use.

    where.py          region, endpoint, stage, and whether the endpoint is the local AWS emulator
    tables.py         results, metrics and the catalogue as tables
    plots.py          a histogram of rewards, and the rewards of each group, as SVG
    sample_data.py    the demo's responses as rows and as samples

Nothing in `reward_functions` imports these modules, and the wheel does not hold them.
"""
