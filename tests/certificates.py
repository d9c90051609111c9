"""The web's certificates, read once: every client of httpx reads them, one of loopback in vain."""

import os
import ssl
from functools import cache

import certifi
import pytest


@pytest.fixture(scope="session", autouse=True)
def _certificates_once():
    """Clients that trust the web share what they trust; who names other certificates gets those."""
    made = ssl.create_default_context
    of_file = cache(lambda file: made(cafile=file))

    def create(*given, **named):
        for file in (certifi.where(), os.environ.get("SSL_CERT_FILE")):
            if file and not given and named == {"cafile": file}:
                return of_file(file)
        return made(*given, **named)

    ssl.create_default_context = create
    yield
    ssl.create_default_context = made
