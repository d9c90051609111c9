"""A verdict is shown with its rule and with what was compared, and raw: no page typesets it."""

import pytest

from helpers.reading import verdicts

ROWS = [
    # response, reference, parameters, (score, rule, answer read as, reference read as)
    (r"\boxed{0.75}", r"\frac{3}{4}", {}, ("1", "exact-value", "0.75", "3/4")),
    (r"\boxed{0.333}", r"\frac{1}{3}", {}, ("0", "exact-value", "0.333", "1/3")),
    (r"\boxed{0.333}", r"\frac{1}{3}", {"rounded": 3}, ("1", "rounded-decimal", "333/1000", "1/3")),
    (r"\boxed{4", "4", {}, ("0", "unclosed-box", "", "")),
]


@pytest.mark.parametrize(("response", "reference", "parameters", "verdict"), ROWS)
def test_a_verdict_names_its_rule(response, reference, parameters, verdict):
    (sheet,) = verdicts("math", [(response, reference)], parameters=parameters).sheets
    assert sheet.rows == [[response, reference, *verdict]]
    assert sheet.title == ", ".join(["math", *(f"{k} = {v}" for k, v in parameters.items())])


def test_what_cannot_be_scored_says_why():
    (sheet,) = verdicts("math", [(r"\boxed{4}", "")]).sheets
    ((_, _, score, why, *_),) = sheet.rows
    assert score == "unscored"
    assert why.startswith("BadReference: ")


@pytest.mark.parametrize("response", [r"$\boxed{4}$", r"\(4\)", r"\[4\]", r"\begin{a}4\end{a}"])
def test_a_formula_stays_as_it_was_written(response):
    assert f"{response}</code>" in verdicts("math", [(response, "4")])._repr_html_()


def test_one_dollar_sign_is_no_formula():
    assert "<code" not in verdicts("math", [("It costs $4.", "4")])._repr_html_()
