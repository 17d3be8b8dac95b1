"""XML by expat. Nothing is fetched, and no entity is expanded beyond a small bound."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.parsers import expat

from verification.engine.evidence import NotInspected, SyntaxProblem
from verification.engine.grammars.registry import MAX_DATA_BYTES, XML, Parsed, grammar
from verification.engine.grammars.templates import excused, has_control_marks, mark_at
from verification.engine.grammars.text import BLANK, decoded, offset_of, sentence

MAX_EXPANDED_CHARS = 1_000_000
MAX_ENTITY_DEPTH = 20
_BOMB = "Its entities would grow without bound, so they were not followed."
_OTHER_ROOT = "The root element is {}, not svg."
_UNKNOWN_ENCODING = "It names an encoding that is not known here: {}."
_UNDECODABLE = "It cannot be read in the encoding that it names: {}."
_OTHER_ENCODING = "It names an encoding in which it is not written."
_ENTITY = re.compile(r"&([^#;&\s][^;&\s]*);")
_ENCODING = re.compile(rb"""\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z][\w.\-]*)""")
_LATER_VERSION = re.compile(r"""\s*<\?xml\s+version\s*=\s*["']1\.[1-9]""")
_ENTITIES_AMPLIFY, _OTHERWISE_ENCODED = 43, 19
_MAX_SHOWN = 80


class _Unread(Exception):
    """Nothing is known about the file, and why."""


@grammar(XML, ".xml", ".svg", max_bytes=MAX_DATA_BYTES, bytes_per_second=5_000_000)
def parse_xml(path: str, content: bytes) -> Parsed:
    try:
        return _problems(content, is_svg=path.lower().endswith(".svg"))
    except _Unread as error:
        return NotInspected(str(error))


def _problems(content: bytes, *, is_svg: bool) -> tuple[SyntaxProblem, ...]:
    remarks: tuple[SyntaxProblem, ...] = ()
    encoding = None
    try:
        problem = _Reader(content).problem()
    except (LookupError, ValueError):
        # The parser itself knows few encodings; the declaration is passed over.
        content, encoding = _as_utf8(content), "utf-8"
        problem = _Reader(content, encoding).problem()
    except _OtherwiseEncoded as error:
        remarks = (error.problem,)
        content, encoding = _decoded_as_utf8(content), "utf-8"
        problem = _Reader(content, encoding).problem()
    if problem is not None:
        return (*remarks, _judged(problem, content))
    reader = _Reader(content, encoding, separator=" ")
    problem = reader.problem()
    if problem is None and is_svg and reader.root.rsplit(" ", 1)[-1] != "svg":
        name = reader.root.rsplit(" ", 1)[-1][:_MAX_SHOWN]
        problem = SyntaxProblem(_OTHER_ROOT.format(name), certain=False)
    # Names with a prefix that nobody declared are XML all the same.
    return remarks if problem is None else (*remarks, replace(problem, certain=False))


class _OtherwiseEncoded(Exception):
    def __init__(self, problem: SyntaxProblem) -> None:
        super().__init__()
        self.problem = problem


class _Reader:
    def __init__(
        self, content: bytes, encoding: str | None = None, *, separator: str | None = None
    ) -> None:
        self.root = ""
        self._content = content
        self._entities: dict[str, str] = {}
        self._parser = expat.ParserCreate(encoding, separator)
        self._parser.EntityDeclHandler = self._declare
        self._parser.EndDoctypeDeclHandler = self._refuse_bombs
        self._parser.StartElementHandler = self._begin

    def problem(self) -> SyntaxProblem | None:
        try:
            self._parser.Parse(self._content, True)
        except expat.ExpatError as error:
            if error.code == _ENTITIES_AMPLIFY:
                raise _Unread(_BOMB) from None
            message = sentence(expat.errors.messages[error.code])
            problem = SyntaxProblem(message, error.lineno, error.offset + 1)
            if error.code == _OTHERWISE_ENCODED:
                remark = replace(problem, message=_OTHER_ENCODING, certain=False)
                raise _OtherwiseEncoded(remark) from None
            return problem
        return None

    def _begin(self, name: str, _attributes: object) -> None:
        self.root = name
        self._parser.StartElementHandler = None

    def _declare(self, name: str, is_parameter: int, value: str | None, *_outside: object) -> None:
        if not is_parameter and value is not None:
            self._entities.setdefault(name, value)

    def _refuse_bombs(self) -> None:
        if self._entities:
            _Sizes(self._entities).check()
            # With a handler for the rest, expat leaves references in the text as they are.
            self._parser.DefaultHandler = _pass_over


class _Sizes:
    """How long entities become when they are followed."""

    def __init__(self, entities: dict[str, str]) -> None:
        self._entities = entities
        self._sizes: dict[str, int] = {}

    def check(self) -> None:
        for name in self._entities:
            self._size(name, 0)

    def _size(self, name: str, depth: int) -> int:
        if depth > MAX_ENTITY_DEPTH:
            raise _Unread(_BOMB)
        if name not in self._sizes:
            value = self._entities.get(name, "")
            size = len(value) + sum(self._size(one, depth + 1) for one in _ENTITY.findall(value))
            if size > MAX_EXPANDED_CHARS:
                raise _Unread(_BOMB)
            self._sizes[name] = size
        return self._sizes[name]


def _pass_over(_text: str) -> None:
    pass


def _as_utf8(content: bytes) -> bytes:
    named = _ENCODING.match(content)
    name = named[1].decode() if named else ""
    try:
        return content.decode(name).encode()
    except UnicodeError:
        raise _Unread(_UNDECODABLE.format(name[:_MAX_SHOWN])) from None
    except (LookupError, ValueError):
        raise _Unread(_UNKNOWN_ENCODING.format(name[:_MAX_SHOWN])) from None


def _decoded_as_utf8(content: bytes) -> bytes:
    read = decoded(content)
    return content if isinstance(read, SyntaxProblem) else read.text.encode()


def _judged(problem: SyntaxProblem, content: bytes) -> SyntaxProblem:
    read = decoded(content)
    if isinstance(read, SyntaxProblem):
        named = _ENCODING.match(content)
        return problem if named and named[1].lower() != b"utf-8" else read
    if not read.text.strip():
        return SyntaxProblem(BLANK, 1, 1)
    at = offset_of(read.text, problem.line, problem.column)
    if mark_at(read.text, at) or has_control_marks(read.text):
        return excused(problem)
    # Later versions allow a few characters more.
    return replace(problem, certain=not _LATER_VERSION.match(read.text))
