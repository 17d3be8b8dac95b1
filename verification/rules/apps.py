from django.apps import AppConfig


class RulesConfig(AppConfig):
    name = "verification.rules"
    label = "rules"
