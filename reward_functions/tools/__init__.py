"""From a laptop to AWS: the `reward` command, and what it drives."""
