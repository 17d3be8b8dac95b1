from django.apps import AppConfig


class RulesConfig(AppConfig):
    name = "verification.rules"
    label = "rules"

    def ready(self) -> None:
        from processes import linting
        from verification.rules.backtest import lint
        from verification.rules.examples import following, guard, live
        from verification.rules.figures import counting
        from verification.runs import figures

        linting.register(lint.never_tried)
        following.register()
        guard.register()
        live.register()
        figures.on_recount(counting.recount)
