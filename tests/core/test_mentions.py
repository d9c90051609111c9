"""What a module's source mentions: where an import stands, and what is in its strings."""

import pytest

from reward_functions.core.mentions import mentions


@pytest.mark.parametrize(
    ("source", "modules"),
    [
        ("import json", {"json"}),
        ("import json as j, os.path", {"json", "os.path"}),
        ("from a.b import c, d as e", {"a.b", "a.b.c", "a.b.d"}),
        ("from . import c", set()),
        ("from .a import c", set()),
        ("from .. import c", set()),
        ("def f():\n    import json\n    from a.b import c", {"json", "a.b", "a.b.c"}),
        ("class A:\n    async def f(self):\n        import json", {"json"}),
        ("try:\n    import json\nexcept ImportError:\n    import os", {"json", "os"}),
        ("if x:\n    import json\nelse:\n    import os", {"json", "os"}),
        ("if TYPE_CHECKING:\n    import json", set()),
        ("if typing.TYPE_CHECKING:\n    import json\nelse:\n    import os", {"os"}),
        ("if TYPE_CHECKINGS:\n    import json", {"json"}),
        ("if not TYPE_CHECKING:\n    import json", {"json"}),
        ("x = 'reward_functions.a.b and reward_functions.c'",
         {"reward_functions.a.b", "reward_functions.c"}),
        ("x = 'reward_functions alone, my_reward_functions.a'", set()),
        ("import", set()),
        ("\0", set()),
        (b"import json", {"json"}),
        ("", set()),
    ],
)  # fmt: skip
def test_modules_are_found_wherever_they_are_imported(source, modules):
    assert mentions(source).modules == modules


@pytest.mark.parametrize(
    ("source", "strings"),
    [
        ("'a docstring'", set()),
        ("def f():\n    'a docstring'\n    return 'a string'", {"a string"}),
        ("x = ['a', {'b': f('c')}]", {"a", "b", "c"}),
        ("f('a')", {"a"}),
        ("x = 1, b'bytes', None", set()),
        ("if x == 'a':\n    pass", {"a"}),
        ("if TYPE_CHECKING:\n    x = 'a'", set()),
    ],
)
def test_strings_are_those_that_the_code_uses(source, strings):
    assert mentions(source).strings == strings


def test_the_packages_of_modules():
    assert mentions("import a.b.c, a.d, e").tops == {"a", "e"}
