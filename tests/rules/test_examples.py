from __future__ import annotations

from typing import Any

import pytest

from loomverify.accounts.access import SYSTEM, Access, person
from loomverify.accounts.models import AuditEntry, Project, Role
from loomverify.errors import Forbidden, InputError
from loomverify.guarding import Objected
from processes.definition.load import load
from processes.definition.model import Rule
from processes.guards import Publication
from processes.models import Process
from processes.services import add_version, publish
from tests.builders import SOURCE_TEXT, make_project, make_run, make_user
from tests.golden.guarding import (
    audited,
    case_that_held,
    draft_of,
    process_of,
    put_draft_live,
    put_live,
    version_of,
)
from tests.tables import check_rows
from verification.rules.examples import services
from verification.rules.examples.guard import report_of
from verification.rules.examples.sources import MAX_BYTES, Source
from verification.rules.examples.trying import Standing, time_limit, tried
from verification.rules.models import Expected, Pin
from verification.runs.models import Submission

pytestmark = pytest.mark.django_db

CAUGHT, PASSED = Expected.CAUGHT, Expected.PASSED
NAME = "no-placeholders"
LAXER = SOURCE_TEXT.replace('check: "TODO|TBD"', 'check: "TODO"')


@pytest.fixture
def project() -> Project:
    return make_project()


@pytest.fixture
def process(project: Project) -> Process:
    return process_of(project)


def access_of(project: Project, role: Role = Role.EDITOR) -> Access:
    return Access(project, role, person(make_user(project, role)))


def pin(process: Process, text: str = "Revenue: TBD", **more: Any) -> Pin:
    options = {"access": access_of(process.project), "name": NAME, "expected": CAUGHT, **more}
    return services.pin(process=process, text=text, **options).pin


def test_what_the_project_redacts_is_in_no_example(process: Process) -> None:
    process.project.redaction_patterns = ["sk-[a-z]+"]
    process.project.save()

    made = pin(process, "TBD: sk-abc", note="From sk-abd.")

    assert (made.text, made.note) == ("TBD: [redacted]", "From [redacted].")
    half = pin(process, "TBD: another", note="Half \ud800.")
    assert half.note == "Half \ufffd."


def refused(process: Process, text: str = "", **more: Any) -> tuple[int, str, Any]:
    with pytest.raises(InputError) as raised:
        pin(process, text, **more)
    return raised.value.status, raised.value.code, raised.value.issues[0].loc[-1:]


def rule(**fields: Any) -> Rule:
    return Rule(name="r", **{"type": "regex", "check": "TBD", **fields})


@check_rows(
    ("fields", "text", "expected", "standing"),
    [
        ({}, "TBD", CAUGHT, Standing.HOLDS),
        ({}, "done", CAUGHT, Standing.BROKEN),
        ({}, "done", PASSED, Standing.HOLDS),
        ({}, "TBD", PASSED, Standing.BROKEN),
        ({"expect": "match"}, "done", CAUGHT, Standing.HOLDS),  # it speaks against what lacks it
        ({"min_count": 2}, "TBD", CAUGHT, Standing.HOLDS),
        ({"min_count": 2}, "TBD TBD TBD", PASSED, Standing.HOLDS),
        (
            {"min_count": 2, "requires_exact_cardinality": True},
            "TBD TBD TBD",
            CAUGHT,
            Standing.HOLDS,
        ),
        ({"type": "llm"}, "TBD", CAUGHT, Standing.UNTRIED),
        ({"check": "(?=x)"}, "TBD", CAUGHT, Standing.UNTRIED),
        ({"check": " "}, "TBD", CAUGHT, Standing.UNTRIED),
    ],
    rollback=True,
)
def test_a_pin_holds_is_broken_or_could_not_be_tried(
    fields: dict[str, Any], text: str, expected: Expected, standing: Standing
) -> None:
    source = load(_source(fields)).definition
    assert source

    assert tried(source.rules[0], text, expected, time_limit()).standing is standing


def _source(fields: dict[str, Any]) -> str:
    said = {"name": "r", "type": "regex", "check": "TBD", "applies_to_phases": ["*"], **fields}
    return f"name: p\nphases: [{{id: a, description: b}}]\nverification: {{rules: [{said!r}]}}\n"


def test_what_takes_too_long_is_doubt_and_blames_nobody() -> None:
    moments = iter([0.0, 0.1, 9.0, 9.0])
    is_time_left = time_limit(lambda: next(moments))

    found = tried(_rule_of({"min_count": 9}), "TBD TBD", CAUGHT, is_time_left)

    assert found.standing is Standing.UNTRIED
    assert "time" in found.why


def _rule_of(fields: dict[str, Any]) -> Rule:
    definition = load(_source(fields)).definition
    assert definition
    return definition.rules[0]


def test_what_was_submitted_is_copied_and_outlives_its_run(
    project: Project, process: Process
) -> None:
    run = make_run(project, output="Output TBD", files={"a.md": "\ufeffFile TBD\n".encode()})
    body = Submission.objects.get(run=run).body
    evidence = [{"id": "e 1", "text": "Evidence TBD"}]
    Submission.objects.filter(run=run).update(body={**body, "evidence": evidence})

    pins = [
        pin(process, source=Source(run)),
        pin(process, source=Source(run, path="a.md")),
        pin(process, source=Source(run, evidence="e 1")),
    ]
    run.delete()

    kept = [Pin.objects.get(pk=one.pk) for one in pins]
    assert [one.text for one in kept] == ["Output TBD", "File TBD\n", "Evidence TBD"]
    assert [(one.run, one.path, one.evidence) for one in kept] == [
        (None, "", ""),
        (None, "a.md", ""),
        (None, "", "e 1"),
    ]


def test_what_cannot_be_pinned_is_refused_with_its_place(
    project: Project, process: Process
) -> None:
    files = {"big.txt": b"x" * (MAX_BYTES + 1), "image.png": b"\x89PNG\0\xff"}
    run = make_run(project, output="", files=files)

    answers = [
        refused(process, " \n"),
        refused(process, "a\0b"),
        refused(process, "half \ud83d"),
        refused(process, "ä" * (MAX_BYTES // 2 + 1)),
        refused(process, source=Source(run)),
        refused(process, source=Source(run, path="big.txt")),
        refused(process, source=Source(run, path="image.png")),
        refused(process, source=Source(run, path="no\0ne")),
        refused(process, source=Source(run, evidence="none")),
        refused(process, source=Source(run, path="big.txt", evidence="e")),
        refused(process, "x", name="unknown"),
        refused(process, "x", name="un\0known \ud83d"),
    ]

    assert answers == [
        (422, "example.empty", ("text",)),
        (422, "example.character", ("text",)),
        (422, "example.encoding", ("text",)),
        (422, "example.too_large", ("text",)),
        (422, "example.empty", ("run",)),
        (422, "example.too_large", ("path",)),
        (422, "example.no_text", ("path",)),
        (422, "example.unknown", ("path",)),
        (422, "example.unknown", ("evidence",)),
        (422, "example.place", ("evidence",)),
        (404, "rule.unknown", ()),
        (404, "rule.unknown", ()),
    ]


def test_the_same_pin_again_is_that_pin_and_its_contrary_is_refused(process: Process) -> None:
    first = pin(process)

    assert pin(process).pk == first.pk
    assert refused(process, first.text, expected=PASSED)[:2] == (409, "example.contradicts")


def test_a_rule_has_only_so_many_pins(process: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "MAX_PINS", 1)
    first = pin(process)
    services.take_away(access=access_of(process.project), pin=first.uuid)
    pin(process, "TBD again")

    assert refused(process, "TBD more")[:2] == (409, "example.too_many")
    with pytest.raises(InputError, match="take one away"):
        services.take_back(access=access_of(process.project), pin=first.uuid)


def test_a_pin_is_taken_away_and_back_and_the_audit_log_says_so(
    project: Project, process: Process
) -> None:
    editor, made = access_of(project), pin(process, note="Monday")

    for _ in range(2):
        services.take_away(access=editor, pin=made.uuid)
    services.take_back(access=editor, pin=made.uuid)

    made.refresh_from_db()
    assert made.removed_at is None
    told = AuditEntry.objects.filter(verb__startswith="example.").order_by("pk")
    assert [(one.verb, one.diff["expected"], one.reason) for one in told] == [
        ("example.pinned", [None, "Must be caught"], "Monday"),
        ("example.removed", ["Must be caught", None], "Monday"),
        ("example.restored", [None, "Must be caught"], "Monday"),
    ]


def test_viewers_pin_nothing_and_strangers_find_nothing(project: Project, process: Process) -> None:
    made = pin(process)

    with pytest.raises(Forbidden):
        pin(process, access=access_of(project, Role.REVIEWER))
    with pytest.raises(InputError, match="no such example"):
        services.take_away(access=access_of(make_project()), pin=made.uuid)


def test_a_rule_of_ones_own_draft_alone_has_pins_too(project: Project, process: Process) -> None:
    editor = access_of(project)
    assert editor.actor.user
    draft_of(project, editor.actor.user, SOURCE_TEXT.replace(NAME, "only-mine"))

    made = pin(process, name="only-mine", access=editor)

    assert made.rule.name == "only-mine"
    assert refused(process, "x", name="only-mine-too", access=editor)[0] == 404


def test_publishing_asks_why_while_a_pin_is_broken(project: Project, process: Process) -> None:
    pin(process, note="Let through on Monday")
    version = version_of(project, LAXER)

    with pytest.raises(Objected) as raised:
        put_live(version)
    put_live(version, corpus_reason="TBD is allowed now")

    assert raised.value.code == "example.broken"
    assert "1 of 1 example broken (no-placeholders, pinned (must be caught): passes" in str(
        raised.value
    )
    kept = audited(project, "process.published")
    assert kept["corpus_reason"] == [None, "TBD is allowed now"]
    assert kept["examples"][1].startswith("1 of 1 example broken")


def test_pins_go_with_a_rule_that_is_renamed_and_come_back_with_it(
    project: Project, process: Process
) -> None:
    first, same = pin(process, "Revenue: TBD"), pin(process, "Loss: TBD")
    admin = access_of(project, Role.ADMIN)
    assert admin.actor.user
    draft = draft_of(project, admin.actor.user, LAXER.replace(NAME, "no-gaps"))
    own = pin(process, "Loss: TBD", name="no-gaps", access=admin)

    with pytest.raises(Objected, match=r"3 of 3 examples broken.*no-gaps.*1 renamed"):
        put_draft_live(draft)
    put_draft_live(draft, corpus_reason="TBD is allowed now")
    there = {one.pk: one.rule.name for one in Pin.objects.select_related("rule")}
    put_live(process.versions.get(number=1))

    assert there == {first.pk: "no-gaps", own.pk: "no-gaps", same.pk: NAME}
    assert audited(project, "examples.followed")["rule"] == ["no-gaps", NAME]
    assert {one.rule.name for one in Pin.objects.filter(pk__in=[first.pk, same.pk])} == {NAME}


def test_a_rule_has_only_so_many_pins_when_others_come_along(
    project: Project, process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("verification.rules.examples.following.MAX_PINS", 2)
    pins = [pin(process, f"{number} TBD") for number in range(3)]

    put_live(version_of(project, SOURCE_TEXT.replace(NAME, "no-gaps")))

    assert {one.pk for one in Pin.objects.filter(rule__name="no-gaps")} == {
        one.pk for one in pins[1:]
    }


def test_an_example_of_the_file_stands_in_the_way_as_a_pin_does(project: Project) -> None:
    spoiled = SOURCE_TEXT.replace(
        '      check: "TODO|TBD"\n', '      check: "TODO|TBD"\n      examples: {pass: [a TODO]}\n'
    )
    draft = draft_of(project, make_user(project, Role.ADMIN), spoiled)

    with pytest.raises(Objected) as raised:
        put_draft_live(draft)

    assert "no-placeholders, line 17, pass example 1: is caught, must pass" in str(raised.value)
    assert put_draft_live(draft, role=Role.EDITOR).is_published is False


def test_a_first_version_with_a_broken_example_waits_for_a_reason(project: Project) -> None:
    spoiled = SOURCE_TEXT.replace("small-work", "new-work").replace(
        '      check: "TODO|TBD"\n', '      check: "TODO|TBD"\n      examples: {pass: [a TODO]}\n'
    )
    version, warnings = add_version(
        project=project, source_text=spoiled, actor=SYSTEM, role=Role.ADMIN
    )
    process = version.process

    assert process.published is None
    assert "rule.example" in [one.code for one in warnings]
    with pytest.raises(Objected):
        publish(process=process, number=1, actor=SYSTEM, reason="Try")
    publish(process=process, number=1, actor=SYSTEM, reason="Try", corpus_reason="It is known.")
    assert process.published == version


def test_a_pin_speaks_against_the_first_publication_too(project: Project) -> None:
    source = SOURCE_TEXT.replace("small-work", "new-work")
    version, _ = add_version(project=project, source_text=source, actor=SYSTEM, role=Role.EDITOR)
    pin(version.process, "a TODO", expected=PASSED)

    with pytest.raises(Objected):
        publish(process=version.process, number=1, actor=SYSTEM, reason="Try")


def test_what_cannot_be_tried_is_told_and_stands_in_nobodys_way(
    project: Project, process: Process
) -> None:
    pin(process, name="figures-have-sources")
    pin(process, "TBD, too")
    gone = SOURCE_TEXT.replace(NAME, "another").replace("TODO|TBD", "Lorem")

    put_live(version_of(project, gone))

    kept = audited(project, "process.published")
    assert kept["examples"][1] == (
        "0 of 1 example broken, 1 could not be tried, 1 pinned to rules that it does not have."
    )
    assert "corpus_reason" not in kept


def test_all_that_speaks_against_it_is_told_at_once_and_one_reason_answers(
    project: Project, process: Process
) -> None:
    case_that_held(project)
    pin(process)
    version = version_of(project, LAXER)

    with pytest.raises(Objected) as raised:
        put_live(version)
    put_live(version, corpus_reason="Both are known")

    assert sorted(issue.code for issue in raised.value.issues) == [
        "example.broken",
        "golden.not_replayed",
    ]
    kept = audited(project, "process.published")
    assert kept["corpus"][1].startswith("1 golden case was not replayed")
    assert kept["examples"][1].startswith("1 of 1 example broken")
    assert kept["corpus_reason"] == [None, "Both are known"]


def test_what_a_replay_answers_for_the_corpus_answers_no_other_guard(
    project: Project, process: Process
) -> None:
    from loomverify.accounts.access import SYSTEM
    from processes.services import publish

    case_that_held(project)
    pin(process)
    version = version_of(project, LAXER)

    with pytest.raises(Objected) as raised:
        publish(
            process=process,
            number=version.number,
            actor=SYSTEM,
            reason="Try",
            answered={"corpus": "Replayed."},
        )

    assert [issue.code for issue in raised.value.issues] == ["example.broken"]


def test_the_check_reads_pins_in_a_constant_number_of_queries(
    project: Project, process: Process, django_assert_num_queries: Any
) -> None:
    for number in range(25):
        pin(process, f"TBD {number}", source=None)
    version = version_of(project, LAXER)
    wish = Publication(process, version.source_text, version)
    report_of(wish)

    with django_assert_num_queries(3):
        report = report_of(wish)

    assert report
    assert len(report.broken) == 25
