"""The expression tree: what was written, walked, renamed and printed, and nothing worked out."""
