r"""How a prompt is worded: the system turn, the template, and the form of answer it asks for.

A template is a string with `{question}`, `{answer_format}` and the row's other fields. A name in
single braces is all there is: nothing is formatted or evaluated. Braces after a backslash or a
LaTeX command (`\boxed{answer}`) are LaTeX, and what is put in is not read again, so a question may
hold any braces it likes.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from reward_functions.core.errors import ConfigurationError
from reward_functions.core.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

QUESTION: Final = "question"
ANSWER_FORMAT: Final = "answer_format"

MAX_FILE: Final = 1 << 20
"""Bytes of a template or a system prompt: a thousand times a long one."""

BOXED: Final = "Reason step by step, and put the final answer in a box: \\boxed{…}"
HASH: Final = (
    "Think step by step. End with one line that holds four hash signs and the final answer:\n"
    "#### <answer>"
)
NAMED: Final = "Work step by step. End with one line:\nANSWER: <answer>"

FORMATS: Final[Mapping[str, tuple[str, str]]] = {
    "boxed": (BOXED, "\\boxed{%s}"),
    "hash": (HASH, "#### %s"),
    "answer": (NAMED, "ANSWER: %s"),
}
"""By the name of a form of answer: the sentence that asks for it, and a response that has it."""

_BRACES: Final = re.compile(
    r"(\\(?:[A-Za-z]{1,40}(?:\{[^{}]{0,200}\}){0,4})?|[\^_])?\{([^{}]{1,200})\}"
)
"""Braces, and what makes them LaTeX's: a command and its first arguments, a power, an index."""

_NAME: Final = re.compile(r"[A-Za-z_]\w{0,99}")
_LINE_END: Final = re.compile(r"\\n(?=[^a-z]|$)")
_UNCLEAR: Final = re.compile(r"\\n[a-z]{1,20}")
_LATEX: Final = frozenset(
    r"\nabla \natural \ne \nearrow \neg \neq \newline \nexists \ngeq \ni \nleq \nmid \nolimits "
    r"\nonumber \normalsize \not \notin \nparallel \nsubseteq \nu \nwarrow".split()
)


class BadTemplate(ConfigurationError):
    """A template that cannot be filled in. The message says why.

    Args:
        message: for a person.
        name: the placeholder that a row has nothing for.
    """

    def __init__(self, message: str, name: str = "") -> None:
        super().__init__(message)
        self.name = name


class Wording(NamedTuple):
    """Your wishes about prompts; None leaves a thing as the data set has it.

    Args:
        system: the system turn; "" for none.
        template: of the user turn.
        answer_format: the sentence that asks for a form of answer.
    """

    system: str | None = None
    template: str | None = None
    answer_format: str | None = None

    def lacking(self, template: str) -> list[str]:
        """The fields that a data set's template has and this one lacks; not the form of answer."""
        if self.template is None or not template:
            return []
        own, stated = _placeholders(template), _placeholders(self.template)
        return [name for name in own if name not in (*stated, ANSWER_FORMAT)]

    def checked(self) -> Wording:
        """Itself.

        Raises:
            BadTemplate: the template has no place for the question or for the form of answer, or
                holds an unknown placeholder.
        """
        if self.template is None:
            return self
        named = set(_placeholders(self.template))
        if QUESTION not in named:
            raise BadTemplate("--template: it has no {question}, so that every prompt is the same")
        if self.answer_format is not None and ANSWER_FORMAT not in named:
            raise BadTemplate(
                "--template: it has no {answer_format}, so that --answer-format has no place"
            )
        return self


AS_PUBLISHED: Final = Wording()


def filled(template: str, fields: Mapping[str, str]) -> str:
    """A template with the fields of a row in it.

    Raises:
        BadTemplate: it names a field that the row has not.
    """

    def field(found: re.Match[str]) -> str:
        name = found[2]
        if found[1] or not _NAME.fullmatch(name):
            return found[0]
        if name not in fields:
            unknown = f"--template: {{{name}}} is unknown{did_you_mean(name, fields)}"
            raise BadTemplate(unknown, name)
        return fields[name]

    return _BRACES.sub(field, template)


def _placeholders(template: str) -> list[str]:
    """The names in braces.

    Raises:
        BadTemplate: a placeholder has doubled braces, or more in them than a name.
    """
    names = []
    for found in _BRACES.finditer(template):
        command, inside = found[1], found[2]
        if command:
            continue
        name = _NAME.match(inside.strip())
        known = name is not None and name[0] in (QUESTION, ANSWER_FORMAT)
        doubled = template[: found.start()].endswith("{") and template[found.end() :][:1] == "}"
        if known and (doubled or inside != name[0]):  # type: ignore[index]
            raise BadTemplate(
                f"--template: a placeholder is a name in single braces, {{{name[0]}}}, "  # type: ignore[index]
                f"not {'{' * (1 + doubled)}{inside[:40]}{'}' * (1 + doubled)}"
            )
        if _NAME.fullmatch(inside):
            names.append(inside)
    for each in (QUESTION, ANSWER_FORMAT):
        if template.count(f"{{{each}}}") > names.count(each):
            raise BadTemplate(f"--template: {{{each}}} reads as LaTeX there; put a space before it")
    return names


def typed(option: str, text: str) -> str:
    r"""The text of an option: a string, `@FILE`, or `@@…` for a string that begins with @.

    In a string that was typed, `\n` is a new line; a file is taken as it is, the end of its last
    line apart.

    Raises:
        ConfigurationError: it is blank, or the file is not UTF-8; or `\n` may be LaTeX or not.
        OSError: the file cannot be read.
    """
    if text.startswith("@") and not text.startswith("@@"):
        content = _of_file(option, text[1:])
    else:
        content = _unescaped(option, text.removeprefix("@") if text.startswith("@@") else text)
    if not content.strip():
        raise ConfigurationError(f"{option}: it is empty")
    return content


def answer_format_of(text: str) -> tuple[str, str | None]:
    """The sentence that asks for a form of answer, and a response that has it where that is known.

    Args:
        text: a name of `FORMATS`, or the sentence itself, of several words.

    Raises:
        ConfigurationError: it is one word, and no name.
    """
    if text in FORMATS:
        return FORMATS[text]
    sentence = typed("--answer-format", text)
    if len(sentence.split()) == 1 and not text.startswith("@"):
        raise ConfigurationError(
            f"--answer-format {sentence}: neither a known form nor a sentence"
            f"{did_you_mean(sentence, FORMATS)}"
        )
    return sentence, None


def _of_file(option: str, name: str) -> str:
    with Path(name).open("rb") as stream:
        content = stream.read(MAX_FILE + 1)
    if len(content) > MAX_FILE:
        raise ConfigurationError(f"{option}: {name} is larger than {MAX_FILE >> 20} MB")
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n").removesuffix("\n")
    except UnicodeDecodeError:
        raise ConfigurationError(f"{option}: {name} is not UTF-8") from None


def _unescaped(option: str, text: str) -> str:
    for found in _UNCLEAR.finditer(text):
        if found[0] not in _LATEX:
            raise ConfigurationError(
                f"{option}: {found[0]} is a new line or LaTeX; write it into a file, and give @FILE"
            )
    return _LINE_END.sub("\n", text)
