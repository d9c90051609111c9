"""`python -m helpers.cli`: the same command where its script is not on the PATH."""

from helpers.cli import main

main()
