"""The material of a run, as its page shows it: output, files, tool calls, changes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from verification.adapters.viewing import MAX_CONTENT_BYTES
from verification.engine.judges.alternatives import ALTERNATIVES_RULE
from verification.runs import artefacts
from verification.runs.artefacts import Diff, Mark, Text, changed_paths, diff_of, line_of
from verification.runs.evidence_store import EvidenceLost, read_blob
from verification.runs.models import Artefact, Blob, Finding, Run, RunFile, Submission
from verification.runs.viewing.panes import viewable_of, viewable_text
from verification.runs.viewing.viewer import Place, Viewable

LINES_BEFORE_PLACE = 8
LINES_OF_PANE = 160
MAX_DIFFED_FILES = 8
LINES_OF_ALTERNATIVE = 40
MAX_JSON_CHARACTERS = 60_000
LOST = "The content is no longer stored."

OUTPUT, ALTERNATIVES, TOOLS, DIFF, EVIDENCE, CLAIMS, MADE = (
    "output",
    "alternatives",
    "tools",
    "diff",
    "evidence",
    "claims",
    "made",
)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """`success` is None where nothing states how the call ended."""

    number: int
    tool: str
    success: bool | None
    text: str
    enforcement: str = ""
    oddities: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Pane:
    """What the artefact pane holds."""

    kind: str
    title: str
    text: Text | None = None
    calls: Sequence[ToolCall] = ()
    alternatives: Sequence[Text] = ()
    path: str = ""
    size: int | None = None
    diffs: Sequence[tuple[str, str, Diff | None]] = ()
    made: str = ""
    viewable: Viewable | None = None
    """Where there is more than one way to look at it, or none as text."""


@dataclass(frozen=True, slots=True)
class Material:
    """What was submitted, with the places of the findings marked in it."""

    body: Mapping[str, Any]
    files: Mapping[str, RunFile]
    findings: Sequence[Finding]
    confirming: Sequence[str] = ()
    """Words of the evidence that confirm a claim."""
    project: int = 0
    """Whose it is: by this, what was made to be looked at is found again."""

    def at(self, finding: Finding) -> Pane:
        if finding.path in self.files:
            first = (finding.line or 1) - LINES_BEFORE_PLACE
            return self.file(finding.path, first, line=finding.line or 0)
        if "tool_call" in finding.place:
            return self.tools(only=finding.place["tool_call"], enforcement=finding.enforcement)
        if "evidence" in finding.place:
            name = finding.place["evidence"]
            text = str((self._evidence(name) or {}).get("text") or "")
            return self.evidence(name, line_of(text, _mark(finding)) - LINES_BEFORE_PLACE)
        if "claims" in finding.place:
            return self.claims(finding.place["claims"])
        if finding.rule == ALTERNATIVES_RULE and finding.tier == 3:
            return self.alternatives()
        if finding.path:
            return self.file(finding.path)
        text = self.body.get("output") or ""
        return self.output(line_of(text, _mark(finding)) - LINES_BEFORE_PLACE)

    def named(self, name: str) -> Pane | None:
        """What a tab of this name shows."""
        if name == CLAIMS:
            return self.claims(())
        tabs = {OUTPUT: self.output, ALTERNATIVES: self.alternatives, TOOLS: self.tools}
        return tabs[name]() if name in tabs else None

    def output(
        self, first: int = 1, *, limit: int = LINES_OF_PANE, marks: Sequence[Mark] = ()
    ) -> Pane:
        text = self.body.get("output") or ""
        found = [_mark(one) for one in self.findings if not one.path and not one.place]
        marks = [*found, *marks]
        shown = artefacts.shown_text(text, marks, first=first, limit=limit)
        viewable = viewable_text(self.project, text, marks)
        return Pane(OUTPUT, "Output", text=shown, size=len(text.encode()), viewable=viewable)

    def alternatives(self) -> Pane:
        """The other outputs of the same task, each from its beginning."""
        texts = [
            artefacts.shown_text(str(text), limit=LINES_OF_ALTERNATIVE)
            for text in self.body.get("alternatives") or ()
        ]
        return Pane(ALTERNATIVES, "Alternatives to the output", alternatives=texts)

    def file(
        self,
        path: str,
        first: int = 1,
        *,
        limit: int = LINES_OF_PANE,
        line: int = 0,
        marks: Sequence[Mark] = (),
    ) -> Pane:
        row = self.files.get(path)
        if row is None:
            return Pane("file", path, text=Text(refusal="No such file was submitted."))
        pane = Pane("file", path, path=path, size=row.size)
        if row.size > MAX_CONTENT_BYTES:
            return replace(pane, text=Text(refusal=artefacts.TOO_LARGE))
        content = _content(row.blob)
        if content is None:
            return replace(pane, text=Text(refusal=LOST))
        marks = [*(_mark(one) for one in self.findings if one.path == path), *marks]
        text = artefacts.shown_file(content, marks, first=first, limit=limit)
        return replace(pane, text=text, viewable=viewable_of(row, content, marks, line))

    def whole(self, path: str, *, first: int, places: Sequence[Place] = ()) -> Pane:
        """A file, or with no path the output, on a page of its own."""
        limit = artefacts.MAX_SHOWN_LINES
        marks = [Mark(enforcement, line) for line, enforcement in places]
        if path:
            pane = self.file(path, first, limit=limit, marks=marks)
        else:
            pane = self.output(first, limit=limit, marks=marks)
        if pane.viewable and places:
            pane = replace(pane, viewable=replace(pane.viewable, places=tuple(places)))
        return pane

    def tools(self, only: Any = None, enforcement: str = "") -> Pane:
        marked = {
            one.place["tool_call"]: one.enforcement
            for one in reversed(self.findings)
            if "tool_call" in one.place
        }
        calls = [
            _call(number, call, marked.get(number, ""))
            for number, call in enumerate(self.body.get("tool_calls") or ())
            if only is None or number == only
        ]
        return Pane(TOOLS, "Tool calls" if only is None else f"Tool call {only + 1}", calls=calls)

    def _evidence(self, name: Any) -> Mapping[str, Any] | None:
        items = self.body.get("evidence") or ()
        return next((one for one in items if one.get("id") == name), None)

    def evidence(self, name: Any, first: int = 1, *, marks: Sequence[Mark] = ()) -> Pane:
        item = self._evidence(name)
        if item is None:
            return Pane(
                EVIDENCE, f"Evidence {name}", text=Text(refusal="No such evidence was submitted.")
            )
        text = str(item.get("text") or "")
        found = [_mark(one) for one in self.findings if one.place.get("evidence") == name]
        marks = [*found, *marks]
        marks += [Mark("", None, None, quote) for quote in self.confirming if quote in text]
        shown = artefacts.shown_text(text, marks, first=first, limit=LINES_OF_PANE)
        return Pane(EVIDENCE, f"Evidence {name}", text=shown, size=len(text.encode()))

    def made(self, title: str, made: Artefact) -> Pane:
        """A text that the engine made, with what it changed of the submitted one first."""
        content = _content(made.blob)
        if content is None:
            return Pane(MADE, title, text=Text(refusal=LOST))
        if made.path:
            row = self.files.get(made.path)
            before = _content(row.blob) if row else None
        else:
            before = str(self.body.get("output") or "").encode()
        diff = _compared(before, content) if before is not None else None
        return Pane(
            MADE,
            title,
            text=artefacts.shown_file(content, limit=LINES_OF_PANE),
            size=len(content),
            diffs=[(made.path or "output", "as submitted, and as made", diff)] if diff else (),
            made=str(made.uuid),
        )

    def claims(self, numbers: Sequence[int]) -> Pane:
        """Each claim in a line of its own, so that its number is the line's."""
        text = "\n".join(_claim(one) for one in self.body.get("claims") or ())
        marks = [
            Mark(one.enforcement, number + 1)
            for one in self.findings
            for number in one.place.get("claims") or ()
        ]
        first = min(numbers, default=0) + 1 - LINES_BEFORE_PLACE
        shown = artefacts.shown_text(text, marks, first=first, limit=LINES_OF_PANE)
        return Pane(CLAIMS, "Claims", text=shown)

    def diff(self, previous: Run) -> Pane:
        before = Submission.objects.filter(run=previous).first()
        old_output = (before.body.get("output") or "") if before else ""
        diffs: list[tuple[str, str, Diff | None]] = []
        if old_output != (self.body.get("output") or ""):
            diffs.append(("Output", "changed", diff_of(old_output, self.body.get("output") or "")))
        old = {
            row.path: row
            for row in RunFile.objects.filter(run=previous).select_related("blob__project")
        }
        changes = changed_paths(_digests(old), _digests(self.files))
        for number, (path, change) in enumerate(changes):
            compared = change == "changed" and number < MAX_DIFFED_FILES
            diffs.append((path, change, _diff(old[path], self.files[path]) if compared else None))
        return Pane(DIFF, "Changes since the attempt before", diffs=diffs)


def _mark(finding: Finding) -> Mark:
    """A quote that the material does not hold is nowhere."""
    quote = "" if finding.quote_verified is False else finding.quote
    return Mark(finding.enforcement, finding.line, finding.column, quote)


def _claim(claim: Mapping[str, Any]) -> str:
    said = " ".join(str(claim.get("text") or "").split())
    evidence = ", ".join(map(str, claim.get("evidence") or ())) or "none"
    return f"{said} ({claim.get('label')}, {claim.get('section')}; evidence: {evidence})"


def _call(number: int, call: Mapping[str, Any], enforcement: str) -> ToolCall:
    shown_apart = ("tool", "success", "oddities")
    rest = {key: value for key, value in call.items() if key not in shown_apart}
    text = json.dumps(rest, indent=2, ensure_ascii=False) if any(rest.values()) else ""
    if len(text) > MAX_JSON_CHARACTERS:
        text = (
            f"{text[:MAX_JSON_CHARACTERS]}\n… {len(text) - MAX_JSON_CHARACTERS:,} characters more"
        )
    return ToolCall(
        number + 1,
        str(call.get("tool")),
        call.get("success"),
        text,
        enforcement,
        call.get("oddities") or (),
    )


def _digests(files: Mapping[str, RunFile]) -> dict[str, str]:
    return {path: row.blob.sha256 for path, row in files.items()}


def _diff(before: RunFile, after: RunFile) -> Diff:
    if max(before.size, after.size) > artefacts.MAX_SHOWN_BYTES // 8:
        return Diff(refusal="Too large to compare here.")
    old, new = _content(before.blob), _content(after.blob)
    if old is None or new is None:
        return Diff(refusal=LOST)
    return _compared(old, new)


def _compared(before: bytes, after: bytes) -> Diff:
    old, new = artefacts.decode(before), artefacts.decode(after)
    if old is None or new is None:
        return Diff(refusal="Not text: nothing to compare line by line.")
    return diff_of(old, new)


def _content(blob: Blob) -> bytes | None:
    try:
        return read_blob(blob)
    except EvidenceLost:
        return None
