"""Small changes to a text: slips, notation, markup, and words that take an answer back.

Each takes a text, a random generator, and another row's answer. Most strike near the answer, since
a changed letter in the middle of a solution changes nothing. None is meant to keep a response
right, or to make it wrong.
"""

import re
import tomllib
import unicodedata
from pathlib import Path

PIECES = tomllib.loads(Path(__file__).with_name("pieces.toml").read_text(encoding="utf-8"))
"""What is put in; see there."""

DIGITS = "0123456789"
FORMS = ("NFD", "NFKC", "NFKD")
CASES = (str.upper, str.lower, str.title, str.swapcase)

MARKERS = ("\\boxed", "####", "nswer", "NSWER", "<answer>", "=", " is ")
"""What an answer stands behind. The last of them is taken."""

AROUND = 30
"""Characters before it that are still near the answer."""

NEAR = 0.8
LAST = 0.7
"""How often a change strikes near the answer, and how often it changes the last number."""

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_BOX = re.compile(r"\\boxed\s*\{((?:[^{}]|\{[^{}]*\})*)\}")
_SENTENCE = re.compile(r"(?<=[.!?\n])\s+")


def drop(text, chance, rival):
    start, end = _part(text, chance)
    return text[:start] + text[end:]


def repeat(text, chance, rival):
    start, end = _part(text, chance)
    return text[:end] + text[start:]


def swap(text, chance, rival):
    at = _place(text, chance)
    return text[:at] + text[at + 1 : at + 2] + text[at : at + 1] + text[at + 2 :]


def insert_character(text, chance, rival):
    return _inserted(text, chance, _piece("characters", chance))


def insert_command(text, chance, rival):
    return _inserted(text, chance, _piece("commands", chance))


def pad(text, chance, rival):
    return _inserted(text, chance, _piece("paddings", chance) * chance.randint(1, 4))


def change_digit(text, chance, rival):
    return _at_number(text, chance, lambda number: _with_another_digit(number, chance))


def insert_digit(text, chance, rival):
    return _at_number(text, chance, lambda number: number + chance.choice(DIGITS))


def flip_sign(text, chance, rival):
    return _at_number(text, chance, lambda number: f"-{number}")


def scale(text, chance, rival):
    return _at_number(text, chance, lambda number: _piece("scales", chance, number))


def wrap_number(text, chance, rival):
    return _at_number(text, chance, lambda number: _piece("wrappings", chance, number))


def wrap_part(text, chance, rival):
    start, end = _part(text, chance)
    return text[:start] + _piece("wrappings", chance, text[start:end]) + text[end:]


def wrap_box(text, chance, rival):
    return _at_box(text, lambda box: _piece("wrappings", chance, box[0]))


def wrap_in_box(text, chance, rival):
    return _at_box(text, lambda box: f"\\boxed{{{_piece('wrappings', chance, box[1])}}}")


def unbox(text, chance, rival):
    return _at_box(text, lambda box: box[1])


def repeat_box(text, chance, rival):
    return _at_box(text, lambda box: box[0] + _piece("between", chance) + box[0])


def rival_in_box(text, chance, rival):
    return _at_box(text, lambda box: f"\\boxed{{{rival}}}")


def say_before(text, chance, rival):
    return _at_answer(text, chance, lambda answer: _piece("before", chance) + answer)


def say_behind(text, chance, rival):
    return _at_answer(text, chance, lambda answer: answer + _piece("behind", chance))


def say_at_the_end(text, chance, rival):
    return text + _piece("behind", chance)


def answer_again(text, chance, rival):
    return text + _piece("endings", chance, rival)


def answer_before(text, chance, rival):
    return _piece("beginnings", chance, rival) + text


def cut(text, chance, rival):
    return text[: _place(text, chance)]


def keep_the_end(text, chance, rival):
    return text[_place(text, chance) :]


def move_sentence(text, chance, rival):
    sentences = _SENTENCE.split(text)
    moved = sentences.pop(chance.randrange(len(sentences)))
    sentences.insert(chance.randint(0, len(sentences)), moved)
    return " ".join(sentences)


def other_script(text, chance, rival):
    return text.translate(str.maketrans(DIGITS, _piece("scripts", chance)))


def other_form(text, chance, rival):
    return unicodedata.normalize(chance.choice(FORMS), text)


def other_spelling(text, chance, rival):
    return text.replace(*_piece("spellings", chance))


def other_case(text, chance, rival):
    return chance.choice(CASES)(text)


OPERATIONS = (
    *(drop, repeat, swap, insert_character, insert_character, insert_command, pad),
    *(change_digit, insert_digit, flip_sign, scale, wrap_number, wrap_part),
    *(wrap_box, wrap_in_box, unbox, repeat_box, rival_in_box),
    *(say_before, say_before, say_behind, say_behind, say_at_the_end),
    *(answer_again, answer_again, answer_before, cut, keep_the_end, move_sentence),
    *(other_script, other_form, other_spelling, other_spelling, other_case),
)
"""All of them; those that have most to choose from stand here twice."""


def _piece(kind, chance, part=None):
    """One of the pieces of a kind, around a part if it has room for one."""
    piece = chance.choice(PIECES[kind])
    return piece if part is None else piece.replace("%", part)


def _place(text, chance):
    """A place in the text, mostly one from shortly before the answer on."""
    last = max(map(text.rfind, MARKERS))
    start = max(0, last - AROUND) if chance.random() < NEAR else 0
    return chance.randint(start, len(text))


def _part(text, chance):
    start = _place(text, chance)
    return start, min(len(text), start + chance.randint(1, 8))


def _inserted(text, chance, piece):
    at = _place(text, chance)
    return text[:at] + piece + text[at:]


def _with_another_digit(number, chance):
    at = chance.choice([at for at, each in enumerate(number) if each.isdecimal()])
    return number[:at] + chance.choice(DIGITS) + number[at + 1 :]


def _at_number(text, chance, change):
    """The text with one of its numbers changed."""
    numbers = list(_NUMBER.finditer(text))
    if not numbers:
        return text
    found = numbers[-1] if chance.random() < LAST else chance.choice(numbers)
    return text[: found.start()] + change(found[0]) + text[found.end() :]


def _at_box(text, change):
    """The text with its last box changed."""
    *_, last = None, *_BOX.finditer(text)
    return text[: last.start()] + change(last) + text[last.end() :] if last else text


def _at_answer(text, chance, change):
    """The text with its last box changed, or with one of its numbers where it has none."""
    if _BOX.search(text):
        return _at_box(text, lambda box: change(box[0]))
    return _at_number(text, chance, change)
