"""The vocabulary every other floor speaks. Standard library only, no I/O."""
