"""Dress is taken off short answers, and nothing else changes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reward_functions.extraction.markup import plain


@pytest.mark.parametrize(
    ("dressed", "bare"),
    [
        ("5", "5"),
        (" **5** ", "5"),
        ("$5$", "5"),
        ("$$5$$", "5"),
        ("\\(5\\)", "5"),
        ("\\[5\\]", "5"),
        ("`5`", "5"),
        ("\\boxed{5}", "5"),
        ("**$\\boxed{\\text{5}}$**", "5"),
        ("\\$5", "$5"),
        ("$5", "$5"),
        ("$5 and $6", "$5 and $6"),
        ("60\\%", "60%"),
        ("1{,}000", "1,000"),
        ("10\\,000", "10 000"),
        ("5~\\text{cm}", "5 cm"),
        ("\\frac{3}{4}", "3/4"),
        ("\\dfrac34", "3/4"),
        ("1\\frac{1}{2}", "1 1/2"),
        ("1\\frac12", "1 1/2"),
        ("-\\frac{1}{2}", "- 1/2"),
        ("\\mathbf{5}", "5"),
        ("\\frac{x}{2}", "\\frac{x}{2}"),
        ("", ""),
        ("$", "$"),
        ("**", "**"),
    ],
)
def test_plain(dressed, bare):
    assert plain(dressed) == bare


@given(st.text(alphabet="$*_`\\{}()[]5a ~,.%frctexboxd", max_size=60))
def test_it_never_raises_and_comes_to_rest(text):
    assert isinstance(plain(text), str)
