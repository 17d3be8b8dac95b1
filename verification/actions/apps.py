from django.apps import AppConfig


class ActionsConfig(AppConfig):
    name = "verification.actions"
    label = "actions"

    def ready(self) -> None:
        from verification.actions import services
        from verification.actions.landing import opening, selectors, working
        from verification.actions.models import Change
        from verification.actions.report import wiring
        from verification.actions.repositories import taking, tidying
        from verification.runs import outbox, retention
        from verification.runs.exporting import archive
        from verification.runs.intake import changes

        outbox.subscribe(services.on_event)
        outbox.on_sweep(services.sweep)
        wiring.register()
        outbox.subscribe(opening.on_event)
        outbox.on_sweep(working.sweep)
        changes.register(taking.take)
        archive.register(selectors.evidence_of_run)
        retention.NAMED_ELSEWHERE.append(Change)
        retention.TIDIED_ELSEWHERE.append(tidying.tidy)
