from django.apps import AppConfig


class RunsConfig(AppConfig):
    name = "verification.runs"
    label = "runs"
