"""`python -m reward_functions.cli`: the same command where its script is not on the PATH."""

from reward_functions.cli import main

main()
