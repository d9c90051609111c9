"""The forms an answer stands in: a box, a statement, the last formula. Each finds one form."""
