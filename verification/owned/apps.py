from django.apps import AppConfig


class OwnedConfig(AppConfig):
    name = "verification.owned"
    label = "owned"
