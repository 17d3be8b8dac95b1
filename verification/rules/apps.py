from django.apps import AppConfig


class RulesConfig(AppConfig):
    name = "verification.rules"
    label = "rules"

    def ready(self) -> None:
        from verification.rules.examples import guard, live
        from verification.rules.figures import counting
        from verification.runs import figures

        guard.register()
        live.register()
        figures.on_recount(counting.recount)
