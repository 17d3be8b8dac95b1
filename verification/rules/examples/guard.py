"""Publishing waits for a reason while an example of a rule is broken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.urls import reverse

from loomverify.errors import Issue
from loomverify.guarding import Word
from processes.definition.lint import MAX_EXAMPLE_CHARS
from processes.definition.load import load
from processes.definition.model import Definition, Rule, RuleType
from processes.guards import PUBLISHING, Publication
from processes.models import Process
from processes.renames import renamed_in
from processes.selectors import definition_of
from verification.rules.examples.listing import excerpt_of, origin_of, url_of
from verification.rules.examples.judged import heard_of
from verification.rules.examples.selectors import pins_of
from verification.rules.examples.trying import (
    IsTimeLeft,
    Standing,
    Tried,
    time_limit,
    tried,
    try_pin,
)
from verification.rules.models import Expected, Pin

NAME = "examples"
BROKEN = "example.broken"
TEMPLATE = "rules/_examples_guard.html"
MAX_SHOWN = 10
MAX_NAMED = 5
PINS_AT_ONCE = 20
ANYWAY = "To go on all the same, say why as corpus_reason."


@dataclass(frozen=True, slots=True)
class Found:
    """An example that does not hold, and where it stands: in the file, or pinned."""

    rule: str
    place: str
    url: str
    excerpt: str
    tried: Tried
    note: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """`strangers`: pins of rules that the text does not have; they speak for nobody here.

    `stranger_rules`: the names of the first of these rules, and where their pins are.
    """

    count: int
    broken: Sequence[Found]
    untried: Sequence[Found]
    strangers: int
    stranger_rules: Sequence[tuple[str, str]]
    renamed: Sequence[tuple[str, str]] = ()
    """Old and new names of rules whose pins go along."""

    @property
    def shown(self) -> Sequence[Found]:
        return self.broken[:MAX_SHOWN]

    @property
    def more(self) -> int:
        return max(0, len(self.broken) - MAX_SHOWN)

    @property
    def unclear(self) -> Sequence[Found]:
        return self.untried[:MAX_SHOWN]


def on_publishing(wish: Publication) -> Word | None:
    report = report_of(wish)
    if report is None or not (report.count or report.strangers):
        return None
    said = figures_of(report)
    objection = Issue(BROKEN, f"{said} {ANYWAY}") if report.broken else None
    return Word(NAME, objection, said, TEMPLATE, report)


def register() -> None:
    PUBLISHING.register(on_publishing)


def report_of(wish: Publication) -> Report | None:
    """What the examples say of a text; None: it does not load."""
    if wish.version is None:
        definition = load(wish.source_text, is_stored=True).definition
    else:
        definition = definition_of(wish.version.pk)
    if definition is None:
        return None
    limit = time_limit()
    names = {old: new for new, old in renamed_in(wish.process, definition).items()}
    rules = {rule.name: rule for rule in definition.rules}
    rules |= {old: rules[new] for old, new in names.items()}
    pinned = [*_pinned(wish.process, rules, limit)]
    found = [*(one for _, one in pinned), *_in_the_file(wish, definition, limit)]
    strangers = _strangers(wish.process, rules)
    named = list(dict.fromkeys(strangers))[:MAX_NAMED]
    return Report(
        count=len(found),
        broken=[one for one in found if one.tried.is_broken],
        untried=[one for one in found if one.tried.standing is Standing.UNTRIED],
        strangers=len(strangers),
        stranger_rules=[(name, url_of(wish.process, name)) for name in named],
        renamed=[(old, new) for old, new in names.items() if any(of == old for of, _ in pinned)],
    )


def figures_of(report: Report) -> str:
    """What the audit log keeps, and callers of the API read."""
    told = [f"{len(report.broken):,} of {_examples(report.count)} broken"]
    if report.broken:
        named = [f"{one.rule}, {one.place}: {one.tried.why}" for one in report.broken[:MAX_NAMED]]
        more = " and more" if len(report.broken) > MAX_NAMED else ""
        told = [f"{told[0]} ({'; '.join(named)}{more})"]
    if report.untried:
        told.append(f"{len(report.untried):,} could not be tried")
    if report.renamed:
        told.append(f"pins go along with {len(report.renamed):,} renamed")
    if report.strangers:
        told.append(f"{report.strangers:,} pinned to rules that it does not have")
    return f"{', '.join(told)}."


def _examples(count: int) -> str:
    return "1 example" if count == 1 else f"{count:,} examples"


def _strangers(process: Process, rules: Mapping[str, Rule]) -> list[str]:
    """The rule of each pin that speaks of no rule here."""
    pins = Pin.objects.filter(rule__process=process, removed_at__isnull=True)
    others = pins.exclude(rule__name__in=list(rules))
    return list(others.order_by("rule__name").values_list("rule__name", flat=True))


def _pinned(
    process: Process, rules: Mapping[str, Rule], limit: IsTimeLeft
) -> Iterator[tuple[str, Found]]:
    """What is pinned, each with the name that it is pinned to."""
    heard = heard_of(process, rules.values())
    for pin in pins_of(process, rules).iterator(chunk_size=PINS_AT_ONCE):
        rule = rules[pin.rule.name]
        result = try_pin(rule, pin, heard, limit)
        origin = f", {origin_of(pin)}" if origin_of(pin) else ""
        place = f"pinned{origin} ({pin.get_expected_display().lower()})"
        url = url_of(process, pin.rule.name, pin)
        found = Found(rule.name, place, url, excerpt_of(pin.text), result, pin.note)
        yield pin.rule.name, found


def _in_the_file(wish: Publication, definition: Definition, limit: IsTimeLeft) -> Iterator[Found]:
    for rule in definition.rules:
        if rule.type is RuleType.REGEX:
            yield from _of_rule(wish, rule, limit)


def _of_rule(wish: Publication, rule: Rule, limit: IsTimeLeft) -> Iterator[Found]:
    both = (
        ("pass", rule.examples.passing, Expected.PASSED),
        ("fail", rule.examples.failing, Expected.CAUGHT),
    )
    for key, texts, expected in both:
        for number, text in enumerate(texts, start=1):
            is_short = len(text) <= MAX_EXAMPLE_CHARS
            result = (
                tried(rule, text, expected, limit)
                if is_short
                else Tried(Standing.UNTRIED, "It is too long for an example of the file.")
            )
            place = f"line {rule.line}, {key} example {number}"
            yield Found(rule.name, place, _line_url(wish, rule), excerpt_of(text), result)


def _line_url(wish: Publication, rule: Rule) -> str:
    slugs = [wish.process.project.slug, wish.process.slug]
    if wish.version is None:
        return f"{reverse('draft_yaml', args=slugs)}#L{rule.line}"
    return f"{reverse('process_detail', args=slugs)}?version={wish.version.number}"
