from __future__ import annotations

import base64
import json
import re
import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, connections
from django.utils import timezone

from loomverify.accounts.access import Access, Actor
from loomverify.accounts.models import AuditEntry, Project, Role
from loomverify.errors import Conflict, Forbidden, InputError, NotFound
from processes.selectors import definition_of
from tests.builders import make_project
from tests.golden.builders import (
    PASSES,
    as_another,
    document,
    editor_of,
    make_case,
    make_replay,
    make_result,
)
from verification.adapters.probe import ChildProbe
from verification.engine.golden.replay import World
from verification.engine.golden.standing import Standing
from verification.engine.verifier import VerifierSpec
from verification.golden.cases import selectors, services
from verification.golden.cases.importing import import_cases
from verification.golden.models import GoldenCase, GoldenCaseVersion, GoldenFile, ReplayResult
from verification.golden.replaying import LEGACY, judge_case
from verification.runs import retention
from verification.runs.evidence_store import EvidenceLost, read_blob
from verification.runs.models import Blob

pytestmark = pytest.mark.django_db
FILES: dict[str, Any] = {"report.json": '{"total": 3}', "logo.png": {"base64": "iVBORw0KGgo="}}


@pytest.fixture
def project() -> Project:
    return make_project("ours")


@pytest.fixture
def editor(project: Project) -> Access:
    return editor_of(project)


def current(case: GoldenCase) -> GoldenCaseVersion:
    found = selectors.case_of(case.project, case.uuid).current
    assert found is not None
    return found


def told(verb: str) -> list[tuple[str, str]]:
    found = AuditEntry.objects.filter(verb=f"golden_case.{verb}").order_by("pk")
    return [(one.actor, one.reason) for one in found]


def test_what_the_project_redacts_is_in_no_case(db: None) -> None:
    project = make_project("secretive")
    project.redaction_patterns = ["sk-[a-z]+"]
    project.save()
    run = {"output": "key sk-abc"}
    files = {"sk-abd.txt": "sk-abe", "plain.txt": "plain"}

    case = make_case(project, "sk-case", run=run, files=files)

    assert case.name == "sk-case"
    version = GoldenCaseVersion.objects.get(case=case)
    told = json.dumps(selectors.document_of(version))
    assert "[redacted]" in told
    assert not re.findall("sk-ab.", told)
    import_cases(access=editor_of(project), documents=[document("another", run=run, files=files)])
    imported = GoldenCaseVersion.objects.get(case__name="another")
    assert not re.findall("sk-ab.", json.dumps(selectors.document_of(imported)))


def test_what_stands_in_base64_is_redacted_as_what_it_is(project: Project) -> None:
    Project.objects.update(redaction_patterns=["sk-[a-z]+", "[A-Z]{4}"])
    project.refresh_from_db()
    given = {
        "notes.txt": "key sk-abc \xe9".encode("latin-1"),
        "logo.png": b"\x89PNG\r\n\x1a\n\0\0sk-abd",
    }
    files = {
        path: {"base64": base64.b64encode(content).decode()} for path, content in given.items()
    }

    case = make_case(project, files=files)

    stored = {one.path: read_blob(one.blob) for one in current(case).files.all()}
    assert stored == {
        "notes.txt": "key [redacted] \xe9".encode("latin-1"),
        "logo.png": given["logo.png"],
    }


def test_keys_of_what_tools_gave_are_in_no_case_either(project: Project) -> None:
    Project.objects.update(redaction_patterns=["sk-[a-z]+"])
    project.refresh_from_db()
    calls = [{"tool": "fetch", "success": True, "args": {"sk-abc": 1}}]

    case = make_case(project, run={"output": "Done.", "tool_calls": calls})

    [call] = current(case).spec["run"]["tool_calls"]
    assert call["args"] == {"[redacted]": 1}


def test_half_of_a_character_is_refused_where_a_project_redacts_too(project: Project) -> None:
    Project.objects.update(redaction_patterns=["sk-[a-z]+"])
    project.refresh_from_db()

    with pytest.raises(InputError) as refused:
        make_case(project, "half", run={"output": "\ud800"})

    assert refused.value.code == "text.surrogate"


def test_a_case_gives_back_the_document_that_it_was_made_of(project: Project) -> None:
    given = document("kept", files=FILES, tags=["canary"])

    case = make_case(project, **as_another(given, "kept"))

    assert selectors.document_of(current(case)) == given
    assert (case.process, case.phase, case.tags) == ("small-work", "build", ["canary"])
    assert told("made") == [("ed", "")]


def test_a_case_can_be_replayed_from_its_rows(project: Project) -> None:
    case = make_case(project, files=FILES)
    [process] = project.processes.all()
    assert process.published is not None

    read = selectors.read_version(selectors.versions_to_read().get(pk=current(case).pk))
    judged = judge_case(
        read.given,
        read.expected,
        definition_of(process.published.pk),
        VerifierSpec(),
        World(read.workspace, ChildProbe()),
        legacy=LEGACY,
    )

    assert judged.standing == "held"


def test_what_a_replay_reads_costs_no_query_a_file(
    project: Project, django_assert_num_queries: Any
) -> None:
    for n in range(3):
        make_case(project, f"case-{n}", files={f"{one}.md": f"{n}" for one in range(4)})

    with django_assert_num_queries(2):
        found = [selectors.read_version(one) for one in selectors.versions_to_read()]

    assert [len(one.given.submission.files) for one in found] == [4, 4, 4]


def test_a_change_is_a_version_and_the_one_before_stays_as_it_was(
    project: Project, editor: Access
) -> None:
    given = document("kept", files=FILES)
    case = make_case(project, **as_another(given, "kept"))
    changed = {**given, "guards": "More.", "files": {"report.json": "{}"}, "phase": "write"}

    version = services.change_case(
        access=editor, case=case.uuid, document=changed, reason=" Clearer.\0 ", instead_of=1
    )

    assert (version.number, version.reason) == (2, "Clearer.\ufffd")
    assert selectors.document_of(current(case)) == changed
    assert selectors.document_of(selectors.version_of(case, 1)) == given
    assert GoldenCase.objects.get().phase == "write"
    assert [one for one, _ in told("changed")] == ["ed"]


def test_the_same_document_is_the_version_that_is_there(project: Project, editor: Access) -> None:
    given = document("kept", files=FILES)
    case = make_case(project, **as_another(given, "kept"))
    spelt = {**given, "tier": None, "owner": "", "replies": []}

    version = services.change_case(access=editor, case=case.uuid, document=spelt, reason="Nothing.")

    assert (version.number, GoldenCaseVersion.objects.count(), told("changed")) == (1, 1, [])


def test_who_edits_what_was_replaced_meanwhile_is_told(project: Project, editor: Access) -> None:
    given = document("kept")
    case = make_case(project, **as_another(given, "kept"))
    services.change_case(
        access=editor, case=case.uuid, document={**given, "guards": "A."}, reason="A."
    )

    with pytest.raises(Conflict) as found:
        services.change_case(
            access=editor,
            case=case.uuid,
            document={**given, "guards": "B."},
            reason="B.",
            instead_of=1,
        )

    assert found.value.code == "golden.changed"
    assert current(case).spec["guards"] == "A."


@pytest.mark.django_db(transaction=True)
def test_of_two_editors_at_once_one_is_told(project: Project) -> None:
    given = document("kept")
    case = make_case(project, **as_another(given, "kept"))
    start, said = threading.Barrier(2), []

    def edit(name: str) -> None:
        try:
            start.wait()
            services.change_case(
                access=editor_of(project, name),
                case=case.uuid,
                document={**given, "guards": f"{name}."},
                reason="Mine.",
                instead_of=1,
            )
            said.append("stored")
        except Conflict as error:
            said.append(error.code)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=edit, args=[name]) for name in ("ann", "bob")]
    for one in threads:
        one.start()
    for one in threads:
        one.join()

    assert sorted(said) == ["golden.changed", "stored"]
    assert GoldenCaseVersion.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_of_two_cases_of_one_name_at_once_one_is_made(project: Project) -> None:
    start, said = threading.Barrier(2), []

    def make(name: str) -> None:
        try:
            start.wait()
            make_case(project, "kept", access=editor_of(project, name))
            said.append("made")
        except Conflict as error:
            said.append(error.code)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=make, args=[name]) for name in ("ann", "bob")]
    for one in threads:
        one.start()
    for one in threads:
        one.join()

    assert sorted(said) == ["golden.name_taken", "made"]
    assert GoldenCase.objects.count() == 1


def failing(project: Project, case: GoldenCase, **columns: Any) -> ReplayResult:
    usual: dict[str, Any] = {
        "standing": Standing.FAILING,
        "observed": {"outcome": "fail", "verdict": "reject"},
        "differences": [
            {"place": "outcome", "expected": "pass", "observed": "fail"},
            {"place": "verdict", "expected": "accept", "observed": "reject"},
        ],
    }
    return make_result(make_replay(project), case, **{**usual, **columns})


def test_accepting_takes_what_was_observed_where_it_differed(
    project: Project, editor: Access
) -> None:
    case = make_case(project, "kept", expected={**PASSES, "confidence": 0.5})

    version = services.accept(access=editor, result=failing(project, case), reason="It is wrong.")

    assert (version.number, current(case).pk) == (2, version.pk)
    assert version.spec["expected"] == {"outcome": "fail", "verdict": "reject", "confidence": 0.5}
    assert told("accepted") == [("ed", "It is wrong.")]


@pytest.mark.parametrize(
    ("columns", "code"),
    [
        ({"standing": Standing.NOT_JUDGED, "differences": []}, "golden.not_judged"),
        ({"standing": None}, "golden.not_judged"),
        ({"standing": Standing.HELD, "differences": []}, "golden.nothing_to_accept"),
    ],
    ids=["not-judged", "waiting", "held"],
)
def test_only_what_failed_can_be_accepted(
    project: Project, editor: Access, columns: dict[str, Any], code: str
) -> None:
    result = failing(project, make_case(project), **columns)

    with pytest.raises(Conflict) as found:
        services.accept(access=editor, result=result.pk, reason="Fine.")

    assert found.value.code == code


def test_what_another_version_came_to_is_not_accepted(project: Project, editor: Access) -> None:
    given = document("kept")
    case = make_case(project, **as_another(given, "kept"))
    result = failing(project, case)
    services.change_case(
        access=editor, case=case.uuid, document={**given, "guards": "A."}, reason="A."
    )

    with pytest.raises(Conflict) as found:
        services.accept(access=editor, result=result.pk, reason="Fine.")

    assert found.value.code == "golden.changed"


def test_nothing_is_changed_or_accepted_without_a_reason(project: Project, editor: Access) -> None:
    case = make_case(project)

    with pytest.raises(InputError, match="Say why"):
        services.accept(access=editor, result=failing(project, case), reason=" ")

    assert GoldenCaseVersion.objects.count() == 1


def test_anothers_result_is_not_there(project: Project) -> None:
    theirs = make_project("theirs")
    result = failing(theirs, make_case(theirs))

    with pytest.raises(NotFound):
        services.accept(access=editor_of(project), result=result.pk, reason="Fine.")


def test_a_retired_case_is_kept_and_not_changed(project: Project, editor: Access) -> None:
    given = document("kept")
    case = make_case(project, **as_another(given, "kept"))

    assert services.retire(access=editor, case=case.uuid, reason="Outdated.")
    assert not services.retire(access=editor, case=case.uuid)
    with pytest.raises(Conflict, match="restore it first"):
        services.change_case(access=editor, case=case.uuid, document=given, reason="More.")
    with pytest.raises(Conflict, match="retired cases keep their names"):
        make_case(project, "kept")
    assert services.restore(access=editor, case=case.uuid)
    assert not services.restore(access=editor, case=case.uuid)
    assert (told("retired"), told("restored")) == ([("ed", "Outdated.")], [("ed", "")])


@pytest.mark.parametrize("role", [Role.VIEWER, Role.AGENT, Role.REVIEWER])
def test_below_editor_nothing_is_made_changed_or_accepted(project: Project, role: Role) -> None:
    case = make_case(project)
    result = failing(project, case)
    access = Access(project, role, Actor("eve"))

    for refused in (
        lambda: services.create_case(access=access, document=document()),
        lambda: services.change_case(
            access=access, case=case.uuid, document=document(case.name), reason="Why."
        ),
        lambda: services.accept(access=access, result=result, reason="Why."),
        lambda: services.retire(access=access, case=case.uuid),
        lambda: services.restore(access=access, case=case.uuid),
    ):
        with pytest.raises(Forbidden):
            refused()


def test_files_are_kept_when_everything_else_that_named_them_has_gone(project: Project) -> None:
    case = make_case(project, "kept", files=FILES)
    later = timezone.now() + timedelta(days=30)

    retention.purge_expired(later)
    retention.sweep_content(later)

    assert GoldenFile.objects.count() == 2
    assert selectors.document_of(current(case))["files"] == FILES


def test_files_go_with_the_case(project: Project) -> None:
    case = make_case(project, "kept", files={"a.md": "only here"})
    version = selectors.versions_to_read().get(pk=current(case).pk)
    connection.cursor().execute("update golden_goldencase set current_id = null")
    GoldenCase.objects.filter(pk=case.pk).delete()

    swept = retention.sweep_content(timezone.now() + timedelta(days=30))

    assert (swept, Blob.objects.count()) == (1, 0)
    with pytest.raises(EvidenceLost):
        selectors.document_of(version)
