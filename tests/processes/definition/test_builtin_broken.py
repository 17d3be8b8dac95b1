from __future__ import annotations

from dataclasses import dataclass

from processes.definition.model import Enforcement, Expect, Rule, RuleType
from tests.processes.builtin_cases import (
    Work,
    definition_of,
    evaluate,
    good_work,
    rules,
)
from tests.tables import check_rows

OUTPUT = ""
KEY = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIB\n"
CONFLICT = "<<<<<<< HEAD\nDurations\n=======\nIntervals\n>>>>>>> topic"
REFUSED = "I'm sorry, but I can't access the sources."


@dataclass(frozen=True, slots=True)
class Twin:
    """Good work with one thing broken: `old` becomes `new`, everywhere in one file.

    Without `old` the whole text is `new`; without a path it is the output.
    """

    process: str
    phase: str
    rule: str
    path: str
    old: str
    new: str

    @property
    def id(self) -> str:
        return f"{self.process}:{self.phase}:{self.rule}"

    @property
    def work(self) -> Work:
        work = good_work(self.process, self.phase)
        if not self.path:
            return work.saying(output=self.text)
        return work.with_file(self.path, self.text)

    @property
    def text(self) -> str:
        if not self.old:
            return self.new
        work = good_work(self.process, self.phase)
        text = work.files[self.path].decode() if self.path else str(work.run["output"])
        assert self.old in text
        return text.replace(self.old, self.new)

    @property
    def line(self) -> int:
        """The line of the text on which the broken part begins."""
        before, _, _ = self.text.partition(self.new.strip())
        return before.count("\n") + 1


def twins(process: str, *rows: tuple[str, str, str, str, str]) -> list[Twin]:
    return [
        Twin(process, phase, rule, path, old, new.replace("\\n", "\n"))
        for phase, rule, path, old, new in rows
    ]


TWINS = [
    *twins(
        "general",
        ("work", "answer-is-not-a-refusal", OUTPUT, "", "I'm sorry, I can't help with that."),
        ("work", "no-placeholders", OUTPUT, "three points", "[TBD] points"),
        ("work", "no-placeholders-in-files", "agenda.md", "Mara, 20 minutes", "[INSERT NAME HERE]"),
        ("work", "no-conflict-markers", "agenda.md", "- [ ] coffee", CONFLICT),
    ),
    *twins(
        "code-change",
        ("plan", "plan-names-files", "plan.md", "", "# Plan\n\nThe parser will be improved."),
        ("plan", "no-placeholders", "plan.md", "Days and weeks: nobody asked", "Days: [TBD]"),
        ("implement", "no-access-tokens", "src/duration.js", "TODO: days", f"ghp_{'a1B2' * 9}"),
        (
            "implement",
            "no-code-left-out",
            "src/duration.js",
            "// TODO: days, once somebody says how long one is",
            "// ... rest of the code unchanged",
        ),
        (
            "implement",
            "no-debugging-left",
            "src/duration.js",
            "// TODO: days, once somebody says how long one is",
            "debugger;",
        ),
        (
            "test",
            "all-tests-run",
            "src/duration.test.js",
            "test('reads a d",
            "test.only('reads a d",
        ),
        ("test", "test-command-recorded", "test-report.md", "", "# Tests\n\nAll 18 tests pass."),
        ("document", "no-conflict-markers", "change-notes.md", "# Durations", CONFLICT),
        ("document", "no-private-keys", "change-notes.md", "# Durations", KEY),
        ("hand-over", "no-placeholders", "summary.md", "days and weeks:", "[TODO: days]"),
        ("hand-over", "one-recommendation", "summary.md", "**Recommendation:** merge", "Merge it."),
        (
            "hand-over",
            "one-recommendation",
            "summary.md",
            "## Open",
            "Recommendation: do not merge",
        ),
    ),
    *twins(
        "market-research",
        ("question", "answer-is-not-a-refusal", OUTPUT, "", REFUSED),
        ("question", "one-decision", "question.md", "Decision: whether", "We wonder whether"),
        (
            "question",
            "few-questions",
            "question.md",
            "An answer of",
            "8. Who are they?\n\nAn answer",
        ),
        (
            "market-size",
            "figures-table-names-sources",
            "market-size.csv",
            "year,source",
            "year,origin",
        ),
        ("market-size", "two-estimates", "market-size.md", "## Estimate from below", "From below"),
        ("customers", "no-placeholders", "customers.md", "| nothing |", "| TBD |"),
        (
            "competitors",
            "figures-table-names-sources",
            "competitors.csv",
            "price_date,source",
            "price_date,who",
        ),
        ("competitors", "prices-have-dates", "competitors.csv", "price_date", "price_group"),
        ("report", "report-lists-sources", "report.md", "## Sources", "## Thanks"),
        ("report", "no-placeholders", "report.md", "About 20,500", "About XX million"),
        ("report", "no-invented-links", "report.md", "https://stad.gent/", "https://example.com/"),
    ),
    *twins(
        "competitive-intelligence",
        ("brief", "answer-is-not-a-refusal", OUTPUT, "", REFUSED),
        (
            "collection",
            "facts-name-their-sources",
            "facts.csv",
            "date,source_id",
            "date,whence",
        ),
        ("collection", "sources-have-dates", "sources.csv", "accessed", "remark"),
        (
            "collection",
            "no-invented-links",
            "sources.csv",
            "https://kbopub.economie.fgov.be/",
            "https://www.example.org/",
        ),
        ("outlook", "likelihood-is-stated", "outlook.md", "", "# Outlook\n\nThey will assemble."),
        ("briefing", "one-as-of-date", "briefing.md", "**As of:** 3 February 2026", "In February."),
        ("briefing", "one-as-of-date", "briefing.md", "## Answers", "As of: 2026-01-20"),
        ("briefing", "briefing-lists-sources", "briefing.md", "## Sources", "## Resources"),
        ("briefing", "no-placeholders", "briefing.md", "N/A: leases are not public", "[TBC]"),
    ),
    *twins(
        "research-report",
        ("question", "answer-is-not-a-refusal", OUTPUT, "", REFUSED),
        ("search", "sources-have-ids", "sources.csv", "source_id,title", "number,title"),
        ("search", "no-invented-links", "sources.csv", "www.w3.org/TR", "example.net"),
        (
            "search",
            "no-invented-identifiers",
            "sources.csv",
            "https://www.rfc-editor.org/rfc/rfc7111",
            "https://doi.org/10.xxxx/7111",
        ),
        ("evidence", "evidence-names-its-source", "evidence.csv", "source_id", "from"),
        ("evidence", "evidence-has-quotes", "evidence.csv", "quote,place", "gist,place"),
        ("report", "report-lists-sources", "report.md", "## Sources", "## Outsourcing"),
        (
            "report",
            "report-cites",
            "report.md",
            "",
            "## Summary\n\nUse CRLF.\n\n## Sources\n\nRFC 4180, of 2005\n",
        ),
        ("report", "one-summary", "report.md", "## Summary", "## In short"),
        ("report", "one-summary", "report.md", "## Limits", "## Abstract"),
        ("report", "no-placeholders", "report.md", "open | N/A", "[TODO]"),
        ("citation-check", "evidence-names-its-source", "citation-check.csv", "source_id", "from"),
        (
            "citation-check",
            "nothing-unsupported-left",
            "citation-check.csv",
            "section 2 rule 7,supported",
            "nothing of that kind,unsupported",
        ),
    ),
    *twins(
        "data-extract",
        ("scope", "answer-is-not-a-refusal", OUTPUT, "", REFUSED),
        ("scope", "no-placeholders", "scope.md", "EUR or JPY", "[TODO]"),
        ("sources", "sources-can-be-found", "sources.csv", "source_id", "number"),
        ("extract", "records-name-their-source", "raw.jsonl", '"source_id"', '"number"'),
        ("extract", "no-spreadsheet-errors", "raw.jsonl", '"N/A"', '"#REF!"'),
        ("normalise", "sources-can-be-found", "records.csv", "source_id", "number"),
        ("normalise", "text-is-not-damaged", "records.csv", "Linse klar", "FÃ¼hrung"),
        ("normalise", "no-spreadsheet-errors", "records.csv", "Scharnier,,", "Scharnier,#REF!,"),
        (
            "reconcile",
            "no-rows-left-out",
            "reconciliation.csv",
            "S3,8,8,7,0,1,one price is covered by a stamp",
            "...,...,...,...,...,...,...",
        ),
        (
            "reconcile",
            "counts-add-up",
            "manifest.json",
            '"reconciles"',
            '"complete"',
        ),
        (
            "reconcile",
            "no-count-is-off",
            "manifest.json",
            '"joined": 1',
            '"S2": {"reconciles": false}',
        ),
        ("reconcile", "files-are-sealed", "manifest.json", '"sha256"', '"sha1"'),
    ),
]


def rule_of(twin: Twin) -> Rule:
    return next(one for one in definition_of(twin.process).rules if one.name == twin.rule)


@check_rows("twin", TWINS, ids=lambda twin: twin.id)
def test_a_broken_twin_has_the_one_finding_that_is_meant(twin: Twin) -> None:
    rule = rule_of(twin)

    conclusion = evaluate(twin.process, twin.phase, twin.work)

    has_place = rule.expect is Expect.NO_MATCH and rule.min_count is None
    is_hard = rule.usual_enforcement is Enforcement.HARD
    found = [(one.rule, one.path, one.line) for one in conclusion.findings]
    assert found == [(twin.rule, twin.path if has_place else "", twin.line if has_place else None)]
    assert conclusion.outcome == ("fail" if is_hard else "pass_with_warnings")
    assert conclusion.verdict == ("reject" if is_hard else "accept")


def test_every_pattern_has_a_broken_twin() -> None:
    broken = {(twin.process, twin.rule) for twin in TWINS}

    assert broken | {("competitive-intelligence", "no-confidential-material")} == {
        (name, rule.name) for name, rule in rules(RuleType.REGEX)
    }


def test_a_source_that_is_marked_as_confidential_is_pointed_out() -> None:
    work = good_work("competitive-intelligence", "collection")
    leaked = {"id": "S8", "text": "Lumo NV\n\nSTRICTLY CONFIDENTIAL\n\nRoadmap 2027"}

    conclusion = evaluate(
        "competitive-intelligence",
        "collection",
        work.saying(evidence=[*work.run["evidence"], leaked]),
    )

    found = [(one.rule, one.place, one.line) for one in conclusion.findings]
    assert found == [("no-confidential-material", {"evidence": "S8"}, 3)]
    assert conclusion.outcome == "pass_with_warnings"
