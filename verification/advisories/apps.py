from django.apps import AppConfig


class AdvisoriesConfig(AppConfig):
    name = "verification.advisories"
    label = "advisories"
