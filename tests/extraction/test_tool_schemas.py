"""The schemas of tools in a JSON file, and what is said of a file that has none."""

import json

import pytest

from reward_functions.core.errors import ConfigurationError
from reward_functions.extraction.tool_schemas import schemas_of_file

TAKES = {"type": "object", "properties": {"door": {"type": "integer"}}}
TOOL = {"name": "paint", "parameters": TAKES}

READ = [
    ([TOOL], {"paint": TAKES}),
    ([{"type": "function", "function": TOOL}], {"paint": TAKES}),
    ([{"name": "stop"}, TOOL], {"stop": {}, "paint": TAKES}),
    ([], {}),
]

REFUSED = ["{}", "null", "[1]", "[{}]", '["paint"]', "not json", ""]


@pytest.mark.parametrize(("tools", "schemas"), READ)
def test_each_tool_has_the_schema_of_its_arguments(tmp_path, tools, schemas):
    (tmp_path / "tools.json").write_text(json.dumps(tools))
    assert schemas_of_file(str(tmp_path / "tools.json")) == schemas


@pytest.mark.parametrize("text", REFUSED)
def test_a_file_that_is_no_list_of_tools_is_named(tmp_path, text):
    file = tmp_path / "tools.json"
    file.write_text(text)
    with pytest.raises(ConfigurationError) as raised:
        schemas_of_file(str(file))
    assert str(raised.value) == f"the tools of {file} cannot be read: it is no list of tools"


def test_what_the_system_says_of_a_missing_file_is_passed_on(tmp_path):
    with pytest.raises(ConfigurationError, match=r"cannot be read: No such file or directory$"):
        schemas_of_file(str(tmp_path / "none.json"))
