"""Our sources as trees, each parsed once for all the rules that read it."""

import ast
from functools import cache


@cache
def tree(path):
    """A file's syntax."""
    return ast.parse(path.read_text())


@cache
def nodes(path):
    """All of it but contexts, in the order of `ast.walk`, which looks each field up by its name."""
    found = [tree(path)]
    for node in found:
        for value in vars(node).values():
            if isinstance(value, list):
                found += [each for each in value if isinstance(each, ast.AST)]
            elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
                found.append(value)
    return found
