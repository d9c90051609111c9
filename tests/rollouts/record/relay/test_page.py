"""docs/relay.md: its example runs with a scripted engine, and its tables are the code's."""

import re
from pathlib import Path

import openai

from reward_functions.rollouts.record.relay.calls import TAKEN
from reward_functions.rollouts.record.relay.engine import ENGINES
from tests import generated
from tests.rollouts.record.relay.engines import Engine, tokens_of

PAGE = Path(__file__).parents[4] / "docs" / "relay.md"
TEXT = PAGE.read_text()


def run_agent(base_url, api_key):
    with openai.OpenAI(base_url=base_url, api_key=api_key) as client:
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])


def test_its_example_runs():
    (code,) = generated.python_blocks(PAGE)
    names = {"run_agent": run_agent}
    with Engine().serving() as engine:
        assert "http://127.0.0.1:8000/v1" in code
        exec(code.replace("http://127.0.0.1:8000/v1", engine.url), names)
    assert list(names["traces"][0].completion_ids) == tokens_of("hi")[1]
    assert names["trajectory"].rewards == (1.0,)


def test_its_table_of_engines_is_that_of_the_code():
    rows = dict(
        re.findall(r"^\| `(\w+)` \| (.*) \|$", TEXT.partition("| `kind` |")[2], re.MULTILINE)
    )
    assert rows.keys() == ENGINES.keys()
    for name, kind in ENGINES.items():
        asked, streams = rows[name].split(" | ")
        assert set(re.findall(r"`(\w+)`", asked)) == set(kind.asks)
        assert streams.startswith("yes" if kind.streams else "no")


def test_what_it_says_is_left_out_is_not_taken():
    assert not {"stream_options", "store", "user"} & set(TAKEN)
