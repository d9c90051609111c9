"""docs/agents/bad-input.md: each row of its table is a test that is there."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "agents" / "bad-input.md"
HERE = "test_agents_bad_input::"

TESTS = [
    "episode/test_deadline::test_an_async_agent_is_cancelled_at_its_deadline",
    "episode/test_deadline::test_a_sync_agent_sees_its_deadline_and_its_late_end_is_not_reported",
    "episode/test_interrupted::test_what_outlasts_the_grace_is_attributed_to_us",
    (
        "serve/agentcore/test_rollouts::"
        "test_an_agent_that_never_ends_fails_at_its_deadline_and_its_late_result_is_counted"
    ),
    "serve/agentcore/test_runtime::test_at_the_end_of_the_process_what_still_runs_is_marked",
    "record/relay/test_relay::test_an_engine_that_never_ends_is_left_after_a_time",
    "record/relay/test_sessions::test_a_session_expires_when_nobody_uses_it",
    "collect/test_batches::test_a_timeout_of_nothing_starts_nothing",
    "episode/pooling/test_pool::test_who_waits_too_long_has_an_environment_that_failed",
    HERE + "test_what_was_reported_counts_whatever_the_agent_does_then",
    HERE + "test_what_was_stored_counts_whatever_the_agent_does_then",
    HERE + "test_a_file_that_is_cut_anywhere_has_the_lines_before_the_cut",
    HERE + "test_what_a_killed_process_kept_is_there_and_half_a_line_is_no_trajectory",
    "record/test_jsonl::test_half_a_line_elsewhere_is_an_error_with_its_number",
    HERE + "test_an_answer_whose_connection_breaks_is_a_turn_without_an_answer",
    "record/relay/test_relay::test_a_stream_that_breaks_is_a_failed_turn",
    "record/relay/test_relay::test_a_client_that_goes_away_leaves_a_marked_turn",
    (
        "serve/agentcore/test_runtime::"
        "test_a_process_that_is_killed_leaves_its_starts_interrupted_and_its_ends_whole"
    ),
    HERE + "test_arguments_that_are_no_json_object_are_kept_as_written",
    "policy/strands/test_recording::test_a_tool_that_gives_no_result_gives_an_error",
    HERE + "test_arguments_that_are_no_json_object_are_kept_as_written",
    "record/relay/test_anthropic::test_an_answer_that_is_echoed_is_what_the_policy_wrote",
    "serve/agentcore/test_rollouts::test_what_is_refused_is_refused_before_the_agent_runs",
    "serve/agentcore/test_rollouts::test_a_process_that_names_no_bucket_writes_to_none",
    (
        "collect/test_futures::"
        "test_a_reply_that_names_another_place_is_refused_and_the_session_stopped"
    ),
    "serve/agentcore/test_rollouts::test_the_first_result_counts_and_the_second_is_a_conflict",
    "serve/agentcore/test_runtime::test_of_many_starts_at_once_one_runs_and_all_get_its_end",
    HERE + "test_a_result_that_is_written_again_behind_a_batch_changes_nothing",
    "report/test_feedback::test_the_same_report_again_is_the_same_report",
    "record/exchange/test_joining::test_what_was_written_twice_counts_once",
]
"""In the order of the page's rows."""


def rows():
    table = PAGE.read_text().split("| --- | --- | --- |\n")[1].split("\n\n")[0]
    return [line.strip("|").split(" | ")[1].strip() for line in table.splitlines()]


def test_each_row_has_its_test():
    assert len(rows()) == len(TESTS)


@pytest.mark.parametrize("name", sorted(set(TESTS)))
def test_a_test_of_the_page_is_there(name):
    module, _, function = name.partition("::")
    tree = ast.parse((ROOT / "tests" / "rollouts" / f"{module}.py").read_text())
    assert function in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
