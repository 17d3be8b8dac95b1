"""All that a rule's own page shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from loomverify.accounts.models import Project, User
from processes import selectors
from processes.comparing import FieldChange, field_changes
from processes.definition.load import load
from processes.definition.model import Rule
from processes.models import Process
from processes.models import Rule as RuleName
from processes.renames import renamed_in
from processes.texts import WordDiffs
from verification.engine.statistics.intervals import Interval
from verification.rules.figures import reading
from verification.rules.figures.reading import Use
from verification.rules.pages.chart import Chart, chart
from verification.rules.pages.contents import Change, Content, contents, history, rule_of
from verification.rules.pages.naming import Formerly, formerly
from verification.rules.steps.figures import Standing, share_of, span_of_steps, standing
from verification.runs.models import Run
from verification.runs.spans import Window, iso


@dataclass(frozen=True, slots=True)
class InDraft:
    """What the reader's own draft makes of the rule; `index` None: it has no such rule."""

    is_readable: bool
    index: int | None = None
    changes: Sequence[FieldChange] = ()


@dataclass(frozen=True, slots=True)
class Links:
    """Queries of the run list for the rows behind the figures."""

    applied: str
    violated: str
    decided: str
    overturned: str
    right: str
    wrong: str


@dataclass(frozen=True, slots=True)
class RulePage:
    """`rule` is what is published, or what the newest version that has it said.

    `standing` is None where no published version has the rule; `formerly` where it had no other
    name before.
    """

    row: RuleName
    rule: Rule
    is_published: bool
    number: int
    first: int
    formerly: Formerly | None
    versions: Sequence[int]
    newest: int
    draft: InDraft | None
    window: Window
    use: Use
    chart: Chart
    overturned: tuple[float, Interval] | None
    links: Links
    last_run: Run | None
    standing: Standing | None
    history: Sequence[Change]

    @property
    def process(self) -> Process:
        return self.row.process

    @property
    def has_newer(self) -> bool:
        published = self.process.published
        return published is not None and published.number != self.newest


def rule_page(row: RuleName, *, window: Window, user: User | None = None) -> RulePage:
    """`user`: whose draft is looked at, None: nobody's."""
    process = row.process
    said = contents(row)
    published = process.published.number if process.published else None
    now = said.get(published or 0) or said[max(said)]
    rule = rule_of(now.spec)
    named = (process.pk, row.name)
    found = reading.steps(process.project_id, named, window.span)
    use = sum((step.use for step in found), reading.last_spoken([named]).get(named, Use()))
    base = {"process": process.slug, "rule": row.name, "state": "finished"}
    is_published = now.number == published
    return RulePage(
        row=row,
        rule=rule,
        is_published=is_published,
        number=now.number,
        first=min(said),
        formerly=formerly(row, min(said)),
        versions=sorted(said, reverse=True),
        newest=max(selectors.versions(process).values_list("number", flat=True)[:1]),
        draft=_in_draft(process, user, rule) if user else None,
        window=window,
        use=use,
        chart=chart(found, window, base),
        overturned=share_of(use.overturned, use.decided),
        links=_links(base, window.start),
        last_run=_run(process.project, use.last_run),
        standing=_standing(row, rule, said) if is_published else None,
        history=history(process, said),
    )


def _standing(row: RuleName, rule: Rule, said: Mapping[int, Content]) -> Standing:
    named = (row.process.pk, row.name)
    steps = reading.steps(row.process.project_id, named, span_of_steps())
    return standing(row.process, rule, said.values(), steps)


def _run(project: Project, pk: int | None) -> Run | None:
    """None also where it was deleted since."""
    rows = Run.objects.filter(project=project, pk=pk or 0)
    return rows.only("uuid", "title", "created_at").first() if pk else None


def _links(base: Mapping[str, str], start: datetime) -> Links:
    span = {**base, "since": iso(start)}
    return Links(
        applied=urlencode({**span, "only": "applied"}),
        violated=urlencode(span),
        decided=urlencode({**span, "verdict": "reject", "review": "decided"}),
        overturned=urlencode({**span, "only": "overturned"}),
        right=urlencode({**span, "only": "found_right"}),
        wrong=urlencode({**span, "only": "found_wrong"}),
    )


def _in_draft(process: Process, user: User, rule: Rule) -> InDraft | None:
    draft = selectors.draft_of(process, user)
    if draft is None:
        return None
    definition = load(draft.source_text).definition
    if definition is None:
        return InDraft(is_readable=False)
    renamed = renamed_in(process, definition)
    for index, one in enumerate(definition.rules):
        if rule.name in (one.name, renamed.get(one.name)):
            return InDraft(True, index, field_changes(_plain(rule), _plain(one), WordDiffs()))
    return InDraft(is_readable=True)


def _plain(rule: Rule) -> dict[str, Any]:
    return {**rule.spec, "applies_to_phases": list(rule.applies_to_phases)}
