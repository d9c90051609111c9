"""Files of the OpenAI-compatible API: upload, list, retrieve, delete."""

from __future__ import annotations

from contextlib import suppress
from email.errors import MessageError
from email.parser import BytesParser
from email.policy import HTTP
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from reward_functions.local.loopback_service.requests import invalid, missing
from reward_functions.local.training_double.clients import JobFailed
from reward_functions.local.training_double.datafiles import prompts
from reward_functions.local.training_double.openai_shapes import page_of, seconds
from reward_functions.local.training_double.state import File

if TYPE_CHECKING:
    from reward_functions.local.loopback_service.requests import Request
    from reward_functions.local.training_double.service import Call

PURPOSE = "fine-tune"

BROKEN = (LookupError, ValueError, AttributeError, TypeError, MessageError)
"""What the standard library's parser raises at odd parameters, such as `*1*` without a value."""


def form(request: Request) -> dict[str, Any]:
    """The fields of a form: text by name, and (name, content) of the file.

    Raises:
        Refused: it is not a multipart form.
    """
    kind = request.header("content-type")
    if not kind.lower().startswith("multipart/form-data"):
        raise invalid("A file is uploaded as multipart/form-data", "file")
    try:
        return _fields(kind, request.body)
    except BROKEN:
        raise invalid("The form cannot be read", "file") from None


def _fields(kind: str, body: bytes) -> dict[str, Any]:
    head = f"Content-Type: {kind}\r\n\r\n".encode("latin-1", "replace")
    found: dict[str, Any] = {}
    for part in BytesParser(policy=HTTP).parsebytes(head + body).iter_parts():
        name = part.get_param("name", header="content-disposition")
        content = part.get_payload(decode=True) or b""
        if isinstance(name, str) and isinstance(content, bytes):
            file_name = part.get_filename()
            text = content.decode(errors="replace")
            found[name] = text if file_name is None else (_in_utf8(file_name), content)
    return found


def _in_utf8(name: str) -> str:
    """A name without the halves of surrogate pairs that stand for bytes of no known charset."""
    return name.encode(errors="replace").decode()


def create(call: Call) -> dict[str, Any]:
    """Upload a file."""
    given = call.parameters
    if given.get("purpose") != PURPOSE:
        raise invalid(f"Invalid value for 'purpose': {PURPOSE} is taken", "purpose")
    if not isinstance(given.get("file"), tuple):
        raise invalid("Invalid value for 'file': it is required", "file")
    name, content = given["file"]
    file = File(f"file-{uuid4().hex}", name, PURPOSE, call.place, content)
    with call.state.lock:
        call.state.files[file.id] = file
    # Of a file that is wrong, the job that names it will say so.
    with suppress(JobFailed):
        call.service.prompts.add(prompts(content, name))
    return shown(file)


def list_(call: Call) -> dict[str, Any]:
    """The files, newest first."""
    purpose = call.parameters.get("purpose", PURPOSE)
    with call.state.lock:
        files = [
            shown(file)
            for file in reversed(call.state.files.values())
            if file.place == call.place and file.purpose == purpose
        ]
    return page_of(files, call.parameters)


def retrieve(call: Call) -> dict[str, Any]:
    """One file."""
    return shown(_found(call))


def delete(call: Call) -> dict[str, Any]:
    """Remove a file; jobs that have read it go on."""
    file = _found(call)
    with call.state.lock:
        call.state.files.pop(file.id, None)
    return {"id": file.id, "object": "file", "deleted": True}


def _found(call: Call) -> File:
    file = call.state.files.get(call.parameters["file"])
    if file is None or file.place != call.place:
        raise missing(f"No such File object: {call.parameters['file'][:64]}")
    return file


def shown(file: File) -> dict[str, Any]:
    """A file as the API describes it."""
    return {
        "id": file.id,
        "object": "file",
        "bytes": len(file.content),
        "created_at": seconds(file.created),
        "filename": file.name,
        "purpose": file.purpose,
        "status": "processed",
    }
