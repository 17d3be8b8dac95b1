from django.apps import AppConfig


class ProcessesConfig(AppConfig):
    name = "processes"

    def ready(self) -> None:
        from loomverify.accounts.hooks import on_project_created
        from processes.services import ensure_builtin_processes

        on_project_created(ensure_builtin_processes)
