"""Tutorial and how-to pages do what they say; every `reward` command of a page exists."""

import json
import re

import pytest

from docs.site.navigation import WAYS
from reward_functions.cdk.model.deployment import Deployment
from reward_functions.cdk.model.inheritance import inherited
from reward_functions.cdk.model.stages import Stage
from tests import generated, walkthrough
from tests.walkthrough import ROOT, blocks, comparable, unparsed, walked

NOT_RUN = {
    "docs/how-to/cold-starts.md": set(),
    "docs/calibrate.md": {"they ask a model; tests/cli/judge runs all four on stand-ins"},
    "docs/composites.md": set(),
    "docs/how-to/agentcore.md": {"it deploys to AWS, and the local AWS emulator has no AgentCore"},
    "docs/how-to/audit-in-ci.md": set(),
    "docs/how-to/ci.md": set(),
    "docs/how-to/collect-rollouts.md": {
        "it starts sessions of AgentCore; tests/rollouts/collect runs it on a double",
        "it stops sessions of AgentCore; tests/cli/rollouts/test_sessions.py does on a double",
    },
    "docs/install.md": {"it installs"},
    "docs/how-to/view.md": {"it installs packages", "it serves until Ctrl-C"},
    "docs/long-runs.md": {
        "it asks a judge and is interrupted; tests/cli/test_score_runs.py does both"
    },
    "docs/trainers.md": {"it trains"},
    "docs/trainers-reference.md": set(),
    "docs/write-your-own-reward.md": set(),
    "docs/how-to/bedrock.md": {
        "it installs",
        "tests/deploy attaches the same policies on the local AWS emulator",
        "tests/deploy deploys a stage to the local AWS emulator with the same commands",
        "tests/deploy/test_jobs.py runs them on the local AWS emulator and the training double",
    },
    "docs/how-to/evaluate.md": {"needs a job that ended"},
    "docs/how-to/explain-a-score.md": set(),
    "docs/how-to/export.md": {
        "it installs",
        "it needs a job",
        "tests/cli/test_export.py runs it with a stand-in",
    },
    "docs/how-to/judge.md": {
        "it asks Bedrock; tests/cli/judge/test_probe.py and test_audited.py run both on stand-ins",
        "it asks Bedrock; tests/cli/judge/test_scoring.py does on a stand-in",
    },
    "docs/how-to/init.md": {"tests/nightly/init.py runs them on the local AWS emulator"},
    "docs/how-to/local-judge.md": {"it needs a model and a processor for it"},
    "docs/how-to/one-import-line.md": {"it installs; tests/rollouts/compat runs all five"},
    "docs/how-to/operate.md": {
        "tests/deploy/test_alarms.py runs it on the local AWS emulator",
        "tests/deploy/test_versions.py runs it on the local AWS emulator",
    },
    "docs/how-to/rights.md": set(),
    "docs/how-to/score-any-size.md": {
        "tests/deploy/test_scale.py runs them on the local AWS emulator"
    },
    "docs/how-to/sagemaker.md": {"it needs a stage with sagemaker_role"},
    "docs/how-to/multi-turn.md": {
        "it is a program of the page",
        "it needs the stage of step 3",
        "it serves until it is ended",
        "tests/deploy deploys a stage to the local AWS emulator with the same commands",
        "tests/local/training_double runs such jobs on the training double",
    },
    "docs/how-to/token-traces.md": {
        "the relay serves until it is ended",
        "tests/rollouts/examples/test_token_traces.py runs it with a scripted engine",
    },
    "docs/how-to/deploy.md": {
        "it looks at an account; tests/cli/test_doctor.py runs it on doubles",
        "tests/deploy bootstraps the local AWS emulator with the same command",
        "tests/deploy deploys a stage to the local AWS emulator with the same commands",
        "tests/cli/test_deployed.py lists on a double, tests/deploy/test_deployment.py audits",
        "tests/deploy/test_versions.py does, on the local AWS emulator",
        "tests/cli/test_prune.py runs them on doubles",
        "tests/deploy/test_versions.py destroys a stage of the local AWS emulator",
    },
    "docs/how-to/company-account.md": {"it needs two accounts"},
    "docs/how-to/deferred-rewards.md": {
        "tests/deploy deploys a stage to the local AWS emulator with the same commands",
        "tests/cli/rollouts/test_redrive.py runs them on the local AWS emulator",
    },
    "docs/how-to/your-repository.md": {
        "it installs",
        "tests/cdk and tests/deploy do, on the example of the tests",
    },
    "docs/tutorial.md": {
        "it installs a gigabyte; every test of this project runs in what it makes"
    },
}
"""The blocks of walked pages that no test runs there, and why."""


def name_of(page):
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("way", WAYS)
def test_a_first_hour_is_five_short_pages_whose_commands_are_run(way):
    pages = [f"{page}.md" for page in WAYS[way]]
    assert len(pages) <= 5
    assert set(pages) <= {name_of(page) for page in walkthrough.PAGES}
    texts = {page: generated.PART.sub("", (ROOT / page).read_text()) for page in pages}
    assert {page: n for page, text in texts.items() if (n := len(text.split())) > 1_200} == {}


LIST_INSIDE = re.compile(r"^(?!(?:[-*]|\d+\.) )\S.*\n\d+\. ", re.MULTILINE)
"""A line of no list, and one that begins with a number and a point: Markdown makes it a list."""


@pytest.mark.parametrize("page", generated.pages(), ids=name_of)
def test_no_sentence_is_wrapped_into_a_list(page):
    prose = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    assert [each[0] for each in LIST_INSIDE.finditer(prose)] == []


@pytest.mark.parametrize("page", walkthrough.PAGES, ids=name_of)
def test_a_page_shows_what_its_commands_print(page):
    text = page.read_text()
    assert comparable(walked(text)) == comparable(text), "run make docs"


def test_what_is_not_run_is_listed_with_its_reason():
    assert {
        name_of(page): {block.reason for block in blocks(page.read_text()) if block.reason}
        for page in walkthrough.PAGES
    } == NOT_RUN


@pytest.mark.parametrize("page", generated.pages(), ids=name_of)
def test_every_reward_command_of_the_documentation_parses(page):
    assert list(unparsed(page.read_text())) == []


SHOWS_STAGES = (
    "deploy",
    "how-to/agentcore",
    "how-to/cold-starts",
    "how-to/company-account",
    "how-to/deferred-rewards",
    "how-to/deploy",
    "how-to/multi-turn",
    "how-to/rights",
    "how-to/your-repository",
)


def shown_stages(page):
    """The stages of a page's JSON: whole files, stages by their names, or fields of one."""
    written = re.findall(r"(?ms)^```json\n(.*?)^```|^cat > cdk.json <<'END'\n(.*?)^END$", page)
    for text in ("".join(each).strip() for each in written):
        given = json.loads(text if text.startswith("{") else f"{{{text}}}")
        if given.keys() <= {"Version", "Statement"}:
            continue
        if given.keys() <= Stage.model_fields.keys():
            given = {"dev": given}
        elif given.keys() <= Deployment.model_fields.keys():
            given = {"dev": {"deployments": [{"name": "a", "reward": "gsm8k", **given}]}}
        stages = given.get("context", {}).get("stages", given)
        for name in stages:
            yield {"region": "us-east-1", **inherited(stages, name).settings, "name": name}


@pytest.mark.parametrize("name", SHOWS_STAGES)
def test_the_stages_of_a_page_have_fields_that_the_deployment_reads(name):
    shown = list(shown_stages((ROOT / "docs" / f"{name}.md").read_text()))
    assert shown
    for each in shown:
        assert Stage.model_validate(each)


def test_a_field_that_no_stage_has_is_found():
    (wrong,) = shown_stages('```json\n"dev": {"regoin": "us-east-1"}\n```\n')
    with pytest.raises(ValueError, match="regoin"):
        Stage.model_validate(wrong)


@pytest.mark.parametrize(
    ("typed", "complaint"),
    [
        ("reward socre gsm8k f.jsonl", "there is no command socre"),
        ("reward data lnit f.jsonl", "there is no command lnit"),
        ("reward score gsm8k f.jsonl --fromat table", "No such option"),
        ("reward score gsm8k f.jsonl --format xml", "'xml' is not one of"),
        ("reward score gsm8k", "Missing argument"),
        ("true && reward score", "Missing argument"),
        ('JOB=$(reward job start --jsn) && echo "$JOB"', "No such option"),
    ],
)
@pytest.mark.parametrize("form", ["```sh\n{}\n```\n", "```console\n$ {}\n```\n"])
def test_a_command_that_does_not_exist_is_found(form, typed, complaint):
    (found,) = unparsed(form.format(typed))
    assert complaint in found


def test_a_command_of_a_ci_is_read():
    (found,) = unparsed("```yaml\nscript:\n  - reward aduit\n  - run: reward audit x\n```\n")
    assert "aduit" in found


def test_text_of_a_here_document_and_an_output_are_no_commands():
    assert not list(unparsed("```sh\ncat > f <<'END'\nreward nothing\nEND\n```\n"))
    assert not list(unparsed("```console\n$ reward --version\nreward nothing\n```\n"))


def test_outputs_are_written_again_and_the_rest_of_a_page_stays():
    page = "# A\n\n```sh\necho one > f\n```\n\n```console\n$ cat f\ntwo\n$ true\n```\n"
    assert walked(page) == page.replace("two", "one")


def test_commands_share_a_folder_which_is_empty_at_first():
    assert walked("```console\n$ ls\nold\n$ touch new\n$ ls\n```\n").endswith("$ ls\nnew\n```\n")


def test_what_fails_in_a_block_without_outputs_fails_the_page():
    with pytest.raises(AssertionError, match="exited with 3"):
        walked("```sh\ntrue\nsh -c 'exit 3'\ntrue\n```\n")


def test_what_is_marked_is_not_run():
    page = "<!-- not run: it fails -->\n\n```sh\nfalse\n```\n"
    assert walked(page) == page


def test_a_file_that_does_not_parse_fails_the_page():
    with pytest.raises(AssertionError, match="does not parse"):
        walked("```toml\n# judge.toml\nmodels = \n```\n")


def test_a_diff_edits_a_file_and_must_fit():
    page = (
        "```python\n# f.py\na = 1\nb = 2\n```\n\n```diff\n--- f.py\n a = 1\n-b = 2\n+b = 3\n```\n"
    )
    assert "b = 3" in walked(f"{page}\n```console\n$ tail -1 f.py\n```\n").rpartition("$")[2]
    with pytest.raises(AssertionError, match="has not one place"):
        walked(page.replace("-b = 2", "-b = 4"))


def test_only_what_is_listed_may_differ():
    assert comparable("9 samples/s · 1 passed in 0.2s") == comparable(
        "10,000 samples/s · 1 passed in 3.41s"
    )
    assert comparable("mean 0.5") != comparable("mean 0.6")
    assert comparable("a\n  notice: no interpreter of Python 3.13 answers\nb") == "a\nb"


def test_no_command_of_a_page_sees_an_account_or_a_judge_of_whoever_runs_it(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "of-somebody")
    monkeypatch.setenv("REWARD_JUDGE", '{"models": "of-somebody"}')
    page = "```console\n$ env\n$ reward explain rubric --response 'Yes.'\n```\n"
    assert "of-somebody" not in walked(page)
    assert "NoJudge" in walked(page)
