"""`reward judge init`: settings to begin with, and the command that tries them."""

from typer.testing import CliRunner

from reward_functions.cli import app


def test_the_command_to_try_next_is_whole_however_long_the_path_is(tmp_path):
    folder = tmp_path / ("a-rather-long-folder-" * 8)
    folder.mkdir()
    file = folder / "judge.toml"
    ran = CliRunner().invoke(app, ["judge", "init", "-o", str(file)])
    assert ran.exit_code == 0
    assert ran.stderr.rstrip().endswith(f"reward judge probe reference --judge {file}")
