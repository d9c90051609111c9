"""Our sources as trees, each parsed once for all the rules that read it."""

import ast
from functools import cache


@cache
def tree(path):
    """A file's syntax."""
    return ast.parse(path.read_text())


@cache
def nodes(path):
    """All of it, in the order of `ast.walk`."""
    return list(ast.walk(tree(path)))
