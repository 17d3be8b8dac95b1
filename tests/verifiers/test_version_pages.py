from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import AuditEntry, Project, Role
from tests.builders import make_project, make_user, signed_in
from tests.tables import check_rows
from verification.engine.verifier import LEGACY_FLAGS, Flags, Limits, VerifierSpec
from verification.verifiers import connections, services
from verification.verifiers.connections import Terms
from verification.verifiers.models import VerifierVersion
from verification.verifiers.parts import FLAGS, LIMITS
from verification.verifiers.version_list import PER_PAGE

LIST = "/p/loom/settings/verifiers/"
NEW = f"{LIST}new/"
ROLL_BACK = f"{LIST}roll-back/"
HOSTILE = "<b>x</b>\u202e"
USUAL: dict[str, Any] = {
    **{part.name: "on" for part in FLAGS if part.is_switch and part.usual},
    **{part.name: str(part.usual) for part in (*FLAGS, *LIMITS) if not part.is_switch},
}


@pytest.fixture
def legacy(project: Project) -> VerifierVersion:
    return services.add_version(
        project=project, spec=VerifierSpec(LEGACY_FLAGS), note="The old engine."
    )


def text_of(answer: Any) -> str:
    return " ".join(answer.content.decode().split())


def active(project: Project) -> int:
    return VerifierVersion.objects.get(project=project, is_active=True).number


def make_live(version: VerifierVersion, reason: str = "It is better.") -> None:
    services.activate(project=version.project, number=version.number, actor=SYSTEM, reason=reason)


def connect(project: Project, name: str) -> None:
    connections.add_connection(
        project=project, actor=SYSTEM, name=name, model="openai/m", terms=Terms()
    )


# ------------------------------------------------------------------ the list


def test_the_active_version_comes_first_and_others_say_what_they_have_otherwise(
    project: Project, admin: Client, legacy: VerifierVersion
) -> None:
    make_live(legacy)

    page = text_of(admin.get(LIST))

    listed = page[page.index('id="verifiers-head"') :]
    assert listed.index(f'href="{LIST}2/"') < listed.index(f'href="{LIST}1/"')
    assert 'Policy engine <b>on</b> <span class="faint">(not off)</span>' in listed
    assert listed.count("judges runs</span>") == 1
    assert "judged before</span>" in listed


def test_more_versions_than_a_page_holds_are_a_page_further(
    project: Project, admin: Client
) -> None:
    for number in range(PER_PAGE + 5):
        services.add_version(
            project=project, spec=VerifierSpec(limits=Limits(prompt_chars=20_000 + number))
        )

    first = text_of(admin.get(LIST))
    older = text_of(admin.get(f"{LIST}?below=7"))

    assert first.count("<li class=") - older.count("<li class=") > PER_PAGE - 10
    assert f'href="?below={PER_PAGE + 5 + 2 - PER_PAGE}"' in first
    assert f'href="{LIST}6/"' in older
    assert f'href="{LIST}7/"' not in older[older.index('id="verifiers-head"') :]


def test_the_list_asks_no_more_of_the_database_for_more_versions(
    project: Project,
    admin: Client,
    legacy: VerifierVersion,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    make_live(legacy)
    admin.get(LIST)  # the first visit writes the session
    with django_assert_max_num_queries(100) as few:
        admin.get(LIST)
    for number in range(20):
        make_live(
            services.add_version(
                project=project, spec=VerifierSpec(limits=Limits(prompt_chars=20_000 + number))
            )
        )

    with django_assert_max_num_queries(len(few.captured_queries)):
        answer = admin.get(LIST)

    assert text_of(answer).count('<li class="stack tight">') == 22


def test_what_judged_when_is_told_with_who_and_why(
    project: Project, admin: Client, legacy: VerifierVersion
) -> None:
    make_live(legacy, f"Better {HOSTILE}.")

    page = text_of(admin.get(LIST))

    periods = page[page.index("What judged when") :]
    assert periods.count("<li") == 2
    assert "Better &lt;b&gt;x&lt;/b&gt;" in periods
    assert HOSTILE not in page


# ------------------------------------------------------------------ the way back


def test_one_toggle_rolls_back_with_a_reason(
    project: Project, admin: Client, legacy: VerifierVersion
) -> None:
    make_live(legacy)
    shown = text_of(admin.get(LIST))

    answer = admin.post(ROLL_BACK, {"active": 2, "reason": "It rejects too much."}, follow=True)

    assert 'name="active" value="2"' in shown
    assert "Roll back to v1</button>" in shown
    assert active(project) == 1
    page = text_of(answer)
    assert "v1 judges runs that are submitted from now on." in page
    assert "Return to v2</button>" in page
    assert AuditEntry.objects.latest("pk").reason == "It rejects too much."


@pytest.mark.parametrize(
    ("body", "status", "told"),
    [
        ({"active": 2, "reason": " "}, 422, "This field is required."),
        ({"active": 2, "reason": "x" * 1001}, 422, "at most 1000 characters"),
        ({"reason": "So."}, 422, "This field is required."),
        ({"active": "two", "reason": "So."}, 422, "Enter a whole number."),
        ({"active": 1, "reason": "So."}, 200, "v1 does not judge runs any more: v2 does."),
    ],
)
def test_a_roll_back_that_cannot_be_changes_nothing_and_says_why(
    project: Project,
    admin: Client,
    legacy: VerifierVersion,
    body: dict[str, Any],
    status: int,
    told: str,
) -> None:
    make_live(legacy)

    answer = admin.post(ROLL_BACK, body, follow=True)

    assert answer.status_code == status
    assert told in text_of(answer)
    assert active(project) == 2


def test_where_nothing_judged_before_there_is_no_toggle(admin: Client) -> None:
    assert "Roll back" not in text_of(admin.get(LIST))
    assert "No other version judged runs before." in text_of(
        admin.post(ROLL_BACK, {"active": 1, "reason": "So."}, follow=True)
    )


# ------------------------------------------------------------------ a new version


def test_the_form_is_filled_with_the_version_it_starts_from(
    project: Project, admin: Client
) -> None:
    connect(project, "own")
    base = services.add_version(
        project=project,
        spec=VerifierSpec(replace(Flags(), tier3_vote_count=5), limits=Limits(judge_calls=6)),
    )

    page = text_of(admin.get(f"{NEW}?base={base.number}"))
    usual = text_of(admin.get(NEW))

    assert 'name="tier3_vote_count" value="5"' in page
    assert 'name="judge_calls" value="6"' in page
    assert '<details class="more" open>' in page
    assert 'name="tier3_vote_count" value="3"' in usual
    assert '<details class="more">' in usual
    for part in (*FLAGS, *LIMITS):
        assert f'name="{part.name}"' in page


def test_a_preset_brings_an_engines_flags_as_they_came(admin: Client) -> None:
    page = admin.get(f"{NEW}?preset=legacy")

    form = page.context["form"]
    told = {part.name: form[part.name].value() for part in FLAGS}
    assert told == VerifierSpec(LEGACY_FLAGS).to_json()["flags"]


def test_a_version_is_made_and_leads_to_its_page(project: Project, admin: Client) -> None:
    connect(project, "own")
    changed = {name: value for name, value in USUAL.items() if name != "regex_default_advisory"}

    answer = admin.post(
        NEW,
        {
            **changed,
            "tier3_vote_count": "5",
            "judge_calls": "6",
            "primary": "own",
            "panel": ["own"],
            "note": "Five votes.",
        },
    )

    version = VerifierVersion.objects.get(project=project, number=2)
    spec = VerifierSpec.from_json(version.spec)
    assert (answer.status_code, answer["Location"]) == (302, f"{LIST}2/")
    assert spec.flags == replace(Flags(), regex_default_advisory=False, tier3_vote_count=5)
    assert spec.limits == Limits(judge_calls=6)
    assert (spec.models.primary, spec.models.panel) == ("own", ("own",))
    assert (version.is_active, version.note) == (False, "Five votes.")
    page = text_of(admin.get(f"{LIST}2/"))
    assert "v2 was made. It judges nothing yet." in page
    assert "Regex rules are advisory" in page


def test_what_says_the_same_leads_to_the_version_there_is(project: Project, admin: Client) -> None:
    answer = admin.post(NEW, USUAL, follow=True)

    assert "v1 says exactly this: no other was made." in text_of(answer)
    assert VerifierVersion.objects.count() == 1


@check_rows(
    ("fields", "told"),
    [
        ({"tier3_vote_count": "0"}, "greater than or equal to 1"),
        ({"tier3_vote_count": ""}, "This field is required."),
        ({"tier3_vote_count": "3.5"}, "Enter a whole number."),
        ({"unconfirmed_supporting_threshold": "NaN"}, "Enter a number."),
        ({"unconfirmed_supporting_threshold": "1e400"}, "Enter a number."),
        ({"phase_scope_default": "everywhere"}, "Select a valid choice."),
        ({"judge_calls": "41"}, "less than or equal to 40"),
        ({"primary": "nobody"}, "Select a valid choice."),
        ({"primary": "", "alternate": "own"}, "Without a first judge, no other is asked."),
        ({"primary": "own", "alternate": "own"}, "must be another connection"),
        ({"note": "x" * 301}, "at most 300 characters"),
        ({"note": "a\x00b"}, "Null characters are not allowed."),
    ],
    rollback=True,
)
def test_a_wrong_part_is_told_beside_it_and_what_was_typed_stays(
    project: Project, admin: Client, fields: dict[str, str], told: str
) -> None:
    connect(project, "own")

    answer = admin.post(NEW, {**USUAL, "syntax_seconds": "44", **fields})

    page = text_of(answer)
    assert answer.status_code == 422
    assert told in page
    assert 'name="syntax_seconds" value="44"' in page
    assert VerifierVersion.objects.count() == 1


def test_a_base_whose_judge_was_removed_says_so(project: Project, admin: Client) -> None:
    connect(project, "own")
    spec = VerifierSpec(models=replace(VerifierSpec().models, primary="own"))
    base = services.add_version(project=project, spec=spec)
    connections.remove_connection(project=project, actor=SYSTEM, name="own")

    page = text_of(admin.get(f"{NEW}?base={base.number}"))

    assert "v2 names <bdi>own</bdi>: nobody can ask it any more." in page


@pytest.mark.parametrize("query", ["?base=9", f"?base={'9' * 9}"])
def test_there_is_nothing_to_start_from_what_is_not_there(admin: Client, query: str) -> None:
    assert admin.get(NEW + query).status_code == 404


@pytest.mark.parametrize("query", ["?base=x", "?base=-1", "?preset=other", f"?base={'9' * 5000}"])
def test_an_address_that_says_nothing_starts_from_the_active_one(admin: Client, query: str) -> None:
    page = admin.get(NEW + query)

    assert page.status_code == 200
    assert "New version from v1" in text_of(page)


# ------------------------------------------------------------------ two side by side


def test_two_versions_are_compared_by_what_differs_or_by_all(
    admin: Client, legacy: VerifierVersion
) -> None:
    short = text_of(admin.get(f"{LIST}compare/?old=1&new=2"))
    whole = text_of(admin.get(f"{LIST}compare/?old=1&new=2&all=1"))

    assert "6 parts differ" in short
    assert "Votes of tier 3" not in short
    assert "Votes of tier 3" in whole
    assert "Seconds for syntax" in whole
    for page in (short, whole):
        assert "<bdi>their own phases</bdi>" in page
        assert "<b><bdi>every phase</bdi></b>" in page


def test_without_numbers_the_active_one_is_held_against_the_newest(
    admin: Client, legacy: VerifierVersion
) -> None:
    assert "<h1>v1 → v2</h1>" in text_of(admin.get(f"{LIST}compare/"))


def test_a_version_differs_in_nothing_from_itself(admin: Client) -> None:
    page = text_of(admin.get(f"{LIST}compare/?old=1&new=1"))

    assert "They say the same" in page


@pytest.mark.parametrize("query", ["?old=1&new=9", "?old=9&new=1", f"?old=1&new={'9' * 9}"])
def test_what_is_not_there_is_not_compared(admin: Client, query: str) -> None:
    assert admin.get(f"{LIST}compare/{query}").status_code == 404


# ------------------------------------------------------------------ into a trial


def test_a_version_is_tried_in_shadow_from_wherever_it_is_shown(
    project: Project, legacy: VerifierVersion
) -> None:
    editor = signed_in(make_user(project, Role.EDITOR))
    start = "/p/loom/shadow/start/"

    listed = text_of(editor.get(LIST))
    detail = text_of(editor.get(f"{LIST}2/"))
    compared = text_of(editor.get(f"{LIST}compare/?old=1&new=2"))
    form = editor.get(f"{start}?baseline=1&candidate=2&past=on").context["form"]

    assert f'href="{start}?candidate=2"' in listed
    assert f'href="{start}?candidate=1"' not in listed
    assert f'href="{start}?candidate=2"' in detail
    assert f'href="{start}?baseline=1&amp;candidate=2&amp;past=on"' in compared
    assert [form[side].value() for side in ("baseline", "candidate")] == ["1", "2"]


def test_another_build_of_the_same_says_what_it_is_and_is_not_tried(project: Project) -> None:
    services.add_version(project=project, spec=VerifierSpec(engine_build="0"))
    editor = signed_in(make_user(project, Role.EDITOR))
    start = "/p/loom/shadow/start/"

    listed = text_of(editor.get(LIST))
    detail = text_of(editor.get(f"{LIST}2/"))
    compared = text_of(editor.get(f"{LIST}compare/?old=1&new=2"))
    asked = text_of(editor.get(f"{start}?baseline=1&candidate=2"))
    refused = editor.post(start, {"baseline": "1", "candidate": "2", "rate": "100", "aa": "10"})

    for page in (listed, detail, compared):
        assert f"{start}?" not in page
    assert "are a record of the program that it was made with" in detail
    assert "1 part differs" in compared
    assert "there is nothing to try" in compared
    for page in (asked, text_of(refused)):
        assert "v1 and v2 differ only in the engine build or the prompt version" in page
    assert refused.status_code == 422


@pytest.mark.parametrize("role", [Role.VIEWER, Role.REVIEWER])
def test_who_may_start_no_trial_is_led_to_none(
    project: Project, legacy: VerifierVersion, role: Role
) -> None:
    client = signed_in(make_user(project, role))

    pages = [client.get(LIST), client.get(f"{LIST}2/"), client.get(f"{LIST}compare/?old=1&new=2")]

    assert not any("/shadow/start/" in text_of(page) for page in pages)


# ------------------------------------------------------------------ who may


@pytest.mark.parametrize("role", [Role.VIEWER, Role.AGENT, Role.REVIEWER, Role.EDITOR])
def test_everybody_of_the_project_reads_versions_and_only_admins_change_them(
    project: Project, legacy: VerifierVersion, role: Role
) -> None:
    make_live(legacy)
    client = signed_in(make_user(project, role))

    read = [LIST, f"{LIST}1/", f"{LIST}2/", f"{LIST}compare/?old=1&new=2"]
    refused = [
        client.get(NEW),
        client.post(NEW, USUAL),
        client.post(ROLL_BACK, {"active": 2, "reason": "So."}),
        client.post(f"{LIST}1/", {"reason": "So."}),
    ]

    pages = [client.get(path) for path in read]
    assert {page.status_code for page in pages} == {200}
    assert {answer.status_code for answer in refused} == {403}
    assert (active(project), VerifierVersion.objects.count()) == (2, 2)
    for words in ("Roll back", "New version", "New from it", '<button class="main">'):
        assert not any(words in text_of(page) for page in pages)


def test_another_projects_versions_are_not_there(admin: Client) -> None:
    make_project("theirs")

    answers = [admin.get(f"/p/theirs/settings/verifiers/{path}") for path in ("", "1/", "new/")]

    assert {answer.status_code for answer in answers} == {404}
