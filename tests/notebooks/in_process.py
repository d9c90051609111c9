"""The cells of a notebook in this process: no kernel, and the outputs that a kernel would make.

A cell's last expression is shown as Jupyter shows it: by its `_repr_html_` and `_repr_svg_`, with
its `repr` beside them. What a cell prints is a stream. A cell that raises ends the run.
"""

import ast
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from types import ModuleType

SHOWN_BY = {"image/svg+xml": "_repr_svg_", "text/html": "_repr_html_"}


def ran(sources):
    """Run cells, one after the other, in a namespace of their own.

    Args:
        sources: of the cells.

    Yields:
        the outputs of each.
    """
    # Classes that are made, or pickled, in a cell look for their module.
    module = ModuleType("__main__")
    for number, source in enumerate(sources, 1):
        outputs = []
        module.display = lambda shown, outputs=outputs: outputs.append(
            _shown(shown, "display_data")
        )
        yield _cell(source, module.__dict__, outputs, f"<cell {number}>")


def _cell(source, namespace, outputs, name):
    tree = ast.parse(source, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    quiet = source.rstrip().endswith(";")
    with redirect_stdout(_Stream("stdout", outputs)), redirect_stderr(_Stream("stderr", outputs)):
        exec(compile(tree, name, "exec"), namespace)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), name, "eval"), namespace)
            if value is not None and not quiet:
                outputs.append(_shown(value, "execute_result"))
    return outputs


def _shown(value, kind):
    data = {"text/plain": repr(value)}
    for mime, method in SHOWN_BY.items():
        if hasattr(value, method):
            data[mime] = getattr(value, method)()
    return {"output_type": kind, "data": dict(sorted(data.items()))}


class _Stream(StringIO):
    """What is written comes between what is shown, in its order."""

    def __init__(self, name, outputs):
        super().__init__()
        self.name, self.outputs = name, outputs

    def write(self, text):
        self.outputs.append({"output_type": "stream", "name": self.name, "text": text})
        return len(text)
