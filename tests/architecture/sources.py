"""Our sources as trees, each parsed once for all the rules that read it."""

import ast
import gc
from contextlib import contextmanager
from functools import cache


@contextmanager
def uncollected():
    """What is made here stays: the collector would look through it again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@cache
@uncollected()
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
