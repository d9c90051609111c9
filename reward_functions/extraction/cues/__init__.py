"""The words around an answer that decide whether it counts: a lexicon, and how it is matched."""
