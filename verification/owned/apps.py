from django.apps import AppConfig


class OwnedConfig(AppConfig):
    name = "verification.owned"
    label = "owned"

    def ready(self) -> None:
        from verification.owned import removal
        from verification.runs import retention

        retention.TIDIED_ELSEWHERE.append(removal.sweep_left)
