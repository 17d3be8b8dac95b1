"""Modules of Maven and projects of Gradle, as far as nothing can make others of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

import re2

MAVEN_CONFIG = ".mvn/maven.config"
MAX_SETTINGS_BYTES = 50_000
_PLAIN = re2.compile(
    r"-[DPT]\S+|-T|[\d.]+C?|-[BeqUVX]|-ntp|-fae|--(?:batch-mode|errors|fail-at-end|no-transfer-progress"
    r"|quiet|show-version|update-snapshots)"
)
"""Options that leave no module out."""
_MODULE = ["project", "modules", "module"]


@dataclass(slots=True)
class _Modules:
    """What stands in `modules` of the project itself: not in a profile, nor in a comment."""

    path: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    found: list[str] = field(default_factory=list)

    def start(self, name: str, _attributes: object) -> None:
        self.path.append(name)
        self.text.clear()

    def data(self, text: str) -> None:
        if self.path == _MODULE:
            self.text.append(text)

    def end(self, _name: str) -> None:
        if self.path == _MODULE:
            self.found.append("".join(self.text))
        self.path.pop()

    def doctype(self, *_what: object) -> None:
        """Entities are in doubt."""
        raise ValueError


def maven_modules(content: bytes, config: bytes) -> list[str]:
    """`config` is what stands before each command's own options."""
    words = config.decode(errors="replace").split()
    if not all(map(_PLAIN.fullmatch, words)):
        return []
    modules, parser = _Modules(), expat.ParserCreate()
    parser.StartElementHandler = modules.start
    parser.CharacterDataHandler = modules.data
    parser.EndElementHandler = modules.end
    parser.StartDoctypeDeclHandler = modules.doctype
    try:
        parser.Parse(content, True)
    except (expat.ExpatError, ValueError, LookupError):
        return []
    return modules.found


# Settings are a program: only statements that everybody writes are certain to say what they seem to.
_STRING = r"""(?:"[^"\\$\n]*"|'[^'\\$\n]*')"""
_LIST = rf"{_STRING}(?:\s*,\s*{_STRING})*"
_HARMLESS = rf"(?:[^{{}}\"'/\\$]|{_STRING})*"


def _nested(depth: int) -> str:
    inner = _HARMLESS
    for _ in range(depth):
        inner = rf"(?:[^{{}}\"'/\\$]|{_STRING}|\{{{inner}\}})*"
    return inner


_TEXT = re2.compile(_STRING)
_COMMENT = re2.compile(rf"""(?s)({_STRING})|//[^\n]*|/\*.*?(?:\*/|\z)""")
_STATEMENT = re2.compile(
    rf"include[ \t]*(?:\(\s*({_LIST})\s*,?\s*\)|[ \t]({_LIST}))[ \t]*(?:[\n;]|$)"
    rf"|(?:rootProject\.name[ \t]*=[ \t]*{_STRING}"
    rf"|(?:includeBuild|enableFeaturePreview)(?:\({_STRING}\)|[ \t]+{_STRING})"
    rf"|((?:pluginManagement|plugins|dependencyResolutionManagement|buildCache)"
    rf"[ \t]*\{{{_nested(4)}\}}))"
    r"[ \t]*(?:[\n;]|$)|[\s;]+"
)
_HIDING = re2.compile(r"\b(?:include|settings|gradle|metaClass)\b")
_PROJECT = re2.compile(r"""["']:?([\w.-]+(?::[\w.-]+)*)["']""")


def gradle_projects(content: bytes) -> Iterator[str]:
    """Their folders; none where the settings say more than what they include."""
    if len(content) > MAX_SETTINGS_BYTES:
        return
    text = content.decode(errors="replace").replace("\r\n", "\n")
    text = _COMMENT.sub(lambda match: match.group(1) or " ", text)
    found, end = list[str](), 0
    for match in _STATEMENT.finditer(text):
        block = _TEXT.sub("", match.group(3) or "")
        if match.start() != end or _HIDING.search(block):
            return
        end = match.end()
        found.append(match.group(1) or match.group(2) or "")
    if end == len(text):
        for named in found:
            yield from (one.group(1).replace(":", "/") for one in _PROJECT.finditer(named))
