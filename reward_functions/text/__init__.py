"""From text to values: total functions that answer None when nothing is found, and never raise."""
