from django.apps import AppConfig


class RulesConfig(AppConfig):
    name = "verification.rules"
    label = "rules"

    def ready(self) -> None:
        from processes import linting
        from verification.rules.backtest import lint
        from verification.rules.examples import following, guard, live
        from verification.rules.figures import counting
        from verification.rules.samples import waking
        from verification.runs import figures, outbox

        linting.register(lint.never_tried)
        following.register()
        guard.register()
        live.register()
        counting.register()
        figures.on_recount(counting.recount)
        outbox.on_sweep(waking.sweep)
