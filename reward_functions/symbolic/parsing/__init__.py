"""From a string to a tree: tokens, grammar, and the other readings of what is ambiguous."""
