"""The work's own texts, read so that what is left of them can be written back byte for byte."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace

from verification.engine.case import Case, Ports
from verification.engine.checks.materials import is_binary, searched_files
from verification.engine.evidence import SubmittedFile, Workspace
from verification.engine.grammars.contents import held
from verification.engine.grammars.text import wide_encoding

MAX_BYTES = 20_000_000
"""Of all files together. What lies beyond is not looked into."""
_BYTE_ORDERS = {
    b"\xff\xfe\0\0": "utf-32-le",
    b"\0\0\xfe\xff": "utf-32-be",
    b"\xff\xfe": "utf-16-le",
    b"\xfe\xff": "utf-16-be",
}
_MAY_HOLD_TEXT = ("document", "archive", "table", "database")


@dataclass(frozen=True, slots=True)
class SubmittedText:
    """A text with everything that its bytes need: a byte order mark is its first character."""

    path: str
    text: str
    codec: str = "utf-8"
    errors: str = "surrogatepass"

    def encoded(self, text: str) -> bytes:
        return text.encode(self.codec, self.errors)


@dataclass(frozen=True, slots=True)
class SubmittedTexts:
    """`closed` are files that may hold text and cannot be looked into."""

    texts: tuple[SubmittedText, ...]
    closed: tuple[str, ...] = ()


def texts_of(case: Case, workspace: Workspace) -> SubmittedTexts:
    """The output and the text files of the work."""
    texts = [SubmittedText("", case.submission.output)]
    closed = []
    size = 0
    for file in searched_files(case):
        size += file.size
        if size > MAX_BYTES:
            closed.append(file.path)
            continue
        content = workspace.read(file.path)
        if any(word in held(content) for word in _MAY_HOLD_TEXT):
            closed.append(file.path)
        elif not is_binary(file.path, content):
            texts.append(_read(file.path, content))
    return SubmittedTexts(tuple(texts), tuple(closed))


def changed(case: Case, ports: Ports, contents: Mapping[str, bytes]) -> tuple[Case, Ports]:
    """The case as if these had been submitted in the place of what was; '' is the output."""
    output = contents.get("")
    submission = replace(
        case.submission,
        output=case.submission.output
        if output is None
        else output.decode("utf-8", "surrogatepass"),
        files=tuple(_changed_file(file, contents) for file in case.submission.files),
    )
    return replace(case, submission=submission), replace(
        ports, workspace=_Changed(ports.workspace, contents)
    )


@dataclass(frozen=True, slots=True)
class _Changed:
    workspace: Workspace
    contents: Mapping[str, bytes]

    def read(self, path: str) -> bytes:
        return self.contents[path] if path in self.contents else self.workspace.read(path)


def _changed_file(file: SubmittedFile, contents: Mapping[str, bytes]) -> SubmittedFile:
    if file.path not in contents:
        return file
    content = contents[file.path]
    return SubmittedFile(file.path, hashlib.sha256(content).hexdigest(), len(content))


def _read(path: str, content: bytes) -> SubmittedText:
    codec = _codec(content)
    if codec != "utf-8":
        try:
            text = content.decode(codec, "surrogatepass")
        except UnicodeDecodeError:
            codec = "utf-8"
        else:
            return SubmittedText(path, text, codec)
    return SubmittedText(path, content.decode(codec, "surrogateescape"), codec, "surrogateescape")


def _codec(content: bytes) -> str:
    wide = wide_encoding(content)
    if not wide:
        return "utf-8"
    marked = (codec for mark, codec in _BYTE_ORDERS.items() if content.startswith(mark))
    return next(marked, wide)
