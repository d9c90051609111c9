"""How a service refuses: the code and the sentence that a client of AWS or of OpenAI reads."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

STATUS: Final = {
    "ValidationException": HTTPStatus.BAD_REQUEST,
    "ServiceQuotaExceededException": HTTPStatus.PAYMENT_REQUIRED,
    "ConflictException": HTTPStatus.CONFLICT,
    "ResourceNotFoundException": HTTPStatus.NOT_FOUND,
    "ThrottlingException": HTTPStatus.TOO_MANY_REQUESTS,
    "InternalServerException": HTTPStatus.INTERNAL_SERVER_ERROR,
    "InternalServiceError": HTTPStatus.INTERNAL_SERVER_ERROR,
}
"""As botocore's models of Bedrock and of the SageMaker job runtime have it; what they do not name
is a refusal of the caller."""


class Refused(Exception):
    """A request that is not served.

    Args:
        code: AWS's name for it, such as "ValidationException".
        message: one sentence, without the text of a prompt or of an answer.
        parameter: the field of an OpenAI request that is the cause; "" where none is.
    """

    def __init__(self, code: str, message: str, parameter: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.parameter = parameter

    @property
    def status(self) -> HTTPStatus:
        """The status of the response."""
        return STATUS.get(self.code, HTTPStatus.FORBIDDEN)


class BadAnswer(Exception):
    """A double was about to say something that its service cannot say: a fault of its own."""


def invalid(message: str, parameter: str = "") -> Refused:
    """A request that the service would not take."""
    return Refused("ValidationException", message, parameter)


def missing(message: str) -> Refused:
    """Something that does not exist."""
    return Refused("ResourceNotFoundException", message)


def conflict(message: str) -> Refused:
    """Something that exists already, or is in use."""
    return Refused("ConflictException", message)
