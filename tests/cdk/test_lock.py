"""The lock: one digest whatever an index publishes, and newer versions when they are asked for.

A folder of wheels stands for an index, and a team's package is found as if it were installed.
"""

from __future__ import annotations

import re
import sys
from contextlib import contextmanager
from pathlib import Path
from zipfile import ZipFile

import pytest

from reward_functions.cdk.artifact import artifact, closure, lock, parts, pins
from reward_functions.cdk.artifact.artifact import NotLoaded
from reward_functions.cdk.artifact.lock import CONTENT, BadLock, Change, changes
from reward_functions.cdk.artifact.packages import BadPackage, Package
from reward_functions.cdk.artifact.pins import Pin, parsed
from reward_functions.cdk.constructs.artifacts import Artifacts
from reward_functions.cdk.model.stages import Stage
from tests.cdk.wheels import wheel

REWARD = """
from reward_functions import Score, reward_function
{imports}

@reward_function(name="acme.length", version=1)
def length(sample):
    "Reference: none."
    return Score(0.0)
"""

POINTS = "acme.length = acme:length"

REQUIRES = ("acme_common>=1", "reward-functions>=0.1")
"""What the package requires unless a test says otherwise: then one lock is every team's."""

OURS = {"mpmath", "pydantic", "six", "sympy"}
"""Of our pins, those that a test here names."""


@pytest.fixture(scope="module", autouse=True)
def _ours_are_few(tmp_path_factory, followed_once):
    """Of our pins and rooms a few: what the stage's packages bring is what these tests are about.

    tests/cdk/test_app.py has a team's package beside all of them.
    """
    few = tmp_path_factory.mktemp("pins") / "runtime.txt"
    few.write_text("\n".join(str(pin) for pin in pins.our_pins() if pin.name in OURS))
    core = {
        name: path
        for name, path in closure.all_files().items()
        if name.count("/") == 1 or name.startswith("reward_functions/core/")
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pins, "pins", lambda: few)
        patch.setattr(closure, "all_files", lambda beside=frozenset(): core)
        patch.setattr(closure, "HANDLER", "reward_functions.core.batch")
        yield


class Team:
    """A repository with a package, and an index that the team publishes to."""

    def __init__(self, folder, monkeypatch):
        self.folder, self.index, self.monkeypatch = folder, folder / "index", monkeypatch
        self.lock = folder / "reward-functions.test.lock"
        self.packages = []

    def publish(self, version, **more):
        """A version of `acme_common`, on which the team's package depends."""
        return wheel(self.index, "acme_common", version, **more)

    def write(self, *requires, imports="", files=None, tag="py3-none-any"):
        """The team's package as a wheel, and as it would be installed."""
        requires = requires or REQUIRES
        imports = f"import acme_common\n{imports}"
        contents = {"acme/__init__.py": REWARD.format(imports=imports)} | (files or {})
        path = wheel(self.folder, "acme", requires=requires, files=contents, points=POINTS, tag=tag)
        site = self.folder / "site"
        with ZipFile(path) as archive:
            archive.extractall(site)
        (site / "acme" / "__init__.py").write_text(REWARD.format(imports=""))  # it works here
        self.monkeypatch.syspath_prepend(site)
        self.packages = [path.name]

    def artifacts(self, **fields):
        given = {"name": "test", "region": "us-east-1", "deployments": ["acme.length", "gsm8k"]}
        target = {} if "python" in fields else {"emulated": True}
        stage = Stage.model_validate(given | target | {"packages": self.packages} | fields)
        compiler = Path(sys.executable) if "python" not in fields else None
        return Artifacts(stage, self.folder, compiler)

    def digest(self, **fields):
        return self.artifacts(**fields).artifact("acme.length").digest


@contextmanager
def publishing(folder):
    """A team whose package requires another, which the index has."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UV_NO_INDEX", "1")
        patch.setenv("UV_FIND_LINKS", str(folder / "index"))
        made = Team(folder, patch)
        made.publish("1.0")
        made.write()
        yield made
    for name in [name for name in sys.modules if name.partition(".")[0].startswith("acme")]:
        del sys.modules[name]


@pytest.fixture
def team(tmp_path):
    with publishing(tmp_path) as made:
        yield made


@pytest.fixture(scope="module")
def resolved(tmp_path_factory):
    """What such a team's lock says: it names no place, so one is every team's."""
    with publishing(tmp_path_factory.mktemp("resolved")) as made:
        _ = made.digest()
        return made.lock.read_text()


@pytest.fixture
def locked(team, resolved):
    """A team that has its lock."""
    team.lock.write_text(resolved)
    return team


def test_the_lock_of_one_team_is_that_of_another(locked, resolved):
    artifacts = locked.artifacts(strict=True)
    _ = artifacts.artifact("acme.length").digest
    assert artifacts.notices == []
    assert locked.lock.read_text() == resolved


def test_a_newer_version_moves_nothing_until_it_is_asked_for(team, tmp_path):
    before = team.digest()
    team.publish("1.1")
    assert team.digest() == before
    artifacts = team.artifacts()
    artifacts.artifact("acme.length").build(tmp_path / "zip")
    assert content(tmp_path / "zip", "acme_common.py").startswith("VERSION = '1.0'")
    assert artifacts.lock.write() == ()
    assert artifacts.lock.write(upgrade=True) == (Change("acme-common", "1.0", "1.1"),)
    assert team.digest() != before
    team.artifacts().artifact("acme.length").build(tmp_path / "zip")
    assert content(tmp_path / "zip", "acme_common.py").startswith("VERSION = '1.1'")


def content(path, name):
    with ZipFile(path) as archive:
        return archive.read(name).decode()


def test_the_first_synthesis_writes_the_lock_and_says_so(team):
    artifacts = team.artifacts()
    assert not team.lock.exists()
    _ = artifacts.artifact("acme.length").digest
    assert artifacts.notices == [
        "wrote reward-functions.test.lock, which says what the packages require: commit it"
    ]
    assert [pin.name for pin in parsed(team.lock.read_text())] == ["acme-common"]
    again = team.artifacts()
    _ = again.artifact("acme.length").digest
    assert again.notices == []


def test_a_lock_names_no_index_and_no_path(team):
    _ = team.digest()
    text = team.lock.read_text()
    assert str(team.folder) not in text
    assert "://" not in text
    assert "--" not in text.replace("--hash=", "").replace("--stage", "")


def test_nobody_is_asked_before_a_digest_is(team):
    team.packages = ["acme-1.0-py3-none-any.whl"]
    Path(team.folder / "acme-1.0-py3-none-any.whl").write_bytes(b"no wheel")
    artifacts = team.artifacts()
    artifacts.artifact("acme.length")
    assert not team.lock.exists()
    with pytest.raises(BadPackage, match="is not a wheel"):
        _ = artifacts.artifact("acme.length").digest


def test_a_strict_stage_refuses_without_a_lock(team):
    with pytest.raises(BadLock, match=r"strict.*is missing: run `reward lock --stage test`"):
        team.digest(strict=True)
    assert not team.lock.exists()


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    "moved",
    [
        lambda team: team.write("acme_common>=1", "acme_common<2"),
        lambda team: team.packages.append("acme_common==1.0"),
        lambda team: team.lock.write_text("acme-common==1.0\n"),
    ],
    ids=["requirements", "packages", "another file"],
)
def test_a_stale_lock_is_refused_everywhere(locked, moved, strict):
    moved(locked)
    with pytest.raises(BadLock, match=r"test\.lock is stale.*run `reward lock --stage test`"):
        locked.digest(strict=strict)


def test_another_target_makes_a_lock_stale(locked):
    with pytest.raises(BadLock, match="stale"):
        locked.digest(architecture="arm64", python="3.12")


def test_the_code_and_the_version_of_a_package_do_not(locked):
    before = locked.digest()
    locked.write(imports="# changed")
    assert locked.digest() != before


def test_a_hash_that_does_not_match_is_one_sentence(locked, tmp_path):
    _ = locked.digest()
    text = re.sub(r"(--hash=sha256:)\w{8}", r"\g<1>00000000", locked.lock.read_text())
    locked.lock.write_text(CONTENT.sub(f"# content: {lock._content(text)}\n", text))
    with pytest.raises(BadPackage, match=r"an index serves other.*run reward lock") as caught:
        locked.artifacts().artifact("acme.length").build(tmp_path / "built" / "zip")
    assert "\n" not in str(caught.value)
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize(
    "edited",
    [
        lambda text: re.sub(r"sha256:\w{8}", "sha256:00000000", text),
        lambda text: "".join(line for line in text.splitlines(True) if line.startswith("#")),
        lambda text: text.replace("==1.0", "==1.1"),
        lambda text: text + "other==1.0 --hash=sha256:" + "0" * 64,
        lambda text: "other==1.0\n" + text,
        lambda text: re.sub(r"(?m)^# content: .*\n", "", text),
    ],
    ids=["hash", "deleted", "version", "added", "added above", "no digest"],
)
def test_a_lock_that_somebody_changed_is_refused(locked, edited):
    locked.lock.write_text(edited(locked.lock.read_text()))
    with pytest.raises(BadLock, match="not as it was written: restore it, or run `reward lock"):
        locked.digest()


def test_how_git_ends_lines_is_no_change(locked):
    before = locked.digest()
    locked.lock.write_bytes(locked.lock.read_bytes().replace(b"\n", b"\r\n"))
    assert locked.digest() == before


@pytest.mark.parametrize(
    ("edited", "shown"),
    [
        (lambda text: text.replace("acme-common==", "acme-common == "), "acme-common == 1.0"),
        (lambda text: f"<<<<<<< HEAD\n{text}=======\n{text}>>>>>>> x\n", "<<<<<<< HEAD"),
        (lambda text: f"--no-index\n{text}", "--no-index"),
        (lambda text: f"{text}-e ../acme\n", "-e ../acme"),
    ],
    ids=["blanks", "a merge", "an option", "a folder"],
)
def test_a_line_that_is_no_pin_is_refused(locked, edited, shown):
    locked.lock.write_text(edited(locked.lock.read_text()))
    for asked in (locked.digest, locked.artifacts().lock.write):
        with pytest.raises(BadLock, match=f"{shown}.*: delete the file, and run `reward lock"):
            asked()


def test_a_line_with_an_address_names_the_remedy(locked):
    locked.lock.write_text(f"{locked.lock.read_text()}other @ https://token@a.example/o.whl\n")
    with pytest.raises(BadLock, match=r"requires other by an address.*folder in `pack") as caught:
        locked.digest()
    assert "token" not in str(caught.value)


@pytest.mark.parametrize("how", ["acme_common @ {uri}", "Acme.Common[fast]@{uri}"])
def test_what_a_package_requires_by_an_address_is_named_in_packages(team, tmp_path, how):
    elsewhere = wheel(tmp_path / "elsewhere", "acme_common", "2.0")
    team.write(how.format(uri=elsewhere.as_uri()))
    with pytest.raises(BadLock, match=r"acme requires acme-common by an address.*in `packages`"):
        team.digest()
    assert not team.lock.exists()
    mine = wheel(tmp_path / "mine", "acme_common", "3.0")
    team.packages.append(str(mine))
    team.artifacts().artifact("acme.length").build(tmp_path / "zip")
    assert content(tmp_path / "zip", "acme_common.py").startswith("VERSION = '3.0'")


def test_what_a_requirement_requires_by_an_address_is_refused_too(team, tmp_path):
    deep = wheel(tmp_path / "elsewhere", "acme_deep")
    team.publish("1.0", requires=[f"acme_deep @ {deep.as_uri()}"])
    with pytest.raises((BadLock, BadPackage), match=r"acme.deep") as caught:
        team.digest()
    assert "\n" not in str(caught.value)
    assert not team.lock.exists()


def test_packages_that_require_nothing_need_no_lock(team):
    team.write("reward-functions>=0.1", files={"acme_common.py": ""})
    assert team.digest(strict=True) == team.digest()
    assert not team.lock.exists()


def test_a_pinned_requirement_needs_one(team):
    team.write("reward-functions>=0.1")
    team.packages.append("acme_common==1.0")
    _ = team.digest()
    assert [str(pin)[:16] for pin in parsed(team.lock.read_text())] == ["acme-common==1.0"]


def test_a_package_may_not_move_our_pins(team):
    wheel(team.index, "pydantic", "1.0")
    team.write("acme_common", "pydantic==1.0")
    with pytest.raises(BadPackage, match=r"resolving the packages of stage 'test'.*pydantic"):
        team.digest()


def test_what_our_pins_have_is_installed_once(team):
    wheel(team.index, "six", "1.17.0")
    team.write("acme_common", "six")
    *_, packages = team.artifacts().artifact("acme.length").contents.parts
    assert [pin.name for pin in packages.pins] == ["acme-common"]
    assert [pin.name for pin in parsed(team.lock.read_text())] == ["acme-common", "six"]


def test_a_package_without_a_wheel_names_the_remedy(team):
    (team.index / "acme_common-1.0-py3-none-any.whl").unlink()
    (team.index / "acme_common-1.0.tar.gz").write_bytes(b"")
    with pytest.raises(BadPackage, match=r"`uv build --wheel` in its source\) and name the wheel"):
        team.digest()


def test_a_wheel_that_is_named_stands_for_one_of_the_index(team, tmp_path):
    mine = wheel(tmp_path / "mine", "acme_common", "3.0")
    team.packages.append(str(mine))
    team.artifacts().artifact("acme.length").build(tmp_path / "zip")
    assert content(tmp_path / "zip", "acme_common.py").startswith("VERSION = '3.0'")
    assert parsed(team.lock.read_text()) == ()


PYPROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "acme"
version = "1.0"
dependencies = ["Acme_Common[fast]>=1", "reward-functions"]
[project.entry-points.reward_functions]
"acme.length" = "acme:length"
"""


@pytest.fixture(scope="module")
def project_wheel(tmp_path_factory):
    """What uv builds of that project; its sources say nothing to a build."""
    folder = tmp_path_factory.mktemp("project")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UV_NO_BUILD_ISOLATION", "1")
        write_project(folder / "acme", "")
        return Package.of("acme", folder).wheel(folder)


@pytest.fixture
def built_once(project_wheel, monkeypatch):
    """A project is that wheel."""
    build = Package.wheel

    def wheel_of(package, folder):
        return project_wheel if package.name == "acme" else build(package, folder)

    monkeypatch.setattr(Package, "wheel", wheel_of)


def write_project(folder, sources):
    (folder / "acme").mkdir(parents=True)
    (folder / "acme" / "__init__.py").write_text(REWARD.format(imports=""))
    (folder / "pyproject.toml").write_text(PYPROJECT + sources)


def project(team, folder, sources):
    """The team's package as a folder with sources, in place of its wheel."""
    write_project(folder, sources)
    team.packages = [str(folder)]


SOURCES = [
    "acme-common = { path = '../common' }",
    "'acme.common' = { git = 'https://a.example/common' }",
    "acme_common = { url = 'https://a.example/common.whl' }",
    "acme_common = { workspace = true }",
    (
        "acme_common = [{ index = 'ours', marker = 'sys_platform == \"linux\"' },"
        " { path = 'x', marker = 'sys_platform == \"win32\"' }]"
    ),
]


INDEX = "[[tool.uv.index]]\nname = 'ours'\nurl = 'https://a.example/simple'\nexplicit = true\n"


@pytest.mark.parametrize("source", SOURCES)
def test_what_a_project_takes_from_a_source_is_never_asked_of_an_index(
    team, built_once, tmp_path, source
):
    project(team, tmp_path / "mine", f"[tool.uv.sources]\n{source}\n{INDEX}")
    with pytest.raises(
        BadPackage, match=r"^mine takes acme-common from \[tool\.uv\.sources\].*: n"
    ):
        team.digest()
    assert not team.lock.exists()
    team.packages.append(str(wheel(tmp_path / "mine", "acme_common", "3.0")))
    team.digest()


def test_a_workspace_s_sources_are_its_members(team, built_once, tmp_path):
    (tmp_path / "pyproject.toml").write_text(
        f"[tool.uv.workspace]\nmembers = ['libs/*']\n[tool.uv.sources]\n{SOURCES[3]}\n"
    )
    project(team, tmp_path / "libs" / "mine", "")
    with pytest.raises(BadPackage, match="takes acme-common from"):
        team.digest()


@pytest.mark.parametrize(
    "source",
    [
        "acme-common = { index = 'ours' }",
        "pytest-acme = { path = '../pytest-acme' }",
        "reward-functions = { path = '../reward-functions' }",
    ],
    ids=["an index", "not required", "ourselves"],
)
def test_other_sources_are_the_project_s_own_business(team, built_once, tmp_path, source):
    project(team, tmp_path / "mine", f"[tool.uv.sources]\n{source}\n{INDEX}")
    team.digest()


@pytest.mark.parametrize("again", ["acme==1.0", "mine/acme-2.0-py3-none-any.whl"])
def test_a_package_is_named_once(team, tmp_path, again):
    wheel(tmp_path / "mine", "acme", "2.0")
    team.packages.append(again)
    with pytest.raises(BadPackage, match="`packages` names acme twice: leave one"):
        team.digest()


# The packages themselves: whole, untouched, and importable.


def test_a_package_keeps_its_own_tests_and_benchmarks(locked, tmp_path):
    files = {
        "acme/tests/__init__.py": "",
        "acme/benchmarks/__init__.py": "BEST = 1.0\n",
        "acme/native.pyi": "",
        "acme/kernel.c": "",
        "acme/notes.rst": "",
        "bin/__init__.py": "",
    }
    imports = "import acme.tests\nfrom acme.benchmarks import BEST"
    locked.write(imports=imports, files=files)
    locked.artifacts().artifact("acme.length").build(tmp_path / "zip")
    with ZipFile(tmp_path / "zip") as archive:
        names = set(archive.namelist())
    assert files.keys() <= names
    assert {"acme-1.0.dist-info/METADATA", "acme-1.0.dist-info/RECORD"} <= names
    assert {"acme_common-1.0.dist-info/METADATA", "acme-1.0.dist-info/entry_points.txt"} <= names
    assert not {"acme-1.0.dist-info/INSTALLER", "acme-1.0.dist-info/direct_url.json"} & names


def test_a_reward_of_ours_carries_no_package_of_the_stage(locked, tmp_path, monkeypatch):
    monkeypatch.setattr(artifact, "fault", lambda *_, **__: None)  # which needs all of our pins
    locked.artifacts().artifact("gsm8k").build(tmp_path / "zip")
    with ZipFile(tmp_path / "zip") as archive:
        assert not [name for name in archive.namelist() if name.startswith("acme")]


@pytest.mark.parametrize(
    ("requires", "imports", "carried"),
    [
        ([], "", False),
        ([], "from reward_functions.symbolic import equal", True),
        ([], "from reward_functions import get\nget('math')", True),
        (["acme_common", "sympy"], "", True),
    ],
    ids=["no", "our algebra", "our reward", "required"],
)
def test_sympy_joins_where_a_package_reaches_it(locked, requires, imports, carried):
    wheel(locked.index, "sympy", "1.14.0", requires=["mpmath"])
    wheel(locked.index, "mpmath", "1.3.0")
    if requires:
        locked.lock.unlink()
    locked.write(*requires, imports=imports)
    contents = locked.artifacts().artifact("acme.length").contents
    names = {pin.name for part in contents.parts for pin in part.pins}
    assert ("sympy" in names) == carried


@pytest.mark.parametrize(
    ("parameters", "carried"),
    [
        ({"inner": "math"}, True),
        ({"inner": {"of": ["gsm8k", "math"]}}, True),
        ({"inner": "gsm8k"}, False),
        ({"math": 1}, False),
    ],
)
def test_sympy_joins_where_a_parameter_names_a_reward_that_needs_it(locked, parameters, carried):
    artifacts = locked.artifacts()
    (theirs, ours) = artifacts.stage.deployments
    object.__setattr__(theirs, "parameters", parameters)
    names = {
        pin.name for part in artifacts.artifact("acme.length").contents.parts for pin in part.pins
    }
    assert ("sympy" in names) == carried
    assert ours.reward == "gsm8k"


def lay_out_names(self, tree):
    """Empty modules of the pins' names."""
    tree.mkdir()
    for pin in self.pins:
        for name in (pin.name, pin.name.replace("-", "_")):
            (tree / f"{name}.py").touch()


TARGETS = [{}, {"architecture": "arm64", "python": "3.13"}]


@pytest.mark.parametrize("target", TARGETS, ids=["here", "foreign"])
@pytest.mark.parametrize(
    ("imports", "cause"),
    [
        ("import acme_absent", "acme_absent"),
        ("import acme.absent", "acme.absent"),
        ("from reward_functions.data import rows", "reward_functions.data"),
    ],
)
def test_what_cannot_be_imported_is_one_sentence(
    locked, tmp_path, monkeypatch, target, imports, cause
):
    locked.write(imports=imports)
    if target:
        locked.lock.unlink()
        # No index has our pins for another platform; which of them is there matters nothing here.
        monkeypatch.setattr(parts.Requirements, "lay_out", lay_out_names)
    built = tmp_path / "built"
    with pytest.raises(NotLoaded, match=re.escape(cause)) as caught:
        locked.artifacts(**target).artifact("acme.length").build(built / "zip")
    assert str(caught.value).startswith(
        "stage 'test', deployment 'acme-length': acme cannot be imported from its artifact: "
    )
    assert "\n" not in str(caught.value)
    assert not list(built.iterdir())


def test_a_newer_syntax_than_this_python_s_is_not_read(team, tmp_path, monkeypatch):
    monkeypatch.setattr(parts.Requirements, "lay_out", lay_out_names)
    team.write(imports="type Text = str")
    team.artifacts(**TARGETS[1]).artifact("acme.length").build(tmp_path / "zip")


def test_a_module_that_reads_the_region_when_it_is_imported_is_importable(locked, tmp_path):
    locked.write(imports="import os\nREGION = os.environ['AWS_REGION']")
    locked.artifacts().artifact("acme.length").build(tmp_path / "zip")


def test_a_package_that_writes_over_a_pin_is_refused(locked, tmp_path):
    for file in ("six.py", "six/__init__.py", "six.cpython-313-x86_64-linux-gnu.so", "six.so"):
        locked.write(files={file: ""})
        with pytest.raises(BadPackage, match="two parts of the artifact hold 'six'"):
            locked.artifacts().artifact("acme.length").build(tmp_path / "built" / "zip")


@pytest.mark.parametrize("file", ["json/__init__.py", "random.py", "_json.abi3.so"])
def test_a_package_that_hides_a_module_of_python_s_own_is_refused(locked, tmp_path, file):
    locked.write(files={file: ""})
    with pytest.raises(BadPackage, match="is a module of Python's own: rename it"):
        locked.artifacts().artifact("acme.length").build(tmp_path / "built" / "zip")


def laid_out(team, folder):
    """The part of the stage's packages."""
    *_, packages = team.artifacts().artifact("acme.length").contents.parts
    packages.lay_out(folder)
    return folder


@pytest.mark.parametrize("theirs", ["common/util.py", "common/util/__init__.py", "common/util.so"])
def test_two_packages_with_one_file_are_refused(team, tmp_path, theirs):
    team.write(files={"common/util.py": "V = 1\n"})
    team.packages.append(str(wheel(tmp_path / "mine", "acme_more", files={theirs: "V = 2\n"})))
    with pytest.raises(BadPackage, match="acme and acme_more both hold 'common/util"):
        laid_out(team, tmp_path / "tree")


def test_a_package_and_a_requirement_with_one_file_are_refused(locked, tmp_path):
    locked.write(files={"acme_common.py": "VERSION = 'mine'\n"})
    with pytest.raises(BadPackage, match=r"acme and acme_common both hold 'acme_common\.py'"):
        laid_out(locked, tmp_path / "tree")


def test_a_package_that_stands_in_for_a_module_that_python_lost_may(team, tmp_path):
    team.write(files={"cgi.py": "", "common/a.py": ""})
    team.packages.append(str(wheel(tmp_path / "mine", "acme_more", files={"common/b.py": ""})))
    tree = laid_out(team, tmp_path / "tree")
    assert {path.name for path in (tree / "common").iterdir()} == {"a.py", "b.py"}


def test_a_package_that_is_called_bin_is_whole(locked, tmp_path):
    files = {
        "bin/__init__.py": "",
        "bin/run.py": "#!/usr/bin/env python\n",
        "acme-1.0.data/purelib/bin/more.py": "#!/usr/bin/env python\n",
        "acme-1.0.data/scripts/acme": "#!python\n",
    }
    locked.write(files=files)
    found = {path.name for path in (laid_out(locked, tmp_path / "tree") / "bin").iterdir()}
    assert found == {"__init__.py", "run.py", "more.py"}


def test_no_variable_of_uv_s_compiles_anything(locked, tmp_path, monkeypatch):
    monkeypatch.setenv("UV_COMPILE_BYTECODE", "1")
    assert not list(laid_out(locked, tmp_path / "tree").rglob("*.pyc"))


UV_TOML = """
[pip]
emit-index-url = true
emit-find-links = true
emit-build-options = true
emit-index-annotation = true
universal = true
"""


def test_no_setting_of_uv_s_writes_an_address_or_another_platform(team, tmp_path, monkeypatch):
    wheel(team.index, "acme_windows")
    team.write("acme_common", "acme_windows; sys_platform == 'win32'")
    expected = parsed(Path(team.lock).read_text()) if team.digest() else None
    plain = team.lock.read_text()
    team.lock.unlink()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "uv.toml").write_text(UV_TOML)
    team.digest()
    assert team.lock.read_text() == plain
    assert [pin.name for pin in expected] == ["acme-common"]


def test_changes_are_named():
    before = [Pin("a", "1", ()), Pin("b", "1", ()), Pin("c", "1", ())]
    after = [Pin("a", "1", ()), Pin("b", "2", ()), Pin("d", "1", ())]
    assert [str(change) for change in changes(before, after)] == [
        "moved b 1 to 2",
        "removed c 1",
        "added d 1",
    ]
