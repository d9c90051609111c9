"""A row of the services is whole, and nothing else of the package knows a service by its name."""

import ast
import json
from importlib import import_module
from pathlib import Path
from typing import get_args

import pytest

import reward_functions
from reward_functions.aws.deployed import pruning
from reward_functions.cli import deployed
from reward_functions.jobs import hyperparameters
from reward_functions.jobs.services import SERVICES, DriverName, JobRole, Service, names, rows_of

PACKAGE = Path(reward_functions.__file__).parent

ROLE = {
    "member": "training_role_arn",
    "made_by": "",
    "remedy": "",
    "principal": "acme.amazonaws.com",
    "example": "job/x",
    "assumes": ["sts:AssumeRole"],
    "optional": False,
}
ROW = {
    "called": "Acme's API",
    "title": "Acme",
    "driver": "acme.AcmeDriver",
    "owner": "acme",
    "form": "job/.+",
    "policy": "jobs",
    "role": ROLE,
    "takes": ["deployment"],
    "ranges": "table",
    "makes": "id",
    "hosted": [],
    "validation": "",
    "listed": "",
    "log_group": "",
    "bucket": False,
    "tags": False,
    "graded": True,
}


def toml(value):
    """A value as TOML; a table is inline."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name} = {toml(each)}' for name, each in value.items())}}}"
    return json.dumps(value)


def written(row, name="openai"):
    return "\n".join([f"[{name}]", *(f"{field} = {toml(value)}" for field, value in row.items())])


def test_a_whole_row_is_read_with_a_role_and_without():
    (service,) = rows_of(written(ROW)).values()
    assert service.role.principal == "acme.amazonaws.com"
    (service,) = rows_of(written(ROW | {"role": ""})).values()
    assert not service.role


@pytest.mark.parametrize("field", Service._fields)
def test_a_row_without_a_field_is_refused_in_one_sentence(field):
    lacking = {name: value for name, value in ROW.items() if name != field}
    sentence = rf"^jobs/services\.toml: openai\.{field}: Field required$"
    with pytest.raises(ValueError, match=sentence):
        rows_of(written(lacking))


@pytest.mark.parametrize("field", JobRole._fields)
def test_a_role_without_a_field_is_refused_in_one_sentence(field):
    lacking = {name: value for name, value in ROLE.items() if name != field}
    with pytest.raises(ValueError, match=rf"^jobs/services\.toml: openai\.role\..*\.{field}: "):
        rows_of(written(ROW | {"role": lacking}))


@pytest.mark.parametrize(
    "wrong", [{"ranges": "acme"}, {"makes": "package"}, {"optional": True}, {"graded": "perhaps"}]
)
def test_a_row_with_a_wrong_field_is_refused(wrong):
    (field,) = wrong
    with pytest.raises(ValueError, match=rf"jobs/services\.toml: openai\.{field}: "):
        rows_of(written(ROW | wrong))


def test_a_row_of_no_driver_name_is_refused():
    with pytest.raises(ValueError, match=r"jobs/services\.toml: acme\..*'bedrock'"):
        rows_of(written(ROW, "acme"))


def test_the_names_of_drivers_are_those_of_the_rows():
    assert get_args(DriverName) == tuple(SERVICES), "a Literal is typed by hand: services.py"
    assert names() == "bedrock, openai, sagemaker or agent-rft"


@pytest.mark.parametrize("name", SERVICES)
def test_a_row_names_a_driver_that_is_there(name):
    module, _, called = SERVICES[name].driver.partition(".")
    assert callable(getattr(import_module(f"reward_functions.jobs.drivers.{module}"), called))


def test_running_jobs_are_listed_by_a_row_of_pruning_or_named_as_unseen():
    listed = {each.listed for each in SERVICES.values() if each.listed}
    assert listed == pruning.SERVICES.keys() == {each.value for each in deployed.Service}
    for each in SERVICES.values():
        assert each.listed or each.title in pruning.UNSEEN, "say in UNSEEN that they are not seen"


def test_a_service_without_hyperparameters_is_named_with_the_file(monkeypatch):
    monkeypatch.setitem(SERVICES, "acme", SERVICES["openai"])
    with pytest.raises(LookupError, match=r"^jobs/hyperparameters\.toml has no \[\[acme\]\] .*$"):
        hyperparameters._table()


FORBIDDEN = "a service is known by its name here: ask its row of jobs/services.toml"


def compared(tree):
    """Comparisons of what is called a driver with a name of a service."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            parts = [each for side in (node.left, *node.comparators) for each in ast.walk(side)]
            said = {each.value for each in parts if isinstance(each, ast.Constant)}
            if said & SERVICES.keys() and "driver" in (text := ast.unparse(node)):
                yield text


def test_nothing_compares_a_driver_with_a_name():
    found = {
        f"{path.relative_to(PACKAGE)}: {text}"
        for path in PACKAGE.rglob("*.py")
        if "driver" in (source := path.read_text(encoding="utf-8"))
        if any(name in source for name in SERVICES)
        for text in compared(ast.parse(source))
    }
    assert not found, FORBIDDEN


@pytest.mark.parametrize(
    "text", ['job.driver == "openai"', 'driver in {"bedrock", "sagemaker"}', '"openai" != driver']
)
def test_a_comparison_of_a_driver_is_seen(text):
    assert list(compared(ast.parse(text)))
