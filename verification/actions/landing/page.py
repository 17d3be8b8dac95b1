"""What pages show of an action."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from verification.actions.landing.services import APPROVABLE
from verification.actions.landing.standing import MOVING
from verification.actions.landing.wording import APPROVALS, KINDS, REASONS, STATES
from verification.actions.models import Action, ActionKind, ActionState, Change
from verification.runs.artefacts import MAX_DIFF_SHOWN, MAX_LINE_CHARACTERS, Diff
from verification.runs.wording import Badge

SHOWN_DIGITS = 12
LINES = {"+": "add", "-": "del", "@": "hunk"}


@dataclass(frozen=True, slots=True)
class Row:
    row: Action

    @property
    def badge(self) -> Badge:
        return STATES[ActionState(self.row.state)]

    @property
    def words(self) -> str:
        return KINDS[ActionKind(self.row.kind)]

    @property
    def branch(self) -> str:
        """Where it goes: before it was tried, that is known of the target branch alone."""
        if not self.row.ref and self.row.kind in MOVING:
            return self.row.change.repository.target_branch
        return self.row.ref.removeprefix("refs/heads/")

    @property
    def url(self) -> str:
        """Where the code host shows the commit, once it is there."""
        is_there = self.row.state == ActionState.DONE
        return commit_url(self.row.change.repository.location, self.row.new_sha) if is_there else ""

    @property
    def before(self) -> str:
        return self.row.expected_sha[:SHOWN_DIGITS]

    @property
    def persons_word(self) -> str:
        """The outcome that people decided, where it is not the verifier's."""
        evidence = self.row.evidence
        said = str(evidence.get("final_outcome", ""))
        return said if said != evidence.get("outcome") else ""

    @property
    def is_of_its_change(self) -> bool:
        """Whether the change, or its inverse, is what it is about; else a branch is moved alone."""
        return self.row.kind != ActionKind.CLOSE

    @property
    def commit(self) -> str:
        return self.row.new_sha[:SHOWN_DIGITS]

    @property
    def why(self) -> str:
        """The sentence of its reason, unless the detail or who declined it says it with more."""
        said = REASONS.get(self.row.reason_code, self.row.reason_code)
        is_told = said and self.row.detail.startswith(said.removesuffix("."))
        is_named = self.row.state == ActionState.DECLINED and self.row.decided_by
        return "" if is_told or is_named else said

    @property
    def detail(self) -> str:
        return self.row.detail

    @property
    def has_moved(self) -> bool:
        """Whether a branch went from one commit to another: what is prepared has moved nothing."""
        return self.row.state == ActionState.DONE and bool(self.before or self.commit)

    @property
    def is_waiting(self) -> bool:
        return self.row.state in APPROVABLE

    @property
    def approval(self) -> str:
        is_held = self.row.state == ActionState.HELD
        return "Try again" if is_held else APPROVALS[ActionKind(self.row.kind)]


def commit_url(location: str, sha: str) -> str:
    """Return the page that code hosts have of a commit; empty: it is at no address of a page."""
    if not sha or not location.startswith("https://"):
        return ""
    parts = urlsplit(location)
    host = parts.netloc.rpartition("@")[2]
    path = parts.path.rstrip("/").removesuffix(".git")
    return f"https://{host}{path}/commit/{sha}"


def diff_lines(text: str) -> Diff:
    """Return a diff of files as pages show it: lines with their kind, without objects' names."""
    lines, shown, is_in_hunk = text.splitlines(), [], False
    for line in lines[:MAX_DIFF_SHOWN]:
        if line.startswith("diff --git "):
            is_in_hunk = False
        is_in_hunk = is_in_hunk or line.startswith("@@ ")
        if not is_in_hunk and line.startswith("index "):
            continue
        kind = LINES.get(line[:1], "") if is_in_hunk else "hunk"
        shown.append((kind, line[:MAX_LINE_CHARACTERS]))
    return Diff(tuple(shown), hidden=max(0, len(lines) - MAX_DIFF_SHOWN))


@dataclass(frozen=True, slots=True)
class Box:
    """A run's change, as its page shows it."""

    change: Change
    rows: list[Row]

    @property
    def base(self) -> str:
        return self.change.base_sha[:SHOWN_DIGITS]

    @property
    def paths(self) -> list[dict[str, str]]:
        words = {"A": "added", "M": "changed", "D": "deleted", "R": "moved", "T": "changed"}
        return [
            {"path": one["path"], "status": words.get(one["status"], one["status"])}
            for one in self.change.paths
        ]
