"""`instructions`: IFEval's 25 checks, where they differ from the original, and what they refuse."""

import json
import logging
import tomllib
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reward_functions import gated, get, sample, score_batch
from reward_functions.core.errors import BadReference, ConfigurationError
from reward_functions.core.spec import logged_once
from reward_functions.core.types import Scored, Unscored
from reward_functions.quantities.unicode_forms import visible
from reward_functions.reports.rules.registry import rule_of
from reward_functions.verifiers._instructions.checks import GROUPS, ROWS, argument_kind, problem
from reward_functions.verifiers._instructions.languages import language_of, languages
from reward_functions.verifiers._instructions.sentences import sentence_count

REWARD = get("instructions")

DIFFERENCES = tomllib.loads(
    Path(__file__).with_name("instructions_differences.toml").read_text(encoding="utf-8")
)

TEXT = "The heron stands in the water and looks for fish all day, and nobody sees it there."
"""Eighty letters in English, with a comma, seventeen words, one sentence."""


def one(name, response, prompt="", **arguments):
    """What a response earns where one instruction is asked."""
    return REWARD(response, [{"id": name, **arguments}], prompt=prompt).value


def followed(name, *responses, **arguments):
    return [(name, arguments, response, 1.0) for response in responses]


def missed(name, *responses, **arguments):
    return [(name, arguments, response, 0.0) for response in responses]


CAPITALS = {"capital_frequency": 2, "capital_relation": "at least"}
WORDS = {"num_words": 3, "relation": "less than"}
SENTENCES = {"num_sentences": 2, "relation": "at least"}
NTH = {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "Owls"}

TABLE = [
    *followed(
        "change_case:capital_word_frequency", "GO NOW", "A B", "COVID-19 IS here", **CAPITALS
    ),
    *missed("change_case:capital_word_frequency", "GO now", "go", "12 13 GO", **CAPITALS),
    *followed("change_case:english_capital", TEXT.upper()),
    *missed(
        "change_case:english_capital", TEXT, "YES", "DER REIHER STEHT IM WASSER UND DAS IST GUT"
    ),
    *followed("change_case:english_lowercase", TEXT.lower()),
    *missed(
        "change_case:english_lowercase", TEXT, "yes", "der reiher steht im wasser und das ist gut"
    ),
    *followed(
        "combination:repeat_prompt", "NAME a bird. A heron.", prompt_to_repeat="Name a bird."
    ),
    *missed(
        "combination:repeat_prompt",
        "Name a bird.",
        "Name a bird. !",
        "Sure. Name a bird. A heron.",
        prompt_to_repeat="Name a bird.",
    ),
    *followed(
        "combination:two_responses", "heron ****** owl", "******\nheron\n******\nowl\n******"
    ),
    *missed(
        "combination:two_responses",
        "heron",
        "heron ****** heron",
        "a ****** b",
        "heron ****** ****** owl",
        "heron ****** owl ****** crow",
        "heron ****** !",
    ),
    *followed("detectable_content:number_placeholders", "[a] [1]", num_placeholders=2),
    *missed(
        "detectable_content:number_placeholders", "[a]", "[][][]", "[ ] [!]", num_placeholders=2
    ),
    *followed("detectable_content:postscript", "Herons.\n\nP.S. Owls.", postscript_marker="P.S."),
    *followed("detectable_content:postscript", "Herons. p. p. s: owls", postscript_marker="P.P.S"),
    *missed(
        "detectable_content:postscript", "P.S.", "P.S. Owls", "Owls P.S.", postscript_marker="P.S."
    ),
    *followed(
        "detectable_format:constrained_response", "My answer is yes.", " My answer is no. So."
    ),
    *missed(
        "detectable_format:constrained_response",
        "Yes.",
        "my answer is yes.",
        "My answer is yes. My answer is no.",
    ),
    *followed("detectable_format:json_format", '{"a": 1}', '```json\n["a"]\n```', "```\n[1]\n```"),
    *missed(
        "detectable_format:json_format",
        "null",
        "12",
        '"a"',
        "{}",
        "[]",
        '[NaN, "a"]',
        'Here: {"a": 1}',
        "[" * 40_000 + "1",
    ),
    *followed(
        "detectable_format:multiple_sections",
        "Section 1\nherons\nSection 2\nowls",
        section_spliter="Section",
        num_sections=2,
    ),
    *missed(
        "detectable_format:multiple_sections",
        "Section 1 Section 2 owls",
        "SECTION 1 a SECTION 2 b",
        "Section one Section two",
        "Subsection 1 a Subsection 2 b",
        section_spliter="Section",
        num_sections=2,
    ),
    *followed(
        "detectable_format:number_bullet_lists", "* a\n- b", "x\n  - **a**\n*b", num_bullets=2
    ),
    *missed(
        "detectable_format:number_bullet_lists", "- a", "- a\n- b\n- c", "- \n---", num_bullets=2
    ),
    *followed("detectable_format:number_highlighted_sections", "*a* **b b**", num_highlights=2),
    *missed(
        "detectable_format:number_highlighted_sections",
        "*a*",
        "****",
        "* a * b * c *",
        "*!* **?**",
        num_highlights=2,
    ),
    *followed("detectable_format:title", "<<Dawn>>", "x <<<a>>>"),
    *missed("detectable_format:title", "<Dawn>", "<<>>", "<< >> a", "<<a\nb>>", "<<a>b</a>>"),
    *followed("keywords:existence", "The cat (a.b)", "CAT, a.b", keywords=["cat", "a.b"]),
    *missed("keywords:existence", "catalog a.b", "cat axb", "cat", keywords=["cat", "a.b"]),
    *followed("keywords:existence", "這是一隻貓頭鷹", keywords=["貓"]),
    *missed("keywords:existence", "a (", keywords=["(("]),
    *followed("keywords:forbidden_words", "a catalog", forbidden_words=["cat"]),
    *missed(
        "keywords:forbidden_words",
        "a Cat",
        "_cat_",
        "c**a**t",
        "c\u200bat",
        "ｃａｔ",
        forbidden_words=["cat"],
    ),
    *followed("keywords:frequency", "cat cat", keyword="cat", frequency=2, relation="at least"),
    *missed("keywords:frequency", "cat cats", keyword="cat", frequency=2, relation="at least"),
    *followed("keywords:frequency", "cats cat", keyword="cat", frequency=2, relation="less than"),
    *missed("keywords:frequency", "cat", keyword="cat", frequency=2, relation="exactly"),
    *missed("keywords:frequency", "cat cat cat", keyword="cat", frequency=2, relation="at most"),
    *followed(
        "keywords:letter_frequency", "Qq", letter="q", let_frequency=2, let_relation="at least"
    ),
    *missed(
        "keywords:letter_frequency", "Qq", letter="Q", let_frequency=2, let_relation="less than"
    ),
    *followed("language:response_language", TEXT, language="en"),
    *missed(
        "language:response_language", "...", "12345", "yes", "Ich und du und der", language="en"
    ),
    *followed("length_constraints:nth_paragraph_first_word", "Herons\n\nowls, say", **NTH),
    *missed(
        "length_constraints:nth_paragraph_first_word", "Owls", "a\n\nb\n\nOwls", "a\n\nowlsx", **NTH
    ),
    *followed(
        "length_constraints:number_paragraphs", "aa *** bb", "***\naa***bb\n***", num_paragraphs=2
    ),
    *missed(
        "length_constraints:number_paragraphs", "aa", "aa *** *** bb", "aa *** .", num_paragraphs=2
    ),
    *followed("length_constraints:number_sentences", "A heron. An owl!", **SENTENCES),
    *missed(
        "length_constraints:number_sentences", "A heron, an owl", "! ! !", "1. 2. 3.", **SENTENCES
    ),
    *followed("length_constraints:number_words", "a b", **WORDS),
    *missed("length_constraints:number_words", "a b c", "don't go", **WORDS),
    *followed("detectable_format:json_format", '{"a": "&quot;<b>&amp;</b>"}'),
    *missed("detectable_format:json_format", "[null]", "[[]]", "```json\n[null]\n```"),
    *missed(
        "combination:repeat_prompt", "Name a bird. Name a bird.", prompt_to_repeat="Name a bird."
    ),
    *missed("startend:end_checker", "Peace! Peace!", end_phrase="Peace!"),
    *missed("punctuation:no_comma", "a&#44; b", "a&#x2C; b", "a&comma; b"),
    *missed("keywords:forbidden_words", "c<b></b>at", "c&#97;t", forbidden_words=["cat"]),
    *missed("length_constraints:number_words", "a&nbsp;b&nbsp;c", "a\u3164b\u3164c", **WORDS),
    *followed("length_constraints:number_words", "a\u3164b", **WORDS),
    *followed("punctuation:no_comma", "herons"),
    *missed("punctuation:no_comma", "a, b", "a，b", "a، b", "a<!-- , -->b", "a‚ b"),
    *followed("startend:end_checker", "So it is. peace!", '"So. Peace!"', end_phrase="Peace!"),
    *missed("startend:end_checker", "Peace!", "So. Peace! Bye", ". Peace!", end_phrase="Peace!"),
    *followed("startend:quotation", '"herons"', ' "a" and "bb" '),
    *missed("startend:quotation", '"', '""', '"a', "“herons”"),
]


@pytest.mark.parametrize(("name", "arguments", "response", "value"), TABLE)
def test_a_check_counts_what_it_asks_for(name, arguments, response, value):
    assert one(name, response, **arguments) == value


def test_there_is_every_instruction_of_ifeval_and_each_is_in_the_table():
    assert len(ROWS) == 25
    assert {name for name, *_ in TABLE} == set(ROWS)
    assert len(GROUPS) == 9
    for name in ROWS:
        paid = {value for each, _, _, value in TABLE if each == name}
        assert paid == {0.0, 1.0}, name


def test_each_instruction_has_a_rule():
    for name in ROWS:
        assert rule_of("instructions", name.replace(":", "-").replace("_", "-")), name


@pytest.mark.parametrize(
    "row", DIFFERENCES["difference"], ids=lambda row: f"{row['where']}: {row['reason'][:40]}"
)
def test_what_is_decided_otherwise_than_by_the_original_has_a_reason(row):
    value = one(row["id"], row["response"], row.get("prompt", ""), **row["arguments"])
    assert bool(value) == row["ours"]


def test_every_difference_that_was_counted_has_a_reason():
    counts = DIFFERENCES["counts"]
    assert set(counts) <= {row["where"] for row in DIFFERENCES["difference"]}
    real = sum(counts[where].get(f"real_{way}", 0) for where in counts for way in ("more", "less"))
    assert real < 0.02 * DIFFERENCES["verdicts"]["real"]
    assert not any("lazy_more" in count for count in counts.values())


NOTHING = [
    "",
    " ",
    "\n\t",
    "\0",
    "\u200b\u200b",
    "...",
    ". . . " * 30,
    "<!-- heron -->",
    "!?",
    "---",
    "&nbsp;",
    "<br>",
    "\u3164\u3164",
    "\u115f\u1160",
    "\uffa0\u2800",
]


@pytest.mark.parametrize("response", NOTHING)
@pytest.mark.parametrize("mode", ["all", "share"])
def test_a_response_that_says_nothing_earns_nothing(response, mode):
    asked = [
        {"id": "punctuation:no_comma"},
        {"id": "keywords:forbidden_words", "forbidden_words": ["owl"]},
        {"id": "length_constraints:number_words", "num_words": 60, "relation": "less than"},
    ]
    for loose in (False, True):
        score = REWARD(response, asked, mode=mode, loose=loose)
        assert score.value == 0.0
        assert score.evidence.rule == "no-text"
        assert [metric.value for metric in score.metrics[:2]] == [0.0, 3.0]


PROMPT = "Write a poem about a heron without any commas, in less than sixty words."


@pytest.mark.parametrize(
    "response",
    [PROMPT, PROMPT.upper(), f"{PROMPT} {PROMPT}", f" {PROMPT}!", PROMPT[:50], PROMPT[10:]],
)
def test_a_prompt_that_is_echoed_earns_nothing(response):
    asked = [{"id": "keywords:existence", "keywords": ["a"]}]
    score = REWARD(response, asked, prompt=PROMPT, mode="share")
    assert score.value == 0.0
    assert score.evidence.rule == "prompt-echo" or "a" not in response


def test_what_quotes_a_little_of_its_prompt_is_no_echo():
    asked = [{"id": "detectable_format:constrained_response"}]
    prompt = 'Is it? Say "My answer is yes.", "My answer is no." or "My answer is maybe."'
    assert REWARD("My answer is no.", asked, prompt=prompt).value == 1.0
    repeated = [{"id": "combination:repeat_prompt", "prompt_to_repeat": PROMPT}]
    assert REWARD(f"{PROMPT}\nGrey wings.", repeated, prompt=PROMPT).value == 1.0


HIDDEN = [
    ("keywords:existence", {"keywords": ["owl"]}, "heron <!-- owl -->"),
    ("keywords:existence", {"keywords": ["owl"]}, "<think>owl</think>heron"),
    ("detectable_format:title", {}, "heron <!-- <<owl>> -->"),
    ("keywords:existence", {"keywords": ["owl"]}, "heron <span hidden>owl</span>"),
    ("keywords:existence", {"keywords": ["owl"]}, "heron <p style='display:none'>owl</p>"),
    ("keywords:existence", {"keywords": ["owl"]}, "heron ~~owl~~"),
    ("keywords:existence", {"keywords": ["owl"]}, "[heron](http://owl)"),
    ("keywords:existence", {"keywords": ["owl"]}, "<p title='owl'>heron</p>"),
    ("keywords:existence", {"keywords": ["owl"]}, "heron\n[//]: # (owl)"),
    (
        "length_constraints:number_words",
        {"num_words": 9, "relation": "at least"},
        "a <!--" + " b" * 9,
    ),
    (
        "keywords:letter_frequency",
        {"letter": "q", "let_frequency": 1, "let_relation": "at least"},
        "a <!-- q",
    ),
]


@pytest.mark.parametrize(("name", "arguments", "response"), HIDDEN)
def test_what_a_reader_does_not_see_follows_no_instruction(name, arguments, response):
    assert one(name, response, **arguments) == 0.0


@pytest.mark.parametrize("piece", ["1. ", "!? ", ". ", "I. ", "&#44;", "<b ", "[a](b:"])
def test_a_flood_is_read_once(piece):
    """Half a million characters took minutes where no sentence began: each stop read them all."""
    assert sentence_count(piece * 100_000) in (0, 1)
    assert REWARD(piece * (50_000 // len(piece)), TWO).value == 0.0


def test_a_verdict_is_the_same_a_thousand_times():
    every = [asked(name) for name in ROWS]
    responses = [response for _, _, response, _ in TABLE[:: len(TABLE) // 10]]
    first = [REWARD(response, every, mode="share") for response in responses]
    for _ in range(100):
        assert [REWARD(response, every, mode="share") for response in responses] == first


def test_reasoning_breaks_no_instruction():
    assert one("punctuation:no_comma", "<think>a, b</think>herons") == 1.0


TWO = [{"id": "detectable_format:title"}, {"id": "keywords:existence", "keywords": ["owl"]}]


def test_a_share_is_paid_where_that_is_asked_for_and_metrics_name_the_groups():
    score = REWARD("owl", TWO, mode="share")
    assert score.value == 0.5
    metrics = {metric.name: metric.value for metric in score.metrics}
    assert metrics["followed"] == 1.0
    assert metrics["asked"] == 2.0
    assert metrics["detectable_format_missed"] == 1.0
    assert metrics["keywords_missed"] == 0.0
    assert score.evidence.rule == "detectable-format-title"
    assert REWARD.credit(sample("", TWO)) == 0.5
    assert REWARD.credit(sample("", TWO[:1])) == 0.0


def test_loose_looks_past_the_first_line_the_last_one_and_asterisks():
    end = [{"id": "startend:end_checker", "end_phrase": "Peace!"}]
    response = "Sure, here it is:\nHerons. **Peace!**\nAnything else?"
    assert REWARD(response, end).value == 0.0
    assert REWARD(response, end, loose=True).value == 1.0


def test_the_least_words_are_asked_of_every_response():
    asked = [{"id": "punctuation:no_comma"}]
    assert REWARD("two words", asked, least_words=2).value == 1.0
    assert REWARD("two words", asked, least_words=3).value == 0.0
    with pytest.raises(ConfigurationError, match="least_words is 0 or more"):
        REWARD.bind({"least_words": -1})


def test_a_response_that_is_too_long_earns_nothing():
    asked = [{"id": "punctuation:no_comma"}]
    assert REWARD("a" * 50_000, asked).value == 1.0
    assert REWARD("a" * 50_001, asked).evidence.rule == "too-long"


REFERENCES = [
    TWO,
    json.dumps(TWO),
    {
        "instruction_id_list": [each["id"] for each in TWO],
        "kwargs": [{"num_words": None}, {"keywords": ["owl"], "relation": None}],
    },
    {"text": json.dumps({"instruction_id_list": [TWO[0]["id"]], "kwargs": [{}]})},
]


@pytest.mark.parametrize("reference", REFERENCES)
def test_a_reference_has_any_of_its_shapes(reference):
    assert REWARD("<<An owl>>", reference).value == 1.0
    assert REWARD("a heron", reference).value == 0.0


BAD = [
    (None, "no list of instructions"),
    ("", "no list of instructions"),
    ("[", "no JSON"),
    ([], "lists 0 instructions"),
    ({}, "instruction_id_list and kwargs"),
    ({"instruction_id_list": ["punctuation:no_comma"], "kwargs": []}, "two lists of one length"),
    ({"instruction_id_list": ["punctuation:no_comma"], "kwargs": [None]}, "no object"),
    ("punctuation:no_comma", "no list of instructions"),
    ([{"id": "punctuation:no_comma"}] * 33, "lists 33"),
    ([{}], "none of IFEval's 25"),
    ([{"id": "keywords:rhyme"}], "instruction 1: its id is none of IFEval's 25"),
    ([{"id": "punctuation:no_comma"}, {"id": ["x"]}], "instruction 2: its id"),
    ([{"id": "punctuation:no_comma", "number": 1}], "takes no 'number'"),
    ([{"id": "keywords:existence"}], "lacks keywords"),
    ([{"id": "keywords:existence", "keywords": []}], "keywords of .* is not a list of 1 to 32"),
    ([{"id": "keywords:existence", "keywords": [" "]}], "is not a list"),
    ([{"id": "keywords:existence", "keywords": "cat"}], "is not a list"),
    ([{"id": "keywords:existence", "keywords": ["\u200b"]}], "is not a list"),
    ([{"id": "keywords:existence", "keywords": ["\u3164"]}], "is not a list"),
    ([{"id": "keywords:existence", "keywords": ["x" * 101]}], "is not a list"),
    ([{"id": "startend:end_checker", "end_phrase": "x" * 20_001}], "at most 20,000 characters"),
    ([{"id": "length_constraints:number_words", "relation": "at least"}], "lacks num_words"),
    (
        [{"id": "length_constraints:number_words", "num_words": 5, "relation": "around"}],
        "is not one of less than",
    ),
    (
        [{"id": "length_constraints:number_words", "num_words": 0, "relation": "at least"}],
        "whole number from 1",
    ),
    (
        [{"id": "length_constraints:number_words", "num_words": True, "relation": "at least"}],
        "whole number from 1",
    ),
    (
        [{"id": "length_constraints:number_words", "num_words": 1e9, "relation": ["x"]}],
        "whole number from 1",
    ),
    (
        [
            {
                "id": "keywords:letter_frequency",
                "letter": "ab",
                "let_frequency": 1,
                "let_relation": "at least",
            }
        ],
        "one character",
    ),
    ([{"id": "language:response_language", "language": "xx"}], "known language"),
    ([{"id": "language:response_language", "language": ["en"]}], "known language"),
    ([{"id": "length_constraints:nth_paragraph_first_word", **NTH, "nth_paragraph": 3}], "above"),
]


@pytest.mark.parametrize(("reference", "why"), BAD)
def test_a_reference_that_cannot_be_used_is_the_data_sets_failure(reference, why):
    """Whatever the response: an empty one, one that is too long, one that follows all."""
    for response in ("", "a heron", "x" * 60_000):
        with pytest.raises(BadReference, match=why):
            REWARD(response, reference)
    with pytest.raises(BadReference):
        REWARD.gold_response(sample("", reference))


def asked(name):
    """An instruction with some arguments."""
    kinds = {"letter": "q", "language": "en", "keywords": ["owl"], "forbidden_words": ["elk"]}
    found = {}
    for argument in ROWS[name].takes.split():
        number = argument.startswith("n") or argument.endswith("frequency")
        relation = "at least" if argument.endswith("relation") else "heron"
        found[argument] = kinds.get(argument, 2 if number else relation)
    assert problem(name, found) == "", name
    return {"id": name, **found}


@pytest.mark.parametrize("name", ROWS)
def test_a_response_is_written_that_follows_an_instruction(name):
    row = sample("", [asked(name)])
    assert REWARD(row.answered(REWARD.gold_response(row))).value == 1.0
    assert argument_kind(name)


TOGETHER = [
    "punctuation:no_comma length_constraints:number_words detectable_format:title",
    "keywords:existence keywords:forbidden_words startend:end_checker startend:quotation",
    "change_case:english_lowercase detectable_content:number_placeholders keywords:frequency",
    "combination:repeat_prompt detectable_format:number_bullet_lists language:response_language",
    "detectable_format:multiple_sections detectable_content:postscript keywords:letter_frequency",
    "detectable_format:json_format detectable_format:number_highlighted_sections",
    "length_constraints:number_paragraphs length_constraints:number_sentences keywords:existence",
    "combination:two_responses change_case:english_capital detectable_format:title",
    "length_constraints:nth_paragraph_first_word change_case:capital_word_frequency",
]


@pytest.mark.parametrize("names", TOGETHER)
def test_a_response_is_written_that_follows_several_instructions(names):
    row = sample("", [asked(name) for name in names.split()])
    assert REWARD(row.answered(REWARD.gold_response(row))).value == 1.0


def test_instructions_that_contradict_each_other_have_no_right_response():
    both = [{"id": "punctuation:no_comma"}, {"id": "keywords:existence", "keywords": ["a, b"]}]
    with pytest.raises(BadReference, match="follows punctuation:no_comma and the others"):
        REWARD.gold_response(sample("", both))
    assert REWARD("a, b", both).value == 0.0


@pytest.mark.parametrize("language", sorted(languages()))
def test_a_response_is_written_in_each_language(language):
    row = sample("", [{"id": "language:response_language", "language": language}])
    assert REWARD(row.answered(REWARD.gold_response(row))).value == 1.0


SAYINGS = {
    "en": "Nobody knows why the heron stands in the river every morning.",
    "de": "Niemand weiß, warum der Reiher jeden Morgen im Fluss steht.",
    "fr": "Personne ne sait pourquoi le héron se tient dans la rivière chaque matin.",
    "es": "Nadie sabe por qué la garza está en el río todas las mañanas.",
    "pt": "Ninguém sabe por que a garça fica no rio todas as manhãs.",
    "it": "Nessuno sa perché l'airone sta nel fiume ogni mattina.",
    "fi": "Kukaan ei tiedä, miksi haikara seisoo joessa joka aamu.",
    "pl": "Nikt nie wie, dlaczego czapla stoi w rzece każdego ranka.",
    "vi": "Không ai biết tại sao con diệc đứng ở sông vào mỗi buổi sáng.",
    "sw": "Hakuna mtu anayejua kwa nini ndege huyo anasimama mtoni kila asubuhi.",
    "nl": "Niemand weet waarom de reiger elke ochtend in de rivier staat.",
    "sv": "Ingen vet varför hägern står i floden varje morgon och inte rör sig.",
    "ru": "Никто не знает, почему цапля стоит в реке каждое утро.",
    "uk": "Ніхто не знає, чому чапля стоїть у річці щоранку.",
    "bg": "Никой не знае защо чаплата стои в реката всяка сутрин.",
    "ar": "لا أحد يعرف لماذا يقف طائر البلشون في النهر كل صباح.",
    "fa": "هیچ کس نمی‌داند چرا حواصیل هر روز صبح در رودخانه می‌ایستد.",
    "ur": "کوئی نہیں جانتا کہ بگلا ہر صبح دریا میں کیوں کھڑا ہوتا ہے۔",
    "hi": "कोई नहीं जानता कि बगुला हर सुबह नदी में क्यों खड़ा होता है।",
    "mr": "बगळा रोज सकाळी नदीत का उभा असतो हे कोणालाही माहीत नाही.",
    "ne": "बकुल्ला हरेक बिहान नदीमा किन उभिन्छ भन्ने कसैलाई थाहा छैन।",
    "ja": "なぜサギが毎朝川に立っているのか、誰も知りません。",
    "ko": "왜가리가 왜 매일 아침 강에 서 있는지 아무도 모릅니다.",
    "zh": "没有人知道为什么苍鹭每天早上都站在河里看着水面。",
    "th": "ไม่มีใครรู้ว่าทำไมนกกระสาจึงยืนอยู่ในแม่น้ำทุกเช้า",
    "he": "אף אחד לא יודע למה האנפה עומדת בנהר בכל בוקר.",
    "ta": "கொக்கு ஏன் தினமும் காலையில் ஆற்றில் நிற்கிறது என்று யாருக்கும் தெரியாது.",
    "bn": "বক কেন প্রতিদিন সকালে নদীতে দাঁড়িয়ে থাকে তা কেউ জানে না।",
}
"""One sentence, translated for this test."""


@pytest.mark.parametrize("language", SAYINGS)
def test_a_sentence_shows_its_language(language):
    assert language_of(SAYINGS[language]) == language


COUNTED = [
    ("", 0),
    ("a heron", 1),
    ("Wow!!! Yes.", 2),
    ("Really?! Yes", 2),
    ('He said "Hi!" She left.', 2),
    ("Dr. Smith went. He left.", 2),
    ("It costs $5.50 now. Fine.", 2),
    ("At 5 p.m. we left", 1),
    ("In the U.S. The heron", 2),
    ("A. Smith", 1),
    ("so... then", 1),
    ("So... Then", 2),
    ("e.g. this one", 1),
    ("x.y z", 1),
    ("1. Herons.\n2. Owls.", 2),
    ("Hello\n\nthere", 1),
    ("鹭。鸮。", 2),
    ("! ! !", 0),
]


@pytest.mark.parametrize(("text", "count"), COUNTED)
def test_sentences_are_counted(text, count):
    assert sentence_count(text) == count


def test_alone_it_warns_once_and_as_a_gate_never(caplog):
    logged_once.cache_clear()
    judged = gated(
        {"reward": "instructions", "name": "form"},
        "exact_match",
        name="acme.judged",
        threshold=1.0,
    )
    with caplog.at_level(logging.WARNING, "reward_functions"):
        assert judged(sample("heron", TWO)).value == 0.0
        assert not caplog.records
        REWARD("heron", TWO)
        REWARD("heron", TWO)
    (record,) = caplog.records
    assert 'gated("instructions", "rubric", threshold=1.0)' in record.getMessage()


FLOODS = [
    "a", "a ", "! ", "[", "<<a", "*", "*a", '"', "\n\n", "- a\n", "P.S. ", "Section 1 ", '{"a":',
    "<!--", "Mr. ", "heron ", "und die ", "***", "a\u200b", "ｈ", "के ", "```", "My answer is ",
]  # fmt: skip


@pytest.mark.parametrize("flood", FLOODS)
def test_a_flood_is_scored_again_the_same(flood):
    text = (flood * 50_000)[:50_000]
    every = [asked(name) for name in ROWS]
    first = REWARD(text, every, mode="share")
    assert first == REWARD(text, every, mode="share")
    assert first.value < 0.6


TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=80)


@given(TEXTS)
def test_any_response_is_scored_and_a_share_is_the_share(response):
    every = [asked(name) for name in ROWS]
    (result,) = score_batch(REWARD.bind({"mode": "share"}), [sample(response, every)])
    assert isinstance(result, Scored)
    kept = {metric.name: metric.value for metric in result.score.metrics}
    assert result.score.value == kept["followed"] / 25
    assert 25 - kept["followed"] == sum(kept[f"{group}_missed"] for group in GROUPS)


@given(TEXTS, st.sampled_from(sorted(ROWS)))
def test_loose_never_pays_less(response, name):
    strict = REWARD(response, [asked(name)]).value
    assert REWARD(response, [asked(name)], loose=True).value >= strict


@given(TEXTS)
@example("\0")
@example("\u200b ")
@example("a+b(")
def test_an_argument_is_a_text_that_shows_something_and_no_pattern(word):
    reference = [{"id": "keywords:existence", "keywords": [word]}]
    (result,) = score_batch(REWARD, [sample("a heron", reference)])
    assert isinstance(result, Scored if visible(word).strip() else Unscored)
