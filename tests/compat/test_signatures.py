"""Names and signatures of the published packages, read from them, beside ours.

Ours has every public name and method, and every parameter by its name, kind and default; what it
takes beside them has a default. Where it is more liberal on purpose, a row says why.
"""

import inspect
from importlib import import_module

import pytest

COMPAT = "reward_functions.rollouts.compat."
MODULES = {
    "sagemaker.train.rft": "sagemaker_rft",
    **{
        f"sagemaker.train.rft.{name}": f"sagemaker_rft.{name}"
        for name in (
            "adapters.langchain",
            "adapters.strands",
            "context",
            "decorators",
            "feedback",
            "headers",
            "models",
        )
    },
    "sagemaker.core.token_generator": "sagemaker_rft.token_generator",
    "agentcore_rl_toolkit": "agentcore_rl",
    **{
        f"agentcore_rl_toolkit.{name}": f"agentcore_rl.{name}"
        for name in ("app", "client", "reward_function", "runtime")
    },
}

LIBERAL = {
    # owner: (parameters whose default is ours, why)
    "RolloutMetadata": ({"endpoint", "region"}, "the documented request has neither"),
}

ELSEWHERE = {
    "RolloutConfig": "a request's `_rollout` is read where it arrives, without pydantic",
}


def public(module):
    """The names that are its own."""
    listed = getattr(module, "__all__", None)
    own = (
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
    )
    return sorted(listed or own)


def methods(owner):
    """Public methods and the initialiser that a class defines itself."""
    return sorted(
        name
        for name, value in vars(owner).items()
        if callable(value) and (name == "__init__" or not name.startswith("_"))
    )


def parameters(function):
    return {each.name: each for each in inspect.signature(function).parameters.values()}


def compared(theirs, ours, liberal=()):
    """What ours lacks of a signature."""
    given, taken = parameters(theirs), parameters(ours)
    for name, each in given.items():
        if each.kind in {each.VAR_KEYWORD, each.VAR_POSITIONAL}:
            if each.kind not in {other.kind for other in taken.values()}:
                yield f"{name} is not taken"
        elif name not in taken or taken[name].kind != each.kind:
            yield f"{name} is not there, or of another kind"
        elif taken[name].default != each.default and name not in liberal:
            yield f"{name} is {taken[name].default!r}, not {each.default!r}"
    for name in taken.keys() - given.keys():
        each = taken[name]
        if each.default is each.empty and each.kind not in {each.VAR_KEYWORD, each.VAR_POSITIONAL}:
            yield f"{name} must be given"


@pytest.mark.parametrize("published", MODULES)
def test_every_name_and_signature_of_theirs_is_ours(published):
    pytest.importorskip(published)
    theirs, ours = import_module(published), import_module(COMPAT + MODULES[published])
    names = [name for name in public(theirs) if name not in ELSEWHERE]
    assert names
    wrong = []
    for name in names:
        one, other = getattr(theirs, name), getattr(ours, name)
        if inspect.isclass(one):
            owners = [(f"{name}.{each}", getattr(one, each), each) for each in methods(one)]
            pairs = [(label, given, getattr(other, each)) for label, given, each in owners]
            if not any(label.endswith("__init__") for label, *_ in pairs):
                pairs.append((name, one, other))
        else:
            pairs = [(name, one, other)] if callable(one) else []
        liberal, _ = LIBERAL.get(name, (set(), ""))
        wrong += [
            f"{label}: {each}"
            for label, given, taken in pairs
            for each in compared(given, taken, liberal)
        ]
    assert wrong == []
