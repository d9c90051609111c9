"""What `instructions` counts in a response: checks, sentences, languages, right responses."""
