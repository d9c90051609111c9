"""Numbers and units as people write them: total functions, which return None and never raise."""
