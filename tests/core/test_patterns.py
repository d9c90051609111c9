"""A pattern is compiled when it is first used, and then is as `re` would have made it."""

import re
import subprocess
import sys

import pytest

from reward_functions.core import patterns


@pytest.mark.parametrize(
    "ask",
    [
        lambda pattern: pattern.search("xab")[1],
        lambda pattern: pattern.match("ab")[1],
        lambda pattern: pattern.fullmatch("AB")[1].lower(),
        lambda pattern: [found[1] for found in pattern.finditer("a abb")],
        lambda pattern: pattern.findall("a ab"),
        lambda pattern: pattern.sub(r"<\1>", "ab c"),
        lambda pattern: pattern.subn("", "ab ab"),
        lambda pattern: pattern.split("1ab2"),
        lambda pattern: (pattern.pattern, pattern.flags & re.IGNORECASE),
    ],
)
def test_it_answers_as_the_pattern_of_re(ask):
    assert ask(patterns.compile("(a)b?", re.IGNORECASE)) == ask(re.compile("(a)b?", re.IGNORECASE))


def test_it_is_compiled_by_its_first_use_and_not_again(monkeypatch):
    made = []
    compile_ = re.compile
    monkeypatch.setattr(re, "compile", lambda *given: made.append(given) or compile_(*given))
    late = patterns.compile("a+")
    assert not made
    assert late.search("aa")
    assert late.match("a")
    assert made == [("a+", 0)]


def test_a_name_that_no_pattern_has_is_none_of_its_own():
    with pytest.raises(AttributeError):
        patterns.compile("(").serch  # noqa: B018 - the name is the point


def test_a_start_of_math_compiles_few_patterns():
    """A gallery of cues compiled at once would double the time of a cold start."""
    program = (
        "import re; made = []; compile_ = re.compile\n"
        "re.compile = lambda *given, **more: made.append(given) or compile_(*given, **more)\n"
        "from reward_functions import get; get('math'); print(len(made))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 60
