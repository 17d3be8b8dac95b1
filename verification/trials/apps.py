from django.apps import AppConfig


class TrialsConfig(AppConfig):
    name = "verification.trials"
    label = "trials"

    def ready(self) -> None:
        from verification.runs import figures, outbox, retention
        from verification.trials import tallies
        from verification.trials.acceptance import hours
        from verification.trials.models import CaseQuestion
        from verification.trials.services import standing, watching
        from verification.trials.working import working

        outbox.on_sweep(standing.sweep)
        outbox.on_sweep(working.sweep)
        outbox.on_sweep(watching.sweep)
        outbox.on_sweep(hours.sweep)
        outbox.on_sweep(tallies.sweep)
        figures.on_recount(hours.recount)
        retention.NAMED_ELSEWHERE.append(CaseQuestion)
