"""The rules by which verifiers decide, one row each: what a verdict's `rule` names.

registry    the rows of a reward, and the row of an id
*.toml      the rows: what a rule says, why, and an example that shows it
"""
