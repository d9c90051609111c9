"""Wrappers around an `Ask`, one behaviour each; `pipeline` puts them in order."""
