"""From a case back to its document: nothing is lost, and texts stay readable."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from verification.golden.documents.schemas import CaseIn
from verification.golden.documents.yaml_values import is_plain_text
from verification.runs.intake.schemas import MAX_TEXT

MAX_PLAIN_CHARS = 80
_FOLDED = re.compile("[\r\x85\u2028\u2029]")
"""Ends of lines to YAML, which it may read as another: they stand as escapes."""


def spec_of(case: CaseIn) -> dict[str, Any]:
    """The document as it is kept: what says nothing is left out, and so are the files.

    An expectation of null stays: it says that there is nothing.
    """
    kept = case.model_dump(mode="json", exclude_defaults=True, exclude={"files", "expected"})
    return {**kept, "expected": case.expected.model_dump(mode="json", exclude_unset=True)}


def with_files(spec: Mapping[str, Any], files: Mapping[str, bytes]) -> dict[str, Any]:
    """A whole document. Text stands as text, anything else in base64."""
    document = {name: value for name, value in spec.items() if name != "expected"}
    if files:
        document["files"] = {path: _file(files[path]) for path in sorted(files)}
    return {**document, "expected": spec["expected"]}


def canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def sha256_of(value: Any) -> str:
    return hashlib.sha256(canonical(value)).hexdigest()


def to_yaml(documents: Iterable[Mapping[str, Any]]) -> str:
    """A file of cases: a list. Longer texts stand in blocks, as people write them."""
    written = list(documents)
    if not written:
        return "[]\n"
    return "\n".join(_dumped([dict(one)]) for one in written)


def one_to_yaml(document: Mapping[str, Any]) -> str:
    """One case alone, as it is edited."""
    return _dumped(dict(document))


def _dumped(value: Any) -> str:
    return yaml.dump(
        value, Dumper=_Readable, sort_keys=False, allow_unicode=True, width=100, indent=2
    )


def to_json_line(document: Mapping[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False) + "\n"


def _file(content: bytes) -> str | dict[str, str]:
    try:
        text = content.decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text or len(text) > MAX_TEXT:
        return {"base64": base64.b64encode(content).decode()}
    return text


class _Readable(yaml.SafeDumper):
    """Indents lists below their key, and shares nothing by anchors."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text.rstrip("\n") or len(text) > MAX_PLAIN_CHARS else None
    if style is None and not is_plain_text(text):
        style = "'"
    if _FOLDED.search(text):
        style = '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Readable.add_representer(str, _text)
