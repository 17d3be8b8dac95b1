from django.apps import AppConfig


class VerifiersConfig(AppConfig):
    name = "verification.verifiers"
    label = "verifiers"

    def ready(self) -> None:
        from loomverify.accounts.hooks import on_project_created
        from verification.verifiers.services import ensure_verifiers

        on_project_created(ensure_verifiers)
