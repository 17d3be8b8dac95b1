"""What people say of comparisons, as it is stored."""

from __future__ import annotations

import itertools
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone

from loomverify.accounts.access import SYSTEM, Access, Actor
from loomverify.accounts.models import AuditEntry, Project, Role
from loomverify.accounts.services import create_api_key
from loomverify.errors import Conflict, Forbidden, InputError, NotFound
from tests.builders import make_project
from tests.golden.builders import make_case
from tests.golden.replayed import FILES
from tests.tables import check_rows
from tests.trials.builders import (
    make_acknowledgement,
    make_compared_run,
    make_comparison,
    make_judgement,
    make_legacy,
    make_queued,
    make_trial,
)
from tests.trials.judged import reviewer
from tests.trials.replaying import compared, over_corpus
from verification.golden.models import GoldenCaseVersion
from verification.trials.figures import figures_of
from verification.trials.judging import acknowledging, services
from verification.trials.judging.asked import IS_ASKED, is_asked
from verification.trials.judging.blinding import is_old_first, said_of
from verification.trials.judging.walking import (
    MOVES,
    REJECTS,
    Progress,
    Wish,
    next_of,
    part_of,
    progress_of,
)
from verification.trials.models import (
    Acknowledgement,
    Comparison,
    ComparisonNote,
    Judgement,
    Reveal,
    Trial,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make_project()


@pytest.fixture
def trial(project: Project) -> Trial:
    return make_trial(project)


@pytest.fixture
def mira(project: Project) -> Access:
    return reviewer(project, "mira")


@pytest.fixture
def jonas(project: Project) -> Access:
    return reviewer(project, "jonas")


@pytest.fixture
def ed(project: Project) -> Access:
    return reviewer(project, "ed", Role.EDITOR)


def says(access: Access, row: Comparison, said: str = "new", **more: Any) -> Judgement:
    return services.judge(
        access=access, comparison=row, said=said, **{"is_old_first": True, **more}
    )


def code_of(refused: pytest.ExceptionInfo[InputError]) -> str:
    return refused.value.code


def fresh(row: Comparison) -> Comparison:
    return Comparison.objects.get(pk=row.pk)


# ---------------------------------------------------------------- judging


def test_what_somebody_says_is_kept_with_the_order_they_saw(trial: Trial, mira: Access) -> None:
    row = make_compared_run(trial)

    made = says(mira, row, "old", is_old_first=False)

    assert (made.reviewer, made.said, made.is_old_first) == ("mira", "old", False)
    assert fresh(row).judged == "old"
    assert fresh(row).judged_at is not None
    entry = AuditEntry.objects.get(verb="comparison.judged")
    assert entry.diff == {"said": [None, "old"], "judged": ["", "old"]}


@pytest.mark.parametrize(
    ("words", "judged"),
    [
        (["new"], "new"),
        (["new", "new"], "new"),
        (["new", "both"], "disputed"),
        (["old", "new", "old"], "old"),
        (["old", "new", "both"], "disputed"),
        (["old", "new", "old", "new", "old"], "disputed"),
    ],
)
def test_people_agree_or_it_is_disputed(
    trial: Trial, project: Project, words: list[str], judged: str
) -> None:
    row = make_compared_run(trial)

    for number, word in enumerate(words):
        says(reviewer(project, f"person-{number}"), row, word)

    assert fresh(row).judged == judged


def test_the_same_again_changes_nothing(trial: Trial, mira: Access) -> None:
    row = make_compared_run(trial)

    first, second = says(mira, row), says(mira, row)

    assert first.pk == second.pk
    assert AuditEntry.objects.filter(verb="comparison.judged").count() == 1


def test_another_word_is_refused_until_the_first_is_taken_back(trial: Trial, mira: Access) -> None:
    row = make_compared_run(trial)
    says(mira, row, "new")

    with pytest.raises(Conflict) as refused:
        says(mira, row, "old")

    assert code_of(refused) == "comparison.judged_by_you"
    services.withdraw(access=mira, comparison=row)
    says(mira, row, "old")
    assert fresh(row).judged == "old"
    assert row.judgements.count() == 2


def test_a_note_goes_with_what_is_said(trial: Trial, mira: Access) -> None:
    row = make_compared_run(trial)

    says(mira, row, note="  An N/A cell\r\nis\x00 none. ")

    assert ComparisonNote.objects.get().text == "An N/A cell\nis\ufffd none."
    assert AuditEntry.objects.filter(verb="comparison.noted").exists()


def test_a_note_too_long_keeps_nothing_of_what_was_said(trial: Trial, mira: Access) -> None:
    row = make_compared_run(trial)

    with pytest.raises(InputError) as refused:
        says(mira, row, note="x" * 4001)

    assert code_of(refused) == "note.too_long"
    assert not Judgement.objects.exists()


@pytest.mark.parametrize("word", ["", "first", "disputed", "OLD", "ol\x00d"])
def test_only_four_words_are_an_answer(trial: Trial, mira: Access, word: str) -> None:
    with pytest.raises(InputError) as refused:
        says(mira, make_compared_run(trial), word)

    assert code_of(refused) == "judgement.invalid"


@pytest.mark.parametrize("role", [Role.VIEWER, Role.AGENT])
def test_below_a_reviewer_nobody_says_anything(project: Project, trial: Trial, role: Role) -> None:
    access, row = Access(project, role, Actor("key robot")), make_compared_run(trial)

    for act in (
        lambda: says(access, row),
        lambda: services.withdraw(access=access, comparison=row),
        lambda: services.undo(access=access, trial=trial),
        lambda: services.reveal(access=access, comparison=row),
        lambda: services.add_note(access=access, comparison=row, text="Mine."),
    ):
        with pytest.raises(Forbidden):
            act()

    assert not AuditEntry.objects.filter(verb__startswith="comparison.").exists()


ASKED = [
    ("fail", "pass"),
    ("fail", "partial_verified"),
    ("pass", "fail"),
    ("undecided", "pass"),
    ("pass_with_warnings", "undecided"),
    ("fail", "fail"),
]
NOT_ASKED = [
    ("pass", "pass"),
    ("pass", "pass_with_warnings"),
    ("undecided", "fail"),
    ("fail", "undecided"),
    ("undecided", "undecided"),
]


@pytest.mark.parametrize(("old", "new"), ASKED)
def test_people_are_asked_where_one_side_accepts_or_both_reject(
    trial: Trial, mira: Access, old: str, new: str
) -> None:
    row = make_compared_run(trial, old, new)

    assert is_asked(row)
    assert Comparison.objects.filter(IS_ASKED).exists()
    assert says(mira, row).pk


@pytest.mark.parametrize(("old", "new"), NOT_ASKED)
def test_people_are_not_asked_where_both_accept_or_nobody_does(
    trial: Trial, mira: Access, old: str, new: str
) -> None:
    row = make_compared_run(trial, old, new)

    with pytest.raises(Conflict) as refused:
        says(mira, row)

    assert code_of(refused) == "comparison.not_asked"
    assert not Comparison.objects.filter(IS_ASKED).exists()


@pytest.mark.parametrize(
    "columns", [{"run": None}, {"origin": "corpus"}, {"old": "", "new": ""}], ids=str
)
def test_nobody_judges_what_cannot_be_looked_at(
    trial: Trial, mira: Access, columns: dict[str, Any]
) -> None:
    row = make_compared_run(trial)
    Comparison.objects.filter(pk=row.pk).update(**columns)

    with pytest.raises(Conflict):
        says(mira, row)

    assert not is_asked(fresh(row))
    assert not Comparison.objects.filter(IS_ASKED).exists()


def test_what_waits_to_be_compared_waits_to_be_judged_too(trial: Trial, mira: Access) -> None:
    with pytest.raises(Conflict) as refused:
        says(mira, make_queued(trial))

    assert code_of(refused) == "comparison.waiting"


def test_a_trial_that_is_over_is_still_judged(project: Project, mira: Access) -> None:
    row = make_compared_run(make_trial(project, state="stopped"))

    assert says(mira, row).said == "new"


def test_what_people_said_reaches_the_figures_of_the_cutover(trial: Trial, mira: Access) -> None:
    says(mira, make_compared_run(trial, "fail", "pass"), "old")
    says(mira, make_compared_run(trial, "pass", "fail"), "neither")

    people = figures_of(trial).people

    assert (people.laxer_judged, people.laxer_unsafe) == (1, 1)
    assert (people.stricter_judged, people.stricter_wrong) == (1, 1)


# ---------------------------------------------------------------- taking back, and seeing


def test_what_is_taken_back_at_once_can_be_judged_again(trial: Trial, mira: Access) -> None:
    row = make_compared_run(trial)
    says(mira, row, "old")

    undone = services.undo(access=mira, trial=trial)

    assert undone == services.Undone(row, is_blind=True)
    assert (fresh(row).judged, fresh(row).judged_at) == ("", None)
    assert says(mira, row, "new").said == "new"


def test_going_on_lifts_the_veil_from_the_one_before(trial: Trial, mira: Access) -> None:
    first, second = make_compared_run(trial), make_compared_run(trial)
    says(mira, first)
    assert services.is_veiled(first, "mira")

    says(mira, second)

    assert not services.is_veiled(first, "mira")
    assert services.is_veiled(second, "mira")


def test_the_veil_lifts_by_itself_after_a_while(trial: Trial, mira: Access) -> None:
    row = make_compared_run(trial)
    says(mira, row)

    Judgement.objects.update(created_at=timezone.now() - services.FRESH)

    assert not services.is_veiled(row, "mira")


def test_whoever_takes_back_what_they_have_seen_since_judges_it_no_more(
    trial: Trial, mira: Access
) -> None:
    first, second = make_compared_run(trial), make_compared_run(trial)
    says(mira, first)
    says(mira, second)

    assert services.undo(access=mira, trial=trial) == services.Undone(second, is_blind=True)
    assert services.undo(access=mira, trial=trial) == services.Undone(first, is_blind=False)

    with pytest.raises(Conflict) as refused:
        says(mira, first)
    assert code_of(refused) == "comparison.revealed"
    assert says(mira, second).pk


def test_whoever_had_the_sides_shown_cannot_judge_and_others_can(
    trial: Trial, mira: Access, jonas: Access
) -> None:
    row = make_compared_run(trial)
    assert services.is_veiled(row, "mira")

    assert services.reveal(access=mira, comparison=row)
    assert not services.reveal(access=mira, comparison=row)

    assert not services.is_veiled(row, "mira")
    assert AuditEntry.objects.filter(verb="comparison.revealed").count() == 1
    with pytest.raises(Conflict) as refused:
        says(mira, row)
    assert code_of(refused) == "comparison.revealed"
    assert says(jonas, row).pk


def test_the_sides_shown_after_judging_leave_the_word_standing(trial: Trial, mira: Access) -> None:
    row = make_compared_run(trial)
    says(mira, row)
    services.reveal(access=mira, comparison=row)
    assert fresh(row).judged == "new"

    assert services.withdraw(access=mira, comparison=row) is False

    assert Reveal.objects.filter(comparison=row, reviewer="mira").count() == 1
    with pytest.raises(Conflict):
        says(mira, row)


def test_taking_back_leaves_what_others_said(trial: Trial, mira: Access, jonas: Access) -> None:
    row = make_compared_run(trial)
    says(mira, row, "old")
    says(jonas, row, "new")

    services.withdraw(access=mira, comparison=row)

    assert fresh(row).judged == "new"


def test_a_golden_case_has_its_own_word_back_when_a_persons_is_taken_back(
    project: Project, mira: Access
) -> None:
    make_case(project, "case", files=FILES, run={"output": "TODO"}, expected={"verdict": "accept"})
    active = project.verifiers.get(is_active=True)
    replay = over_corpus(make_trial(project, baseline=make_legacy(project), candidate=active))
    [columns] = compared(replay).values()
    Comparison.objects.filter(replay=replay).update(compared_at=timezone.now(), **columns)
    row = Comparison.objects.get(replay=replay)
    assert row.judged == "new"
    make_judgement(row, "old", "mira")
    assert fresh(row).judged == "old"

    services.withdraw(access=mira, comparison=row)

    assert (fresh(row).judged, fresh(row).judged_at) == ("new", None)
    version = GoldenCaseVersion.objects.get()
    GoldenCaseVersion.objects.update(spec=version.spec | {"expected": {"verdict": "reject"}})
    make_judgement(row, "both", "mira")
    services.withdraw(access=mira, comparison=row)
    assert fresh(row).judged == "old"


def test_keys_of_one_name_are_several_reviewers(project: Project, trial: Trial) -> None:
    keys = [
        create_api_key(project=project, name="mine", role=Role.REVIEWER, actor=SYSTEM)[0]
        for _ in range(2)
    ]
    ann, ben = (
        Access(project, Role.REVIEWER, Actor(f"key {key.name}", api_key=key)) for key in keys
    )
    row = make_compared_run(trial)

    says(ann, row, "new")
    says(ben, row, "old")

    assert fresh(row).judged == "disputed"
    assert {one.reviewer for one in services.standing(row)} == {
        f"key mine #{key.pk}" for key in keys
    }
    assert services.withdraw(access=ben, comparison=row) is True
    assert fresh(row).judged == "new"


def test_there_is_nothing_to_take_back_twice(trial: Trial, mira: Access) -> None:
    row = make_compared_run(trial)
    says(mira, row)

    assert services.withdraw(access=mira, comparison=row) is True
    assert services.withdraw(access=mira, comparison=row) is None

    with pytest.raises(NotFound):
        services.undo(access=mira, trial=trial)
    assert AuditEntry.objects.filter(verb="comparison.judgement_withdrawn").count() == 1


def test_undo_stays_within_the_trial_and_with_the_person(
    project: Project, trial: Trial, mira: Access, jonas: Access
) -> None:
    says(mira, make_compared_run(make_trial(project)))
    says(jonas, make_compared_run(trial))

    with pytest.raises(NotFound) as refused:
        services.undo(access=mira, trial=trial)

    assert code_of(refused) == "judgement.none"


def test_nobody_but_who_judges_has_anything_veiled(trial: Trial) -> None:
    assert not services.is_veiled(make_compared_run(trial, "pass", "pass"), "mira")
    assert not services.is_veiled(make_queued(trial), "mira")


# ---------------------------------------------------------------- blinding


def test_half_of_the_sides_are_shown_the_other_way_round(trial: Trial) -> None:
    rows = [Comparison(trial=trial) for _ in range(400)]

    shares = [sum(is_old_first(name, row) for row in rows) for name in ("mira", "jonas")]

    assert all(140 < share < 260 for share in shares)


def test_two_people_see_other_orders_and_each_always_the_same(trial: Trial) -> None:
    rows = [Comparison(trial=trial) for _ in range(64)]

    mira, jonas = ([is_old_first(name, row) for row in rows] for name in ("mira", "jonas"))

    assert mira != jonas
    assert mira == [is_old_first("mira", row) for row in rows]


def test_the_order_cannot_be_worked_out_without_the_secret(trial: Trial, settings: Any) -> None:
    rows = [Comparison(trial=trial) for _ in range(64)]
    before = [is_old_first("mira", row) for row in rows]

    settings.SECRET_KEY = "another secret of another installation"

    assert before != [is_old_first("mira", row) for row in rows]


@check_rows(
    ("answer", "old_first", "said"),
    [
        ("first", True, "old"),
        ("first", False, "new"),
        ("second", True, "new"),
        ("second", False, "old"),
        ("both", True, "both"),
        ("neither", False, "neither"),
        ("old", True, ""),
        ("disputed", True, ""),
        ("", True, ""),
    ],
    rollback=True,
)
def test_left_and_right_become_old_and_new(answer: str, old_first: bool, said: str) -> None:
    assert said_of(answer, old_first=old_first) == said


# ---------------------------------------------------------------- walking


def walked(trial: Trial, name: str = "mira", wish: Wish | None = None) -> list[Comparison]:
    """Everything that this reviewer gets, one after the other."""
    found: list[Comparison] = []
    while row := next_of(
        trial,
        name,
        wish or Wish(),
        after=found[-1].uuid if found else None,
        without=[one.uuid for one in found],
    ):
        found.append(row)
    return found


def test_moves_come_before_what_both_reject_and_nothing_else_comes(trial: Trial) -> None:
    for old, new in (*ASKED * 2, *NOT_ASKED):
        make_compared_run(trial, old, new)

    parts = [part_of(row) for row in walked(trial)]

    assert parts == [MOVES] * 10 + [REJECTS] * 2


@pytest.mark.extended
def test_the_place_in_the_walk_does_not_tell_the_class(trial: Trial, settings: Any) -> None:
    settings.SECRET_KEY = "lots that are drawn the same in every test"
    for number in range(40):
        for pair, (old, new) in enumerate((("fail", "pass"), ("pass", "fail"))):
            row = make_compared_run(trial, old, new)
            Comparison.objects.filter(pk=row.pk).update(uuid=UUID(int=2 * number + pair))

    classes = [row.diff_class for row in walked(trial)]

    changes = sum(one != other for one, other in itertools.pairwise(classes))
    assert changes > 20
    assert classes[:40].count("old_fail_new_pass") > 20  # which may be unsafe


def test_everybody_walks_in_an_order_of_their_own(trial: Trial) -> None:
    for _ in range(12):
        make_compared_run(trial)

    assert walked(trial, "mira") != walked(trial, "jonas")
    assert walked(trial, "mira") == walked(trial, "mira")


def test_what_was_skipped_comes_again_at_the_end(trial: Trial, mira: Access) -> None:
    rows = {make_compared_run(trial) for _ in range(3)}
    first = next_of(trial, "mira", Wish())
    assert first is not None
    second = next_of(trial, "mira", Wish(), after=first.uuid)
    assert second is not None
    third = next_of(trial, "mira", Wish(), after=second.uuid)
    assert third is not None
    assert {first, second, third} == rows

    says(mira, third)

    again = next_of(trial, "mira", Wish(), after=third.uuid)
    assert again == first


def test_the_only_one_left_is_not_its_own_next(trial: Trial) -> None:
    row = make_compared_run(trial)

    assert next_of(trial, "mira", Wish(), after=row.uuid) is None
    assert next_of(trial, "mira", Wish(), without=[row.uuid]) is None


def test_what_somebody_judged_waits_for_nobody_and_what_is_disputed_for_a_third(
    trial: Trial, mira: Access, jonas: Access
) -> None:
    agreed, disputed = make_compared_run(trial), make_compared_run(trial)
    says(mira, agreed)
    says(mira, disputed, "old")
    says(jonas, disputed, "new")

    assert walked(trial, "mira") == []
    assert walked(trial, "aiko") == [disputed]
    progress = progress_of(trial, Wish(), MOVES)
    assert (progress.judged, progress.total, progress.left) == (1, 2, 1)


def test_what_one_had_shown_is_left_out(trial: Trial, mira: Access) -> None:
    row = make_compared_run(trial)
    services.reveal(access=mira, comparison=row)

    assert walked(trial, "mira") == []
    assert walked(trial, "jonas") == [row]


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ("fail", "pass", MOVES),
        ("pass", "fail", MOVES),
        ("undecided", "pass", MOVES),
        ("fail", "fail", REJECTS),  # or false fails that both have would be acknowledged away
    ],
)
def test_nothing_is_acknowledged_out_of_the_walk(
    trial: Trial, old: str, new: str, part: str
) -> None:
    known, other = make_compared_run(trial, old, new), make_compared_run(trial, old, new)
    Comparison.objects.filter(pk=known.pk).update(kind="known")
    make_acknowledgement(fresh(known))

    assert set(walked(trial)) == {known, other}
    assert progress_of(trial, Wish(), part) == Progress(judged=0, total=2)


@check_rows(
    ("query", "part"),
    [
        ({}, ""),
        ({"move": "laxer"}, MOVES),
        ({"diff_class": "old_pass_new_fail"}, MOVES),
        ({"old": "fail", "new": "pass"}, MOVES),
        ({"old": "fail", "new": "fail"}, REJECTS),
        ({"diff_class": "both_fail_reason_diff"}, REJECTS),
        ({"diff_class": "new_undecided"}, MOVES),
        ({"old": "undecided", "new": "pass"}, MOVES),
        ({"old": "undecided", "new": "fail"}, ""),
        ({"part": "rejects"}, REJECTS),
        ({"part": "nonsense"}, ""),
        ({"diff_class": "no_diff"}, ""),
    ],
    rollback=True,
)
def test_a_filter_that_would_tell_the_sides_is_taken_both_ways(
    query: dict[str, str], part: str
) -> None:
    wish = Wish.of(query)

    assert wish.part == part
    assert wish.query == (f"?part={part}" if part else "")


def test_asked_for_laxer_moves_stricter_ones_come_too(trial: Trial) -> None:
    rows = {make_compared_run(trial, "fail", "pass"), make_compared_run(trial, "pass", "fail")}
    make_compared_run(trial, "fail", "fail")

    assert set(walked(trial, wish=Wish.of({"move": "laxer"}))) == rows


@check_rows(
    ("query", "count"),
    [
        ({"phase": "write"}, 1),
        ({"phase": "build"}, 2),
        ({"process": "small-work"}, 3),
        ({"process": "other"}, 0),
        ({"rule": "tone"}, 1),
        ({"kind": "fail-pass"}, 3),
        ({"origin": "past"}, 0),
        ({"origin": "live"}, 3),
        ({"origin": "corpus"}, 3),
        ({"replay": "not-a-uuid"}, 0),
        ({"replay": "00000000-0000-4000-8000-000000000000"}, 0),
        ({"phase": "bu\x00ild"}, 2),
    ],
    ids=str,
    rollback=True,
)
def test_filters_narrow_the_walk(trial: Trial, query: dict[str, str], count: int) -> None:
    for phase, rule in (("build", "sources"), ("write", "sources"), ("build", "tone")):
        row = make_compared_run(trial)
        Comparison.objects.filter(pk=row.pk).update(phase=phase, rules=[rule])

    assert len(walked(trial, wish=Wish.of(query))) == count


def test_the_walk_ends_where_the_place_it_went_on_from_is_gone(trial: Trial) -> None:
    row, gone = make_compared_run(trial), make_compared_run(trial)
    gone.delete()

    assert next_of(trial, "mira", Wish(), after=gone.uuid) == row


# ---------------------------------------------------------------- notes and acknowledgements


@pytest.mark.parametrize(("text", "code"), [("", "note.empty"), (" \n ", "note.empty")])
def test_a_note_says_something(trial: Trial, mira: Access, text: str, code: str) -> None:
    with pytest.raises(InputError) as refused:
        services.add_note(access=mira, comparison=make_compared_run(trial), text=text)

    assert code_of(refused) == code


def test_what_the_project_redacts_is_in_no_note(trial: Trial, mira: Access) -> None:
    mira.project.redaction_patterns = ["sk-[a-z]+"]

    made = services.add_note(access=mira, comparison=make_compared_run(trial), text="See sk-abc.")

    assert made.text == "See [redacted]."


def known(access: Access, trial: Trial, kind: str, **more: Any) -> Acknowledgement:
    given = {"reason": "Rule 4 is being rewritten.", "days": 14, **more}
    return acknowledging.acknowledge(access=access, trial=trial, kind=kind, **given)


def test_a_difference_is_known_for_some_days(trial: Trial, ed: Access) -> None:
    row = make_comparison(trial, "fail", "pass", summary="no-placeholders: hard → advisory")

    made = known(ed, trial, row.kind)

    assert made.summary == "no-placeholders: hard → advisory"
    left = made.until - timezone.now()
    assert timedelta(days=13, hours=23) < left <= timedelta(days=14)
    entry = AuditEntry.objects.get(verb="acknowledgement.made")
    assert (entry.reason, entry.actor) == ("Rule 4 is being rewritten.", "ed")


def test_what_is_acknowledged_counts_all_the_same(trial: Trial, ed: Access) -> None:
    row = make_comparison(trial, "fail", "pass")

    known(ed, trial, row.kind)

    assert figures_of(trial).pairs.laxer == 1


@pytest.mark.parametrize("days", [0, -1, 181, 10**9])
def test_nothing_is_known_for_ever(trial: Trial, ed: Access, days: int) -> None:
    row = make_comparison(trial, "fail", "pass")

    with pytest.raises(InputError) as refused:
        known(ed, trial, row.kind, days=days)

    assert code_of(refused) == "acknowledgement.days_invalid"


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("", "acknowledgement.no_reason"),
        ("  ", "acknowledgement.no_reason"),
        ("x" * 1001, "acknowledgement.reason_too_long"),
    ],
    ids=["none", "blank", "long"],
)
def test_an_acknowledgement_has_a_reason(trial: Trial, ed: Access, reason: str, code: str) -> None:
    row = make_comparison(trial, "fail", "pass")

    with pytest.raises(InputError) as refused:
        known(ed, trial, row.kind, reason=reason)

    assert code_of(refused) == code


@pytest.mark.parametrize("kind", ["", "unknown", "fail-pa\x00ss"])
def test_only_a_difference_of_this_trial_is_acknowledged(
    project: Project, trial: Trial, ed: Access, kind: str
) -> None:
    make_comparison(make_trial(project), "fail", "pass")
    make_comparison(trial, "pass", "pass")

    with pytest.raises(NotFound) as refused:
        known(ed, trial, kind)

    assert code_of(refused) == "kind.unknown"


def test_the_same_difference_is_acknowledged_once(trial: Trial, ed: Access) -> None:
    row = make_comparison(trial, "fail", "pass")
    known(ed, trial, row.kind)

    with pytest.raises(Conflict) as refused:
        known(ed, trial, row.kind)

    assert code_of(refused) == "acknowledgement.exists"


def test_one_that_has_run_out_makes_room(trial: Trial, ed: Access) -> None:
    row = make_comparison(trial, "fail", "pass")
    earlier = make_acknowledgement(row, until=timezone.now() - timedelta(minutes=1))

    made = known(ed, trial, row.kind)

    assert list(acknowledging.in_force(trial)) == [made]
    assert Acknowledgement.objects.get(pk=earlier.pk).withdrawn_at is not None


def test_an_acknowledgement_is_withdrawn_once(trial: Trial, ed: Access) -> None:
    made = known(ed, trial, make_comparison(trial, "fail", "pass").kind)

    assert acknowledging.withdraw(access=ed, trial=trial, number=made.pk)
    assert not acknowledging.withdraw(access=ed, trial=trial, number=made.pk)

    assert not acknowledging.in_force(trial).exists()
    assert AuditEntry.objects.filter(verb="acknowledgement.withdrawn").count() == 1


@pytest.mark.parametrize("number", [0, 10**9, 10**30])
def test_an_acknowledgement_of_another_trial_is_none(trial: Trial, ed: Access, number: int) -> None:
    with pytest.raises(NotFound):
        acknowledging.withdraw(access=ed, trial=trial, number=number)


def test_acknowledging_needs_an_editor(trial: Trial, mira: Access) -> None:
    row = make_comparison(trial, "fail", "pass")
    made = make_acknowledgement(row)

    with pytest.raises(Forbidden):
        known(mira, trial, row.kind)
    with pytest.raises(Forbidden):
        acknowledging.withdraw(access=mira, trial=trial, number=made.pk)


def test_the_builders_judgement_is_one_like_any(trial: Trial, mira: Access) -> None:
    row = make_compared_run(trial)
    make_judgement(row, "old", "ann")

    says(mira, row, "new")

    assert fresh(row).judged == "disputed"
