r"""How `reward data prepare` words prompts: a name in single braces, and nothing is evaluated."""

import json

import pytest

from reward_functions.core.errors import ConfigurationError
from reward_functions.data.wording import FORMATS, Wording, filled, typed

FIELDS = {"question": r"Is $\frac{a}{b} = {question}$ in {answer_format}?", "answer_format": "BOX"}
Q = FIELDS["question"]

FILLED = {
    "the question's own braces are not read again": ("{question}", Q),
    "both": ("{question}\n{answer_format}", f"{Q}\nBOX"),
    "twice": ("{question} {question}", f"{Q} {Q}"),
    "a command's argument": (r"{question} \boxed{answer}", rf"{Q} \boxed{{answer}}"),
    "a command's second argument": (r"{question} \frac{a}{b}", rf"{Q} \frac{{a}}{{b}}"),
    "a set": (r"{question} \{a\}", rf"{Q} \{{a\}}"),
    "a power": ("{question} x^{n} y_{i}", f"{Q} x^{{n}} y_{{i}}"),
    "JSON": ('{question} {"answer": 1}', f'{Q} {{"answer": 1}}'),
    "nothing in braces": ("{question} {} { }", f"{Q} {{}} {{ }}"),
    "numbers": ("{question} {0}", f"{Q} {{0}}"),
}


@pytest.mark.parametrize(("template", "expected"), FILLED.values(), ids=FILLED)
def test_only_names_in_single_braces_are_filled_in(template, expected):
    assert filled(Wording(template=template).checked().template, FIELDS) == expected


REFUSED = {
    "no question": ("Answer me.", "no {question}"),
    "an attribute": ("{question.__class__}", "a name in single braces, {question}"),
    "an item": ("{question[0]}", "a name in single braces"),
    "a conversion": ("{question} {question!r}", "a name in single braces"),
    "a format": ("{question} {answer_format:>9}", "a name in single braces, {answer_format}"),
    "spaces": ("{ question }", "a name in single braces"),
    "doubled": ("{{question}}", "not {{question}}"),
    "a command's argument": (r"\boxed{question}", "put a space before it"),
    "behind a command": (r"\textbf{Q}{question}", "put a space before it"),
    "unknown": ("{question} {answer_fromat}", "Did you mean 'answer_format'?"),
}


@pytest.mark.parametrize(("template", "complaint"), REFUSED.values(), ids=REFUSED)
def test_what_looks_like_a_placeholder_and_is_none_is_refused(template, complaint):
    with pytest.raises(ConfigurationError) as caught:
        filled(Wording(template=template).checked().template, FIELDS)
    assert complaint in str(caught.value)


TYPED = {
    "a new line": (r"{question}\n\n{answer_format}", "{question}\n\n{answer_format}"),
    "before a capital": (r"a\nBe brief", "a\nBe brief"),
    "at the end": (r"a\n", "a\n"),
    "LaTeX": (r"\neq \nabla", r"\neq \nabla"),
    "an at sign": ("@@home", "@home"),
}


@pytest.mark.parametrize(("text", "expected"), TYPED.values(), ids=TYPED)
def test_what_is_typed_has_new_lines(text, expected):
    assert typed("--template", text) == expected


def test_a_file_is_taken_as_it_is(tmp_path):
    file = tmp_path / "t.txt"
    file.write_bytes(b"\xef\xbb\xbf{question}\r\n\\nthink\r\n")
    assert typed("--template", f"@{file}") == "{question}\n\\nthink"
    file.write_bytes(b"\xff")
    for text, complaint in ((f"@{file}", "not UTF-8"), (r"a\nthink", "LaTeX"), (" ", "empty")):
        with pytest.raises(ConfigurationError, match=complaint):
            typed("--template", text)


@pytest.fixture
def prepared(reward, records, write, read, tmp_path):
    def run(*arguments, dataset="gsm8k"):
        source = write("test.jsonl", [records[dataset](4)])
        out = tmp_path / "out"
        ran = reward("data", "prepare", dataset, "--source", source, "--out", out, *arguments)
        written = next(out.glob("*.jsonl"), None) if out.exists() else None
        return ran, written and read(written)[0]["messages"]

    return run


def test_the_wording_of_a_public_data_set(prepared):
    ran, messages = prepared("--no-system", "--template", "Q: {question}")
    assert ran.exit_code == 0
    (turn,) = messages
    assert turn["content"].startswith("Q: A crate holds 4 apples.")
    assert "####" not in turn["content"]
    _, messages = prepared("--system", "Be brief.", "--answer-format", "Say it in words.")
    assert messages[0] == {"role": "system", "content": "Be brief."}
    assert messages[1]["content"].endswith("\n\nSay it in words.")


SEEN = {
    ("gsm8k", "hash"): None,
    ("gsm8k", "boxed"): "-p flexible=true",
    ("finqa", "answer"): None,
    ("finqa", "boxed"): None,
    ("pandalm", "boxed"): None,  # a judge is not asked
}


@pytest.mark.parametrize(("dataset", "form"), SEEN)
def test_a_form_that_the_reward_does_not_look_at_is_a_warning(dataset, form, prepared):
    ran, messages = prepared("--answer-format", form, dataset=dataset)
    assert ran.exit_code == 0
    assert messages[-1]["content"].endswith(FORMATS[form][0])
    expected = SEEN[dataset, form]
    assert (expected in ran.stderr) if expected else not ran.stderr


def test_finqa_needs_its_page(prepared):
    ran, messages = prepared("--template", "{question}", dataset="finqa")
    assert (ran.exit_code, messages) == (2, None)
    assert "it has no {context}" in ran.stderr
    ran, messages = prepared("--template", "{context}\\n{question}", dataset="finqa")
    assert messages[-1]["content"].startswith("revenue grew")


def test_a_row_without_a_column_of_the_template_is_bad_by_itself(reward, write, read, tmp_path):
    rows = [{"question": f"{at}?", "answer": "1", "passage": f"P{at}"} for at in range(3)]
    file = write("q.jsonl", [{"question": "first?", "answer": "1", "passage": None}, *rows])
    arguments = ("--from", file, "--out", tmp_path / "out", "--template", "{passage}\\n{question}")
    ran = reward("data", "prepare", *arguments)
    assert ran.exit_code == 2
    assert "q.jsonl, line 1: it has nothing for {passage}" in ran.stderr
    assert reward("data", "prepare", *arguments, "--skip-bad").exit_code == 1
    prompts = [row["messages"][-1]["content"] for row in read(tmp_path / "out" / "all.jsonl")]
    assert prompts == [f"P{at}\n{at}?" for at in range(3)]
    assert json.loads((tmp_path / "out" / "report.json").read_text())["invalid"] == {
        "it has nothing for {passage}": 1
    }
