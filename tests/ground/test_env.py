from __future__ import annotations

from ipaddress import ip_network
from pathlib import Path

import pytest

from loomverify.data_folder import keep_secret
from loomverify.env import JudgeConnection, read_environment
from loomverify.variables import ConfigurationError
from tests.tables import check_rows

KEY = "lv_" + "k" * 32
PRODUCTION = {
    "LOOMVERIFY_ENV": "production",
    "DATABASE_URL": "postgresql://user:word@host/loomverify",
    "LOOMVERIFY_SECRET_KEY": "s" * 50,
}


def test_nothing_needs_to_be_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    env = read_environment({})

    assert (env.production, env.port, env.base_url) == (False, 8000, "http://localhost:8000")
    assert env.data == tmp_path / "var"
    assert (env.database_url, env.redis_url, env.email_url, env.judge) == ("", "", "", None)
    assert env.secret_key == (tmp_path / "var" / "secret-key").read_text()


def test_an_empty_variable_is_an_unset_one(tmp_path: Path) -> None:
    plain = read_environment({"LOOMVERIFY_DATA": str(tmp_path)})
    names = ["PORT", "BASE_URL", "DATABASE_URL", "REDIS_URL", "EMAIL_URL", "LOOMVERIFY_ENV"]

    env = read_environment({"LOOMVERIFY_DATA": str(tmp_path), **dict.fromkeys(names, "")})

    assert env == plain


NETWORKS = ("10.1.0.0/16", "fd00:1::/64", "192.168.7.9")


@check_rows(
    ("name", "value", "field", "setting"),
    [
        ("PORT", "8001", "port", 8001),
        ("BASE_URL", "https://verify.example.com/", "base_url", "https://verify.example.com"),
        ("BASE_URL", "http://[::1]:8000", "base_url", "http://[::1]:8000"),
        (
            "ALLOWED_HOSTS",
            "verify.example.com, .example.org, [::1], *",
            "allowed_hosts",
            ("verify.example.com", ".example.org", "[::1]", "*"),
        ),
        (
            "CSRF_TRUSTED_ORIGINS",
            "https://*.example.com",
            "csrf_trusted_origins",
            ("https://*.example.com",),
        ),
        *(
            ("DATABASE_URL", url, "database_url", url)
            for url in (
                "postgres://u:p@host:5432/name?sslmode=require",
                "postgresql:///name?host=/var/run/postgresql",
            )
        ),
        *(
            ("REDIS_URL", url, "redis_url", url)
            for url in ("redis://localhost", "rediss://:word@host:6380/1", "unix:///run/redis.sock")
        ),
        *(
            ("EMAIL_URL", url, "email_url", url)
            for url in ("submission://user:word@host:587", "console://")
        ),
        ("LOOMVERIFY_ENV", "development", "production", False),
        ("LOOMVERIFY_API_KEY", KEY, "api_key", KEY),
        (
            "LOOMVERIFY_JUDGE_API_BASE",
            "http://localhost:1234/v1",
            "judge",
            JudgeConnection("m", "http://localhost:1234/v1", ""),
        ),
        ("LOOMVERIFY_SANDBOX", "off", "sandbox", "off"),
        ("LOOMVERIFY_ADVISORIES_MAX_AGE", "3650", "advisories_max_age_days", 3650),
        ("LOOMVERIFY_REVIEW_SAMPLE_RATE", "1", "review_sample_rate", 1.0),
        ("LOOMVERIFY_REVIEW_SAMPLE_RATE", "0.000001", "review_sample_rate", 0.000001),
        (
            "LOOMVERIFY_PRIVATE_NETWORKS",
            ", ".join(NETWORKS),
            "private_networks",
            tuple(map(ip_network, NETWORKS)),
        ),
        (
            "LOOMVERIFY_WORKER_SSH_PROJECTS",
            "default, another_one",
            "worker_ssh_projects",
            ("default", "another_one"),
        ),
        ("LOOMVERIFY_WORKER_SSH_PROJECTS", "*", "worker_ssh_projects", ("*",)),
        ("LOOMVERIFY_KNOWN_HOSTS", "/srv/known hosts", "known_hosts", Path("/srv/known hosts")),
        (
            "LOOMVERIFY_PANEL_MODELS",
            "openai/gpt-4o, ollama/llama3",
            "panel_models",
            ("openai/gpt-4o", "ollama/llama3"),
        ),
    ],
)
def test_a_valid_value_becomes_its_setting(
    tmp_path: Path, name: str, value: str, field: str, setting: object
) -> None:
    variables = {"LOOMVERIFY_DATA": str(tmp_path), "LOOMVERIFY_JUDGE_MODEL": "m", name: value}

    assert getattr(read_environment(variables), field) == setting


@check_rows(
    ("name", "value"),
    [
        ("LOOMVERIFY_PRIVATE_NETWORKS", "10.1.0.0/8"),
        ("LOOMVERIFY_WORKER_SSH_PROJECTS", "the one"),
        ("LOOMVERIFY_WORKER_SSH_PROJECTS", "none, default"),
        ("LOOMVERIFY_KNOWN_HOSTS", "known_hosts"),
        ("LOOMVERIFY_KNOWN_HOSTS", "/srv/known\nhosts"),
        ("LOOMVERIFY_PRIVATE_NETWORKS", "intranet"),
        ("PORT", "0"),
        ("PORT", "99999"),
        ("PORT", "-1"),
        ("PORT", "abc"),
        ("PORT", "80 "),
        ("PORT", "٨٠"),
        ("PORT", "9" * 5000),
        ("BASE_URL", "verify.example.com"),
        ("BASE_URL", "ftp://verify.example.com"),
        ("BASE_URL", "https://"),
        ("BASE_URL", "https://host:port"),
        ("BASE_URL", "https://host/below"),
        ("BASE_URL", "https://user:word@host"),
        ("ALLOWED_HOSTS", "https://verify.example.com"),
        ("ALLOWED_HOSTS", "verify.example.com:8000"),
        ("CSRF_TRUSTED_ORIGINS", "verify.example.com"),
        ("DATABASE_URL", "mysql://host/name"),
        ("DATABASE_URL", "sqlite:///file"),
        ("DATABASE_URL", "postgresql://host:port/name"),
        ("DATABASE_URL", "host"),
        ("REDIS_URL", "localhost:6379"),
        ("REDIS_URL", "redis://"),
        ("REDIS_URL", "redis://host:99999/0"),
        ("REDIS_URL", "redis://host/first"),
        ("REDIS_URL", "redis://[::1"),
        ("EMAIL_URL", "mail.example.com"),
        ("EMAIL_URL", "pigeon://host"),
        ("EMAIL_URL", "smtp://"),
        ("EMAIL_URL", "smtp://host:port"),
        ("LOOMVERIFY_ENV", "prod"),
        ("LOOMVERIFY_API_KEY", "lv_short"),
        ("LOOMVERIFY_API_KEY", "k" * 40),
        ("LOOMVERIFY_API_KEY", KEY + " "),
        ("LOOMVERIFY_JUDGE_API_BASE", "localhost:1234"),
        ("LOOMVERIFY_ALTERNATE_JUDGE_API_BASE", "localhost:1234"),
        ("LOOMVERIFY_REVERIFY_DEADLINE", "soon"),
        ("LOOMVERIFY_REVERIFY_DEADLINE", "-1"),
        ("LOOMVERIFY_SANDBOX", "podman"),
        ("LOOMVERIFY_ADVISORIES_MAX_AGE", "0"),
        ("LOOMVERIFY_REVIEW_SAMPLE_RATE", "1.1"),
        ("LOOMVERIFY_REVIEW_SAMPLE_RATE", "-0.1"),
        ("LOOMVERIFY_REVIEW_SAMPLE_RATE", "2%"),
        ("LOOMVERIFY_REVIEW_SAMPLE_RATE", "nan"),
        ("LOOMVERIFY_JUDGE_API_BASE", "http://user:word@localhost:1234/v1"),
        ("LOOMVERIFY_JUDGE_API_BASE", "http://" + "h" * 500),
        ("LOOMVERIFY_JUDGE_MODEL", "m" * 121),
        ("LOOMVERIFY_ALTERNATE_JUDGE_MODEL", "two words"),
        ("LOOMVERIFY_PANEL_MODELS", "openai/gpt-4o, two words"),
        ("LOOMVERIFY_JUDGE_PRIVATE_HOSTS", "perhaps"),
    ],
)
def test_a_senseless_value_is_one_sentence_about_its_variable(
    tmp_path: Path, name: str, value: str
) -> None:
    models = {"LOOMVERIFY_JUDGE_MODEL": "m", "LOOMVERIFY_ALTERNATE_JUDGE_MODEL": "m"}

    with pytest.raises(ConfigurationError) as caught:
        read_environment({"LOOMVERIFY_DATA": str(tmp_path), **models, name: value})

    assert str(caught.value).startswith(f"{name} ")
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("text", "rate"), [("", 0.02), ("0", 0.0), ("0.25", 0.25), ("1.0", 1.0)])
def test_a_share_of_decided_runs_is_looked_at_unless_it_is_nought(
    tmp_path: Path, text: str, rate: float
) -> None:
    env = read_environment(
        {"LOOMVERIFY_DATA": str(tmp_path), "LOOMVERIFY_REVIEW_SAMPLE_RATE": text}
    )

    assert env.review_sample_rate == rate


@pytest.mark.parametrize("missing", ["DATABASE_URL", "LOOMVERIFY_SECRET_KEY"])
def test_production_insists(tmp_path: Path, missing: str) -> None:
    variables = {**PRODUCTION, "LOOMVERIFY_DATA": str(tmp_path), missing: ""}

    with pytest.raises(ConfigurationError, match=f"^{missing} is required"):
        read_environment(variables)


def test_a_wrong_address_does_not_repeat_its_password(tmp_path: Path) -> None:
    variables = {"LOOMVERIFY_DATA": str(tmp_path), "DATABASE_URL": "mysql://u:hidden@host/name"}

    with pytest.raises(ConfigurationError) as caught:
        read_environment(variables)

    assert "hidden" not in str(caught.value)


def test_a_kept_secret_is_made_once_and_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "below" / "secret"

    first = keep_secret(path, lambda: "first")
    second = keep_secret(path, lambda: "second")

    assert (first, second) == ("first", "first")
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(path.parent.iterdir()) == [path]


def test_an_empty_secret_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret").touch()

    with pytest.raises(ConfigurationError, match="is empty"):
        keep_secret(tmp_path / "secret", lambda: "made")


@pytest.mark.parametrize(
    ("variables", "allowed"),
    [
        ({}, True),
        ({"LOOMVERIFY_JUDGE_PRIVATE_HOSTS": "no"}, False),
        (PRODUCTION, False),
        ({**PRODUCTION, "LOOMVERIFY_JUDGE_PRIVATE_HOSTS": "yes"}, True),
    ],
)
def test_judges_in_the_private_network_are_the_operators_to_allow(
    tmp_path: Path, variables: dict[str, str], allowed: bool
) -> None:
    env = read_environment({"LOOMVERIFY_DATA": str(tmp_path), **variables})

    assert env.judge_private_hosts is allowed


@pytest.mark.parametrize(
    ("variables", "projects"),
    [
        ({}, ("*",)),
        (PRODUCTION, ("default",)),
        ({**PRODUCTION, "LOOMVERIFY_WORKER_SSH_PROJECTS": "default, ours"}, ("default", "ours")),
        ({**PRODUCTION, "LOOMVERIFY_WORKER_SSH_PROJECTS": "none"}, ()),
        ({"LOOMVERIFY_WORKER_SSH_PROJECTS": "none"}, ()),
    ],
)
def test_in_production_the_first_project_alone_uses_the_workers_ssh_key_unless_told(
    tmp_path: Path, variables: dict[str, str], projects: tuple[str, ...]
) -> None:
    env = read_environment({**variables, "LOOMVERIFY_DATA": str(tmp_path)})

    assert env.worker_ssh_projects == projects
