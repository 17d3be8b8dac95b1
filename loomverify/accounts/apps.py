from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "loomverify.accounts"
    label = "accounts"
