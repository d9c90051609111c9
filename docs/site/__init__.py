"""The documentation as a site that opens from a file: `make site` writes `build/site`.

    pages of the repository ┐
    rewards, commands, API  ├→ gather → Markdown in build/site-source → Sphinx → HTML in build/site
    notebooks               ┘

navigation.py    which page stands where: one table
gather.py        the Markdown that Sphinx reads, in the folders of the repository
rewards.py       a page a reward, from its declaration
commands.py      a page a command, from the command line itself
python_api.py    a page a module that has an `__all__`, from its source
docstrings.py    a Google docstring as Markdown
notebooks.py     a notebook with the outputs that are committed, as Markdown
markdown.py      strings that show as they are
conf.py          Sphinx's settings
accessible.py    what the theme's HTML lacks for a keyboard and a screen reader
source_pages.py  links to files of the repository lead to pages of highlighted source

What gathers runs in `.venv`, where the package is; what renders runs in `.venv/site`, where Sphinx
is and the package is not. Neither needs the network, and nor does a page that is read.
"""
