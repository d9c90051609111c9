"""The web's certificates, read once: every client of httpx reads them, one of loopback in vain."""

import os
import ssl
from functools import cache

import certifi
import pytest

NAMES = ("SSL_CERT_FILE", "SSL_CERT_DIR")


@pytest.fixture(scope="session", autouse=True)
def _certificates_once():
    """Clients that trust the web share what they trust; who names other certificates gets those."""
    made = ssl.create_default_context

    @cache
    def kept(file, *environment):
        return made(cafile=file)

    def create(*given, **named):
        environment = [os.environ.get(name) for name in NAMES]
        for file in (None, certifi.where(), environment[0]):
            if not given and named == {"cafile": file}:
                return kept(file, *environment)
        return made(*given, **named)

    ssl.create_default_context = create
    yield
    ssl.create_default_context = made
