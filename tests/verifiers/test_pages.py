from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import AuditEntry, Project, Role
from processes.models import Process
from tests.builders import make_project, make_user, signed_in
from tests.tables import check_rows
from verification.verifiers import budgets, connections
from verification.verifiers.connections import Terms
from verification.verifiers.models import Budget, JudgeConnection

JUDGES = "/p/loom/settings/judges/"
BUDGETS = "/p/loom/settings/budgets/"
TERMS = {"timeout_seconds": 60, "max_output_tokens": 4000, "max_input_chars": 200_000}
NEW = {"name": "own", "model": "openai/gpt-4o", **TERMS}


@pytest.fixture
def judge(project: Project) -> JudgeConnection:
    return add(project)


def add(project: Project, name: str = "own", **fields: Any) -> JudgeConnection:
    given = {"model": "openai/of-our-own", "terms": Terms(), **fields}
    return connections.add_connection(project=project, actor=SYSTEM, name=name, **given)


def text_of(answer: Any) -> str:
    return " ".join(answer.content.decode().split())


def test_the_page_without_a_judge_teaches_how_to_name_one(admin: Client) -> None:
    page = text_of(admin.get(JUDGES))

    assert "No judge yet" in page
    for taught in ("LOOMVERIFY_JUDGE_MODEL", "Anthropic", "Ollama", "vLLM", "LOOMVERIFY_KEY_"):
        assert taught in page


def test_a_connection_is_added_and_shown(admin: Client) -> None:
    answer = admin.post(
        f"{JUDGES}add/",
        {
            **NEW,
            "base_url": "https://gateway.example.com/v1",
            "key_reference": "LOOMVERIFY_KEY_OPENAI",
            "output_usd_per_million": "15",
            "structured_output": "no",
        },
    )
    page = text_of(admin.get(JUDGES))

    assert (answer.status_code, answer["Location"]) == (302, JUDGES)
    row = JudgeConnection.objects.get()
    assert (row.model, row.structured_output) == ("openai/gpt-4o", False)
    assert row.output_usd_per_million == Decimal(15)
    assert "2.5 USD per million tokens asked, 15 answered" in page
    for shown in ("https://gateway.example.com/v1", "LOOMVERIFY_KEY_OPENAI", "plain text"):
        assert shown in page


@check_rows(
    ("fields", "complaint"),
    [
        ({"name": "Not So"}, "Use small letters, digits and hyphens"),
        ({"model": "bedrock/claude"}, "Others are for the environment"),
        ({"base_url": "http://169.254.169.254/"}, "clouds hand out credentials"),
        ({"base_url": "http://user:word@host/"}, "must hold no user name"),
        ({"key_reference": "DATABASE_URL"}, "must begin with LOOMVERIFY_KEY_"),
        ({"timeout_seconds": "0"}, "greater than or equal to 1"),
        ({"timeout_seconds": ""}, "This field is required"),
        ({"input_usd_per_million": "NaN"}, "Enter a number"),
        ({"input_usd_per_million": "1e400"}, "Ensure that there are no more than"),
        ({"name": "x" * 300}, "at most 60 characters"),
        ({"name": "a\x00b"}, "Null characters are not allowed"),
    ],
    rollback=True,
)
def test_a_wrong_field_is_told_beside_it_and_what_was_typed_stays(
    admin: Client, fields: dict[str, str], complaint: str
) -> None:
    answer = admin.post(f"{JUDGES}add/", {**NEW, "name": "typed", **fields})

    assert answer.status_code == 422
    assert complaint in text_of(answer)
    assert not JudgeConnection.objects.exists()


def test_terms_are_changed_and_what_a_name_stands_for_is_not(
    admin: Client, judge: JudgeConnection
) -> None:
    address = f"{JUDGES}{judge.uuid}/"
    shown = text_of(admin.get(address))

    answer = admin.post(
        address, {**TERMS, "timeout_seconds": 90, "model": "openai/other", "base_url": "http://x/"}
    )

    judge.refresh_from_db()
    assert 'value="60"' in shown
    assert answer.status_code == 302
    assert (judge.timeout_seconds, judge.model, judge.base_url) == (90, "openai/of-our-own", "")


def test_what_can_change_a_verdict_is_shown_and_kept_once_a_version_names_it(
    admin: Client, project: Project
) -> None:
    judge = add(project, terms=Terms(max_output_tokens=500, structured_output=True))
    connections.choose_judges(project=project, actor=SYSTEM, primary="own", reason="Judge.")
    address = f"{JUDGES}{judge.uuid}/"
    shown = admin.get(address)

    answer = admin.post(address, {**TERMS, "timeout_seconds": 90, "structured_output": "no"})

    judge.refresh_from_db()
    fields = shown.context["form"].fields
    assert [name for name in fields if fields[name].disabled] == [
        "max_output_tokens", "max_input_chars", "structured_output",
    ]  # fmt: skip
    assert 'value="500"' in text_of(shown)
    assert "what can change a verdict stays as it is" in text_of(shown)
    assert answer.status_code == 302
    assert (judge.timeout_seconds, judge.max_output_tokens) == (90, 500)
    assert judge.structured_output is True


def test_a_wrong_term_is_refused_with_its_field(admin: Client, judge: JudgeConnection) -> None:
    answer = admin.post(f"{JUDGES}{judge.uuid}/", {**TERMS, "key_reference": "HOME"})

    assert answer.status_code == 422
    assert "must begin with LOOMVERIFY_KEY_" in text_of(answer)


def test_the_environments_connection_offers_no_key_and_no_removal(
    admin: Client, judge: JudgeConnection
) -> None:
    JudgeConnection.objects.update(is_environment=True, key_reference="LOOMVERIFY_JUDGE_API_KEY")

    page = text_of(admin.get(JUDGES))
    answer = admin.post(f"{JUDGES}{judge.uuid}/", {**TERMS, "input_usd_per_million": "3"})

    judge.refresh_from_db()
    assert "Remove own" not in page
    assert 'name="key_reference"' not in text_of(admin.get(f"{JUDGES}{judge.uuid}/"))
    assert answer.status_code == 302
    assert judge.key_reference == "LOOMVERIFY_JUDGE_API_KEY"
    assert judge.input_usd_per_million == Decimal(3)


def test_who_judges_is_chosen_with_a_reason(admin: Client, project: Project) -> None:
    for name in ("one", "two"):
        add(project, name)

    answer = admin.post(
        f"{JUDGES}choose/",
        {"primary": "one", "alternate": "two", "panel": ["one", "two"], "reason": "Measured."},
    )

    judges = connections.live_models(project)
    assert answer.status_code == 302
    assert (judges.primary, judges.alternate, judges.panel) == ("one", "two", ("one", "two"))
    assert AuditEntry.objects.get(verb="verifier.activated").reason == "Measured."
    assert 'class="tag tag-accent">first judge' in text_of(admin.get(JUDGES))


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"primary": "own"}, "This field is required"),
        ({"primary": "nobody", "reason": "So."}, "Select a valid choice"),
        ({"primary": "", "alternate": "own", "reason": "So."}, "Without a first judge"),
        ({"primary": "own", "alternate": "own", "reason": "So."}, "must be another connection"),
        ({"primary": "own", "panel": ["nobody"], "reason": "So."}, "Select a valid choice"),
    ],
)
def test_a_choice_that_makes_no_sense_is_told(
    admin: Client, judge: JudgeConnection, fields: dict[str, Any], complaint: str
) -> None:
    answer = admin.post(f"{JUDGES}choose/", fields)

    assert answer.status_code == 422
    assert complaint in text_of(answer)


def test_a_connection_is_removed_unless_it_judges(admin: Client, project: Project) -> None:
    one, two = add(project, "one"), add(project, "two")
    connections.choose_judges(project=project, actor=SYSTEM, primary="one", reason="So.")

    kept = admin.post(f"{JUDGES}{one.uuid}/remove/", follow=True)
    removed = admin.post(f"{JUDGES}{two.uuid}/remove/", follow=True)

    assert "It judges now" in text_of(kept)
    assert "two was removed" in text_of(removed)
    names = JudgeConnection.objects.filter(is_removed=False).values_list("name", flat=True)
    assert list(names) == ["one"]


def test_an_unknown_price_is_told(admin: Client, judge: JudgeConnection) -> None:
    assert "unknown: its calls count as free" in text_of(admin.get(JUDGES))


@pytest.mark.parametrize("role", [Role.VIEWER, Role.AGENT, Role.REVIEWER, Role.EDITOR])
def test_only_admins_see_judges_and_budgets(
    project: Project, judge: JudgeConnection, role: Role
) -> None:
    client = signed_in(make_user(project, role))

    gets = [JUDGES, BUDGETS, f"{JUDGES}{judge.uuid}/", f"{JUDGES}{judge.uuid}/tested/"]
    posts = [
        f"{JUDGES}add/",
        f"{JUDGES}choose/",
        f"{JUDGES}{judge.uuid}/",
        f"{JUDGES}{judge.uuid}/test/",
        f"{JUDGES}{judge.uuid}/remove/",
        f"{BUDGETS}set/",
    ]

    assert {client.get(path).status_code for path in gets} == {403}
    assert {client.post(path, NEW).status_code for path in posts} == {403}


def test_another_projects_connection_is_not_there(admin: Client) -> None:
    theirs = add(make_project("theirs"))

    answers = [
        admin.get(f"{JUDGES}{theirs.uuid}/"),
        admin.get(f"{JUDGES}{theirs.uuid}/tested/"),
        admin.post(f"{JUDGES}{theirs.uuid}/", TERMS),
        admin.post(f"{JUDGES}{theirs.uuid}/test/"),
        admin.post(f"{JUDGES}{theirs.uuid}/remove/"),
    ]

    assert {answer.status_code for answer in answers} == {404}
    theirs.refresh_from_db()
    assert (theirs.is_removed, theirs.test_result) == (False, {})


def test_budgets_are_set_changed_and_taken_away(admin: Client, project: Project) -> None:
    process = Process.objects.get(project=project)

    admin.post(f"{BUDGETS}set/", {"usd_per_day": "100"})
    admin.post(f"{BUDGETS}set/", {"process": process.slug, "usd_per_day": "2.5"})
    page = text_of(admin.get(BUDGETS))
    admin.post(f"{BUDGETS}set/", {"process": process.slug, "usd_per_day": ""})

    assert 'value="100"' in page
    assert 'value="2.5"' in page
    left = Budget.objects.get()
    assert (left.process, left.usd_per_day) == (None, Decimal(100))
    verbs = AuditEntry.objects.filter(verb="budget.changed").order_by("pk")
    assert [entry.diff["usd_per_day"] for entry in verbs] == [
        [None, "100"],
        [None, "2.5"],
        ["2.5000", None],
    ]


@pytest.mark.parametrize("amount", ["-1", "NaN", "Infinity", "a lot", "1e9", "0.00001"])
def test_an_amount_that_is_none_is_refused(admin: Client, amount: str) -> None:
    answer = admin.post(f"{BUDGETS}set/", {"usd_per_day": amount}, follow=True)

    assert "A budget is an amount of USD" in text_of(answer)
    assert not Budget.objects.exists()


def test_a_budget_of_a_process_of_nobody_is_not_there(admin: Client) -> None:
    answer = admin.post(f"{BUDGETS}set/", {"process": "nobody", "usd_per_day": "1"})

    assert answer.status_code == 404


def test_what_is_spent_today_is_shown_against_the_budget(admin: Client, project: Project) -> None:
    process = Process.objects.get(project=project)
    budgets.set_budget(project=project, process=None, usd_per_day=Decimal(4), actor=SYSTEM)
    budgets.set_budget(project=project, process=process, usd_per_day=Decimal(1), actor=SYSTEM)
    spent: dict[str, Any] = {"project_id": project.pk, "process_id": process.pk}
    now = timezone.now()
    budgets.reserve(**spent, estimate=Decimal(1), now=now)
    budgets.settle(**spent, reserved=Decimal(1), actual=Decimal("1.2"), now=now)

    page = text_of(admin.get(BUDGETS))

    assert page.count("1.2000") == 2
    assert "30 %" in page
    assert "used up" in page
