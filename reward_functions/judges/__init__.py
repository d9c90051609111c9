"""RLAIF: rewards that ask a model. One reward per file, its prompt beside it in Markdown."""
