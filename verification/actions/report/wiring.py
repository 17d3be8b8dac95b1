"""What the report hands to the rooms below, once Django has started."""

from __future__ import annotations


def register() -> None:
    from verification.actions.formats import mail
    from verification.actions.report import forgetting, mailing, preferences, schedule, warnings
    from verification.reviews.notices import lists, quiet
    from verification.runs import outbox

    outbox.on_sweep(schedule.sweep)
    outbox.on_sweep(warnings.sweep)
    outbox.on_sweep(mailing.sweep)
    outbox.on_sweep(forgetting.sweep)
    told = lists.MailList("nights and budgets", preferences.turn_off)
    lists.register(mailing.LIST, told)
    lists.register(mail.LIST, lists.MailList("what happens", mail.turn_off))
    quiet.register(preferences.quiet_projects)
