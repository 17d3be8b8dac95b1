from django.apps import AppConfig


class GoldenConfig(AppConfig):
    name = "verification.golden"
    label = "golden"

    def ready(self) -> None:
        from loomverify.accounts.hooks import on_project_created
        from verification.golden.cases import shipping
        from verification.golden.guards import words
        from verification.golden.models import GoldenFile
        from verification.golden.replays import notices, working
        from verification.reviews.notices import lists
        from verification.runs import outbox, retention

        on_project_created(shipping.ship_to_new)
        words.register()
        told = lists.MailList("regressions", notices.turn_off, page="golden_schedule")
        lists.register(notices.LIST, told)
        retention.NAMED_ELSEWHERE.append(GoldenFile)
        outbox.on_sweep(working.sweep)
        outbox.on_sweep(notices.sweep)
