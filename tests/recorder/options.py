"""Rows for `multiple_choice` and `exact_match`, about which no file of labelled rows is.

Sentences that pick an option, in every spelling the first is asked to read or to refuse, are put
together with a few questions; for the second, references of other tables are dressed up.
"""

from string import ascii_uppercase

from tests.recorder.rows import row

QUESTIONS = (
    ("Which city is the capital of France?", ("Lyon", "Paris", "Nice")),
    ("What is the area, in square metres?", ("50", "42", "39", "35")),
    ("Solve for $x$.", ("$\\frac{1}{2}$", "$x=-1$", "$[0,1)$", "none of the above")),
    ("Is the statement true?", ("Yes", "No", "It cannot be decided")),
)

LISTINGS = ("{letter}) {text}\n", "({letter}) {text} ", "{letter}. {text}\n")
"""How a prompt lists its options."""

PICKS = (
    "{letter}",
    "({letter})",
    "{letter}.",
    "**{letter}**",
    "{text}",
    "{letter}) {text}",
    "{letter}) {other_text}",
    "\\boxed{{{letter}}}",
    "\\boxed{{\\text{{({letter})}}}}",
    "\\boxed{{{text}}}",
    "\\boxed{{{letter}) {text}}}",
    "\\boxed{{{letter}}}, \\boxed{{{other}}}",
    "\\boxed{{{letter}}}. The answer is {other}.",
    "The answer is {letter}.",
    "The answer is ({letter}) {text}.",
    "The answer is {text}.",
    "The answer is not {letter}.",
    "The answer is {letter} or {other}.",
    "Answer: {letter}",
    "<answer>{letter}</answer>",
    "So, option {letter} is correct.",
    "I choose {letter}.",
    "Some say the answer is {letter}.",
    "{other} is wrong, so the answer is {letter}.",
    "<think>{other}?</think>{letter}",
    "<think>{letter}</think>",
    '{{"answer": "{letter}"}}',
    "{letter}\n\nIt is {text}.",
)
"""What a response says of the option it picks, and of another one."""

DRESSES = (
    "{}",
    " {}\n",
    "**{}**",
    "{}.",
    "The answer is {}",
    "<think>no</think>{}",
    "\\boxed{{{}}}",
)
"""A reference as a whole response."""


def choices():
    """Rows for `multiple_choice`."""
    for number, (question, texts) in enumerate(QUESTIONS, 1):
        letters = ascii_uppercase[: len(texts)]
        options = dict(zip(letters, texts, strict=True))
        for at, pick in enumerate(PICKS):
            letter, other = letters[at % len(letters)], letters[(at + 1) % len(letters)]
            response = pick.format(
                letter=letter, text=options[letter], other=other, other_text=options[other]
            )
            listing = LISTINGS[at % len(LISTINGS)]
            listed = "".join(listing.format(letter=key, text=options[key]) for key in options)
            where = f"options/choices:{number}.{at + 1}"
            yield row(where, response, letter, f"{question}\n{listed}")
            yield row(where, response, options[letter], question, choices=list(texts))
            yield row(where, response, {"answer": other}, question, options=options)


def texts(references):
    """Rows for `exact_match`, around references of other tables."""
    for number, reference in enumerate(references, 1):
        for dress in DRESSES:
            yield row(f"options/texts:{number}", dress.format(reference), reference)
