"""Words of other languages than English that state an answer: a language a row.

A language that sets spaces has a word for the answer, words that state what it is, and words that
deny it. In the others the verb follows the word at once, or the value the verb.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Language(NamedTuple):
    """Words between spaces.

    Args:
        answer: for the answer.
        states: between it and its value; a colon does in every language.
        denies: that the value does not exist.
    """

    answer: str
    states: str = ""
    denies: str = ""


SPACED: Final = {
    "ar": Language("الجواب الإجابة جواب", "هو هي", "ليس ليست"),
    "bn": Language("উত্তর"),
    "cs": Language("odpověď", "je", "není"),
    "de": Language("antwort", "ist lautet", "nicht"),
    "el": Language("απάντηση", "είναι", "δεν"),
    "es": Language("respuesta", "es", "no"),
    "fa": Language("پاسخ"),
    "fi": Language("vastaus", "on", "ei"),
    "fr": Language("réponse", "est", "pas"),
    "he": Language("תשובה התשובה", "היא", "לא"),
    "hi": Language("उत्तर", "है"),
    "hu": Language("válasz", "", "nem"),
    "id": Language("jawaban jawabannya jawapan", "adalah ialah", "bukan"),
    "it": Language("risposta", "è", "non"),
    "nl": Language("antwoord", "is", "niet"),
    "pl": Language("odpowiedź", "to", "nie"),
    "pt": Language("resposta", "é", "não"),
    "ro": Language("răspuns răspunsul", "este", "nu"),
    "ru": Language("ответ", "— –", "не"),
    "sv": Language("svar svaret", "är", "inte"),
    "tr": Language("cevap yanıt"),
    "uk": Language("відповідь", "— –", "не"),
    "vi": Language("đáp_án", "là", "không"),
}
"""By ISO 639. "_" stands for a space."""

JOINED: Final = ("答案", "答え", "정답", "답은", "คำตอบ")
"""The answer where the verb follows at once, and the verbs."""

STATES: Final = "(?:应该?|就|便)?(?:[是为は은]|等于|คือ)"


def words(name: str) -> tuple[str, ...]:
    """A column of the table, each word once, the longest first."""
    column = " ".join([getattr(each, name) for each in SPACED.values()]).split()
    alphabetical = sorted({each.replace("_", " ") for each in column})
    return tuple(sorted(alphabetical, key=len, reverse=True))


def cases(word: str) -> tuple[str, ...]:
    """A word as it may be written: answer, Answer, ANSWER."""
    return tuple(dict.fromkeys((word, word.capitalize(), word.upper())))


RESULT: Final = "[解求算可]?得[到出]?(?:答案|结果)?"
"""Chinese verbs of what a working has led to."""

WORKING: Final = (
    rf"(?:(?![不没非或若如设假第错]|[至最][多少]|[大小]于|超过|可能)(?-i:[一-鿿])){{0,20}}?{RESULT}"
)
"""The words of a working up to its result: 解方程得到. Without `-i` each of 20,992 signs is turned
to lower case when a pattern that ignores case is compiled."""

LAST_SENTENCE: Final = (
    r"(?=[一-鿿])(?:(?:所以|因此|故|综上(?:所述)?|于是|从而|最后|最终|结果|由此|即|解得|计算|经计算|那么|得到|求得|可得)"
    r"[,，:：]?\s?)"
    rf"(?P<subject>[^,，。;；:：!?？=\n是为有剩]{{0,40}}?)"
    rf"(?P<verb>[是为]|等于|=|{RESULT}|还?剩[下余]?|(?P<has>(?:[一总]?共计?|合计|还)?)有)[:：]?\s?"
)
"""What a last Chinese sentence says before its value."""
