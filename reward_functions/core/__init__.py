"""The types and rules that every other package imports. Standard library only, no I/O."""
