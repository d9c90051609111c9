"""Whose credentials sign: one botocore session for all threads.

sagemaker.train.rft opens a session for every token: 32 rollouts at once starve the provider of a
container's credentials, and find none.
"""

from __future__ import annotations

from threading import RLock, local
from typing import Any

from reward_functions.rollouts.report.transports import CredentialsMissing


class Account:
    """A botocore session, opened at first use; shared by threads.

    Args:
        session: boto3's or botocore's; None for a new one of the environment.
    """

    def __init__(self, session: Any = None) -> None:
        self._given = getattr(session, "_session", session)  # boto3 wraps botocore's
        self._session = self._given
        self._used = local()
        self.lock = RLock()

    def session(self) -> Any:
        """The session of botocore."""
        from botocore.session import Session  # noqa: PLC0415 - takes 0.1 seconds

        with self.lock:
            if self._session is None:
                self._session = Session()
            self._used.session = self._session
            return self._session

    def credentials(self) -> Any:
        """Credentials as they are now, frozen: a refresh cannot mix two of them in one signature.

        botocore refreshes them ten minutes before they expire, or raises.

        Raises:
            CredentialsMissing: there are none, or their provider failed.
        """
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

        with self.lock:  # one thread asks the provider, the others wait for its answer
            try:
                found = self.session().get_credentials()
                frozen = found.get_frozen_credentials() if found else None
            except (BotoCoreError, ClientError) as error:
                raise CredentialsMissing(
                    f"the credentials' provider failed: {type(error).__name__}"
                ) from None
        if frozen is None or not frozen.access_key or not frozen.secret_key:
            raise CredentialsMissing("no AWS credentials were found")
        return frozen

    @property
    def refreshes(self) -> bool:
        """Whether the session's credentials refresh themselves."""
        from botocore.credentials import RefreshableCredentials  # noqa: PLC0415

        with self.lock:
            return isinstance(self.session().get_credentials(), RefreshableCredentials)

    def ca_bundle(self) -> str | None:
        """The path of `AWS_CA_BUNDLE`, or of a profile's `ca_bundle`."""
        bundle = self.session().get_config_variable("ca_bundle")
        return str(bundle) if bundle else None

    def renew(self) -> None:
        """Open another session for the next use, where the refused one is still the current one.

        Of 64 threads that were refused with one session, the first one's call counts. A session
        that was given stays: it renews its own credentials.
        """
        with self.lock:
            if self._session is getattr(self._used, "session", None):
                self._session = self._given
