"""Calls a file's `lambda_handler` once: the process of `verifying.ask_file`.

    python -P verifying_runner.py FILE ANSWER < SAMPLES

It needs the standard library alone. ANSWER is written at once at the end: `{"answer": …}` or
`{"failed": …}`, so that a process which is killed leaves none.
"""

from __future__ import annotations

import json
import sys
import traceback
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

NAME = "lambda_function"
"""Of the module, as a Lambda names it."""


def main(file: str, answer: str) -> None:
    """Write what a file's handler answers to the samples of standard input."""
    samples = json.load(sys.stdin)
    sys.path.insert(0, str(Path(file).parent))
    result = _answered(Path(file), samples)
    try:
        text = json.dumps(result)
    except (TypeError, ValueError, RecursionError) as error:
        text = json.dumps({"failed": f"Handler execution failed: its answer is no JSON: {error}"})
    written = Path(answer).with_suffix(".part")
    written.write_text(text, encoding="utf-8")
    written.replace(answer)


def _answered(file: Path, samples: Any) -> dict[str, Any]:
    step = "Failed to load Python file"
    try:
        module = _module(file)
        handler = getattr(module, "lambda_handler", None)
        if handler is None:
            return {"failed": f"{step}: it must contain a 'lambda_handler' function"}
        step = "Handler execution failed"
        return {"answer": handler(samples, {})}
    except Exception as error:  # noqa: BLE001 - the user's code: whatever it raises is what is reported of it
        traceback.print_exc()
        return {"failed": f"{step}: {str(error) or type(error).__name__}"}


def _module(file: Path) -> Any:
    spec = spec_from_file_location(NAME, file)
    if spec is None or spec.loader is None:
        raise ImportError("what is checked is a .py file")
    module = module_from_spec(spec)
    sys.modules[NAME] = module
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main(*sys.argv[1:])
