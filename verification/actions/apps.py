from django.apps import AppConfig


class ActionsConfig(AppConfig):
    name = "verification.actions"
    label = "actions"

    def ready(self) -> None:
        from verification.actions import services
        from verification.actions.report import wiring
        from verification.runs import outbox

        outbox.subscribe(services.on_event)
        outbox.on_sweep(services.sweep)
        wiring.register()
