"""What commands and clients make again and again is made once in a run: most of their time.

Whatever is kept follows from code and from files alone, and is the same however often it is made.
"""

import gc
import logging
import os
import ssl
import sys
from contextlib import ExitStack, contextmanager
from functools import cache
from importlib import metadata
from itertools import count
from sysconfig import get_path
from weakref import WeakKeyDictionary

import pytest

from tests.commands import SERVING


@pytest.hookimpl(tryfirst=True)
def pytest_collection():
    """What is made from here on stays: the collector would look through it again and again."""
    gc.disable()


def _keep():
    """What is there now stays until the end: the collector need not look through it again."""
    gc.collect()
    gc.freeze()


def pytest_collection_finish():
    """Keep what was collected."""
    _keep()
    # A test makes thousands of objects, and nearly all of them end with it.
    gc.set_threshold(50_000, 20, 50)
    gc.enable()


ENDED = count(1)
OFTEN = 700
"""Tests after which what they imported and cached is kept: a test that collects would read it."""


def pytest_runtest_logfinish():
    """Keep it."""
    if next(ENDED) % OFTEN == 0:
        _keep()


ONCE = []
"""What is entered before the first test, and left after the last."""


def _once(function):
    """Enter it with the others: pytest would look at each fixture of a run before every test."""
    ONCE.append(contextmanager(function))
    return function


@pytest.fixture(scope="session", autouse=True)
def _made_once():
    with ExitStack() as entered:
        for each in ONCE:
            entered.enter_context(each())
        yield


@_once
def _places_are_found_once():
    """pytest looks for the file and the line of a function again for each of its parameters."""
    from _pytest import python

    find = cache(python.getfslineno)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(python, "getfslineno", lambda test: find(getattr(test, "__func__", test)))
        yield


@_once
def _loggers_are_not_looked_through():
    """pytest does it six times a test, for loggers that pass nothing on: no test reads those."""
    from _pytest.logging import catching_logs

    enter = catching_logs.__enter__

    def entered(self):
        if self.level is not None:
            return enter(self)
        root = logging.getLogger()
        root.addHandler(self.handler)
        self.attached_loggers.append(root)
        return self.handler

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(catching_logs, "__enter__", entered)
        yield


@_once
def _commands_are_made_once():
    """A runner of Typer makes the tree of an application's commands whenever it is called."""
    from typer import testing

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(testing, "_get_command", cache(testing._get_command))
        yield


@_once
def _commands_are_imported_once():
    """Where they run in processes of their own, which one forks."""
    yield
    SERVING.end()


@_once
def _models_are_read_once():
    """Every session of boto3 has a loader of its own, which parses its services' models again.

    Here the loaders that look in the same folders share what they keep, which is more than half of
    a command's time. Whatever botocore adds to what it loaded (a service's extras, the defaults of
    an endpoint) follows from its files, and is the same in every session.
    """
    from botocore.loaders import Loader

    kept, begin = {}, Loader.__init__

    def begun(self, *arguments, **options):
        begin(self, *arguments, **options)
        self._cache = kept.setdefault(tuple(self.search_paths), self._cache)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Loader, "__init__", begun)
        yield


@_once
def _methods_are_made_once():
    """Every client of botocore has a class of its own, and a new function for each operation."""
    from botocore.client import ClientCreator
    from botocore.model import ServiceModel

    kept, create = {}, ClientCreator._create_methods

    def made(self, model):
        # The models are shared, and stay: see above.
        key = id(model._service_description)
        if key not in kept:
            kept[key] = model._service_description, create(self, model)
        return dict(kept[key][1])

    # To find the one operation that discovers endpoints, a client reads all of its service.
    found, find = {}, ServiceModel.endpoint_discovery_operation

    def discovering(model):
        key = id(model._service_description)
        if key not in found:
            found[key] = model._service_description, find.__get__(model, ServiceModel)
        return found[key][1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ClientCreator, "_create_methods", made)
        patch.setattr(ServiceModel, "endpoint_discovery_operation", property(discovering))
        yield


@_once
def _endpoints_are_read_once():
    """Every client of botocore reads the rules of its endpoints, and never changes them."""
    from botocore import endpoint_provider

    kept, rules = {}, endpoint_provider.RuleSet

    def read(**given):
        # What is given is shared, and stays: see above.
        key = tuple(map(id, given.values()))
        if key not in kept:
            kept[key] = given, rules(**given)
        return kept[key][1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(endpoint_provider, "RuleSet", read)
        yield


@_once
def _handlers_are_known_once():
    """Every session of boto3 looks at the arguments of its handlers, and at the names of events."""
    from botocore import hooks

    known, look = WeakKeyDictionary(), hooks.accepts_kwargs
    names, begin = {}, hooks.EventAliaser.__init__

    def looked(handler):
        function = getattr(handler, "__func__", handler)
        if function not in known:
            known[function] = look(function)
        return known[function]

    def begun(self, *arguments, **options):
        begin(self, *arguments, **options)
        if self._event_aliases == hooks.EVENT_ALIASES:
            self._alias_name_cache = names

    def copied(node):
        """A node of the tree of events, with nodes and lists of its own."""
        lists = node["values"]
        return {
            "chunk": node["chunk"],
            "children": {name: copied(each) for name, each in node["children"].items()},
            "values": lists and hooks.NodeList(*map(list, lists)),
        }

    def tree(self):
        made = type(self)()
        made._root = copied(self._root)
        return made

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hooks._PrefixTrie, "__copy__", tree)
        patch.setattr(hooks, "accepts_kwargs", looked)
        patch.setattr(hooks.EventAliaser, "__init__", begun)
        yield


@_once
def _certificates_are_read_once():
    """Every client of httpx parses the certificates of the web, one of loopback in vain.

    Clients that trust the web share what they trust; who names other certificates gets those.
    """
    import certifi

    made = ssl.create_default_context

    @cache
    def kept(file, *environment):
        return made(cafile=file)

    def create(*given, **named):
        environment = [os.environ.get(name) for name in ("SSL_CERT_FILE", "SSL_CERT_DIR")]
        for file in (None, certifi.where(), environment[0]):
            if not given and named == {"cafile": file}:
                return kept(file, *environment)
        return made(*given, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl, "create_default_context", create)
        yield


@_once
def _interpreters_are_asked_once():
    """The doctor, and every emulator that begins, asks an interpreter which emulator it has."""
    from reward_functions.local.emulator import installing

    ask, ours = installing.version_in, {str(installing.OWN), sys.executable}
    known = cache(ask)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            installing,
            "version_in",
            lambda python: known(python) if python in ours else ask(python),
        )
        yield


@_once
def _points_are_read_once():
    """A reward is looked up among the entry points of all that is installed, which parses them all.

    Those that a test puts on the path are read each time.
    """
    installed, known = get_path("purelib"), {}
    read = metadata.Distribution.entry_points.fget

    def points(distribution):
        place = str(getattr(distribution, "_path", ""))
        if not place.startswith(installed):
            return read(distribution)
        if place not in known:
            known[place] = read(distribution)
        return known[place]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(metadata.Distribution, "entry_points", property(points))
        yield
