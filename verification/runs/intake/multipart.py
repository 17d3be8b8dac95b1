"""The parts of a multipart submission; any other, and any part that breaks off, is refused."""

from __future__ import annotations

from typing import IO, Any

from django.core.exceptions import RequestDataTooBig, SuspiciousOperation, TooManyFilesSent
from django.core.files.uploadhandler import FileUploadHandler
from django.http import HttpRequest
from django.http.multipartparser import MultiPartParserError

from loomverify.errors import InputError
from verification.runs.intake.archive import MAX_ARCHIVE_BYTES
from verification.runs.intake.reading import MAX_JSON_BYTES

RUN_LOC = ("body", "run")
ARCHIVES = ("workspace", "base")
MAX_BYTES = {"run": MAX_JSON_BYTES, **dict.fromkeys(ARCHIVES, MAX_ARCHIVE_BYTES)}
BYTE_FOR_BYTE = "latin-1"
MAX_SHOWN = 200
_PARTS = ", ".join(f"`{name}`" for name in MAX_BYTES)
END_BYTES = 4096
LENGTH_OF_CHUNKED = str(sum(MAX_BYTES.values()))


def read_parts(request: HttpRequest) -> tuple[bytes, dict[str, IO[bytes]]]:
    """Return the bytes of `run`, and the archives that are there as open files, by name.

    Raises:
        InputError: 400, 413 or 422, naming the part.
    """
    # Django takes a body without a length for an empty one, and reads text with replacements.
    request.META["CONTENT_LENGTH"] = request.META.get("CONTENT_LENGTH") or LENGTH_OF_CHUNKED
    request.encoding = BYTE_FOR_BYTE
    request.upload_handlers.insert(0, _StrictParts(request))
    stream = _Remembered(request._stream)
    request._stream = stream  # type: ignore[assignment]
    try:
        texts, files = request.POST, request.FILES
    except RequestDataTooBig as error:
        raise _too_large("run") from error
    except (MultiPartParserError, TooManyFilesSent, SuspiciousOperation) as error:
        message = str(error)[:MAX_SHOWN]
        raise InputError("multipart.invalid", message, loc=("body",), status=400) from error
    for name in texts:
        _refuse_unknown(name)
        if len(texts.getlist(name)) > 1 or name in files:
            raise _duplicate(name)
    for name in ARCHIVES:
        if name in texts:
            raise InputError(f"{name}.not_a_file", "Send it as a file.", loc=("body", name))
    if "run" not in texts and "run" not in files:
        raise InputError("run.missing", "The part `run` is missing.", loc=RUN_LOC)
    boundary = (request.content_params or {}).get("boundary", "")
    if f"--{boundary}--".encode(BYTE_FOR_BYTE) not in stream.end:
        raise InputError(
            "body.cut_off", "The body ends before its last boundary.", loc=("body",), status=400
        )
    run = texts["run"].encode(BYTE_FOR_BYTE) if "run" in texts else files["run"].read()  # type: ignore[union-attr]
    archives = {name: files.get(name) for name in ARCHIVES}
    return run, {name: one.file for name, one in archives.items() if one and one.file}


class _Remembered:
    """A stream, and the end of what was read of it: Django is content without a last boundary."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.end = b""

    def read(self, *args: Any) -> bytes:
        content = self._stream.read(*args)
        self.end = (self.end + content[-END_BYTES:])[-END_BYTES:]
        return content

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _StrictParts(FileUploadHandler):
    """Stands before Django's handlers and refuses what they would pass over in silence."""

    def __init__(self, request: HttpRequest) -> None:
        super().__init__(request)
        self._seen: set[str] = set()

    def new_file(self, field_name: str, *args: Any, **kwargs: Any) -> None:
        super().new_file(field_name, *args, **kwargs)
        _refuse_unknown(field_name)
        if field_name in self._seen:
            raise _duplicate(field_name)
        self._seen.add(field_name)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        name = str(self.field_name)
        if start + len(raw_data) > MAX_BYTES[name]:
            raise _too_large(name)
        return raw_data

    def file_complete(self, file_size: int) -> None:
        return None

    def upload_interrupted(self) -> None:
        raise InputError(
            "body.cut_off", "The body ends within this part.", loc=("body", str(self.field_name)),
            status=400,
        )  # fmt: skip


def _refuse_unknown(name: str) -> None:
    if name not in MAX_BYTES:
        raise InputError("part.unknown", f"The parts are {_PARTS}.", loc=("body", name[:120]))


def _duplicate(name: str) -> InputError:
    return InputError("part.duplicate", "This part is there twice.", loc=("body", name))


def _too_large(name: str) -> InputError:
    code = "archive.too_large" if name in ARCHIVES else "body.too_large"
    return InputError(code, f"At most {MAX_BYTES[name]} bytes.", loc=("body", name), status=413)
