"""Every environment variable, read and checked in one place."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from loomverify.addresses import Network
from loomverify.data_folder import keep_secret
from loomverify.variables import MAX_NAME_LENGTH, ConfigurationError, Variables, parts_of

API_KEY_PATTERN = re.compile(r"lv_[A-Za-z0-9_-]{32,}")
HOST_PATTERN = re.compile(r"\*|\.?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\]")
WEB = ("http", "https")
POSTGRESQL = ("postgresql", "postgres")
REDIS = ("redis", "rediss", "unix")
MAIL = ("smtp", "submission", "submit", "smtps", "console", "file", "memory", "dummy")
SLUG_PATTERN = re.compile(r"[-a-zA-Z0-9_]{1,60}")
NO_PROJECT = "none"
VERIFIER_PATTERN = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")
SANDBOXED = ("python", "node", "go", "rust", "java", "gradle", "ruby", "php", "dotnet", "make")
MAX_MODEL_LENGTH = 120
MAX_ADDRESS_LENGTH = 500


@dataclass(frozen=True, slots=True)
class JudgeConnection:
    model: str
    api_base: str
    api_key: str


@dataclass(frozen=True, slots=True)
class Environment:
    """The process environment, checked. Source: README, "Settings"."""

    production: bool
    port: int
    base_url: str
    allowed_hosts: tuple[str, ...]
    csrf_trusted_origins: tuple[str, ...]
    data: Path
    database_url: str
    redis_url: str
    secret_key: str
    admin_password: str
    api_key: str
    email_url: str
    judge: JudgeConnection | None
    alternate_judge: JudgeConnection | None
    panel_models: tuple[str, ...]
    judge_private_hosts: bool
    """Whether a project's own judges may lie in the private network."""
    repository_folders: tuple[Path, ...] | None
    worker_ssh_projects: tuple[str, ...]
    """Slugs of the projects that reach repositories by the workers' own SSH key, or `*`."""
    known_hosts: Path | None
    """Servers of ssh and their keys, where not those that the workers' user knows."""
    private_networks: tuple[Network, ...]
    """Networks that webhooks and repositories may reach though they are not public."""
    reverify_deadline_seconds: int
    review_sample_rate: float
    """Share of decided runs that a person looks at, where the process does not say, 0 to 1."""
    sandbox: str
    sandbox_images: tuple[tuple[str, str], ...]
    """Language and image, those alone that were named."""
    sandbox_runtime: str
    sandbox_proxy: str
    sandbox_network: str
    verifiers: tuple[tuple[str, str], ...]
    """Name and `package.module:callable` of the operator's own, in their order."""
    verifier_seconds: int
    advisories_max_age_days: int
    """Older knowledge of vulnerabilities does not say that there are none."""


def read_environment(values: Mapping[str, str]) -> Environment:
    """Read and check every variable.

    Raises:
        ConfigurationError: a value is missing or makes no sense.
    """
    variables = Variables(values)
    production = variables.one_of("LOOMVERIFY_ENV", ("development", "production")) == "production"
    port = variables.integer("PORT", default=8000, low=1, high=65535)
    data = Path(variables.text("LOOMVERIFY_DATA") or "var").absolute()
    base_url = (variables.text("BASE_URL") or f"http://localhost:{port}").rstrip("/")
    _check_base_url(base_url)
    database_url = variables.url("DATABASE_URL", POSTGRESQL)
    if production and not database_url:
        raise ConfigurationError("DATABASE_URL is required when LOOMVERIFY_ENV is production.")
    api_key = variables.text("LOOMVERIFY_API_KEY")
    if api_key and not API_KEY_PATTERN.fullmatch(api_key):
        raise ConfigurationError(
            "LOOMVERIFY_API_KEY must be lv_ and 32 or more letters, digits, - or _."
        )
    return Environment(
        production=production,
        port=port,
        base_url=base_url,
        allowed_hosts=_hosts(variables),
        csrf_trusted_origins=_origins(variables),
        data=data,
        database_url=database_url,
        redis_url=_redis_url(variables),
        secret_key=_secret_key(variables, data, production=production),
        admin_password=variables.text("LOOMVERIFY_ADMIN_PASSWORD"),
        api_key=api_key,
        email_url=variables.url("EMAIL_URL", MAIL),
        judge=_judge(variables, "LOOMVERIFY_JUDGE"),
        alternate_judge=_judge(variables, "LOOMVERIFY_ALTERNATE_JUDGE"),
        panel_models=_panel(variables),
        judge_private_hosts=variables.one_of(
            "LOOMVERIFY_JUDGE_PRIVATE_HOSTS",
            ("no", "yes") if production else ("yes", "no"),
        )
        == "yes",
        repository_folders=_folders(variables, "LOOMVERIFY_REPOSITORIES", production=production),
        worker_ssh_projects=_projects(
            variables, "LOOMVERIFY_WORKER_SSH_PROJECTS", default="default" if production else "*"
        ),
        known_hosts=variables.file("LOOMVERIFY_KNOWN_HOSTS"),
        private_networks=variables.networks("LOOMVERIFY_PRIVATE_NETWORKS"),
        reverify_deadline_seconds=variables.integer(
            "LOOMVERIFY_REVERIFY_DEADLINE", default=900, low=0, high=7 * 86400
        ),
        review_sample_rate=variables.share("LOOMVERIFY_REVIEW_SAMPLE_RATE", default="0.02"),
        sandbox=variables.one_of("LOOMVERIFY_SANDBOX", ("docker", "off")),
        sandbox_images=_images(variables),
        sandbox_runtime=variables.word("LOOMVERIFY_SANDBOX_RUNTIME"),
        sandbox_proxy=variables.url("LOOMVERIFY_SANDBOX_PROXY", WEB),
        sandbox_network=variables.word("LOOMVERIFY_SANDBOX_NETWORK"),
        verifiers=_verifiers(variables),
        verifier_seconds=variables.integer(
            "LOOMVERIFY_VERIFIER_SECONDS", default=60, low=1, high=600
        ),
        advisories_max_age_days=variables.integer(
            "LOOMVERIFY_ADVISORIES_MAX_AGE", default=14, low=1, high=3650
        ),
    )


@cache
def environment() -> Environment:
    return read_environment(os.environ)


def _check_base_url(value: str) -> None:
    parts = parts_of(value, "BASE_URL", WEB)
    if parts.path or parts.query or parts.fragment or parts.username is not None:
        raise ConfigurationError(
            "BASE_URL must be a scheme, a host and a port alone, such as https://verify.example.com."
        )


def _redis_url(variables: Variables) -> str:
    value = variables.url("REDIS_URL", REDIS)
    parts = urlsplit(value)
    if parts.scheme in REDIS[:2] and not re.fullmatch(r"(/[0-9]{0,5})?", parts.path):
        raise ConfigurationError("REDIS_URL must end with a database number, such as /0.")
    return value


def _hosts(variables: Variables) -> tuple[str, ...]:
    hosts = variables.listed("ALLOWED_HOSTS")
    for host in hosts:
        if not HOST_PATTERN.fullmatch(host):
            raise ConfigurationError(
                f"ALLOWED_HOSTS must be host names without scheme and port, not {host!r}."
            )
    return hosts


def _origins(variables: Variables) -> tuple[str, ...]:
    origins = variables.listed("CSRF_TRUSTED_ORIGINS")
    for origin in origins:
        parts_of(origin, "CSRF_TRUSTED_ORIGINS", WEB)
    return origins


def _judge(variables: Variables, prefix: str) -> JudgeConnection | None:
    model = variables.text(f"{prefix}_MODEL")
    if not model:
        return None
    _check_model(model, f"{prefix}_MODEL")
    return JudgeConnection(
        model=model,
        api_base=_judge_address(variables, f"{prefix}_API_BASE"),
        api_key=variables.text(f"{prefix}_API_KEY"),
    )


def _check_model(model: str, name: str) -> None:
    if len(model) > MAX_MODEL_LENGTH or not model.isprintable() or " " in model:
        raise ConfigurationError(
            f"{name} must be a model in litellm's words, such as openai/gpt-4o, of at most "
            f"{MAX_MODEL_LENGTH} characters."
        )


def _judge_address(variables: Variables, name: str) -> str:
    """It is shown on pages, so that nothing secret may be in it."""
    value = variables.url(name, WEB)
    parts = urlsplit(value)
    if parts.username is not None or len(value) > MAX_ADDRESS_LENGTH:
        raise ConfigurationError(
            f"{name} must hold no user name or password, and at most "
            f"{MAX_ADDRESS_LENGTH} characters."
        )
    return value


def _panel(variables: Variables) -> tuple[str, ...]:
    models = variables.listed("LOOMVERIFY_PANEL_MODELS")
    for model in models:
        _check_model(model, "LOOMVERIFY_PANEL_MODELS")
    return models


def _folders(variables: Variables, name: str, *, production: bool) -> tuple[Path, ...] | None:
    """None: any folder. Where others sign in, the operator says which."""
    named = tuple(Path(one) for one in variables.listed(name))
    for folder in named:
        if not folder.is_absolute():
            raise ConfigurationError(f"{name}: {folder} is not an absolute path.")
    return named if named or production else None


def _projects(variables: Variables, name: str, *, default: str) -> tuple[str, ...]:
    named = variables.listed(name) or (default,)
    for slug in named:
        if slug not in ("*", NO_PROJECT) and not SLUG_PATTERN.fullmatch(slug):
            raise ConfigurationError(
                f"{name} must be a comma list of projects' short names, * or {NO_PROJECT}."
            )
    if NO_PROJECT in named and len(named) > 1:
        raise ConfigurationError(f"{name} must be {NO_PROJECT} alone, or without it.")
    return () if named == (NO_PROJECT,) else named


def _images(variables: Variables) -> tuple[tuple[str, str], ...]:
    named = ((one, variables.word(f"LOOMVERIFY_SANDBOX_IMAGE_{one.upper()}")) for one in SANDBOXED)
    return tuple((language, image) for language, image in named if image)


def _verifiers(variables: Variables) -> tuple[tuple[str, str], ...]:
    found: dict[str, str] = {}
    for entry in variables.listed("LOOMVERIFY_VERIFIERS"):
        name, _, target = (part.strip() for part in entry.partition("="))
        if not 0 < len(name) <= MAX_NAME_LENGTH or not VERIFIER_PATTERN.fullmatch(target):
            raise ConfigurationError(
                "LOOMVERIFY_VERIFIERS must be a comma list of name=package.module:callable, "
                f"not {entry[:MAX_NAME_LENGTH]!r}."
            )
        if name in found:
            raise ConfigurationError(f"LOOMVERIFY_VERIFIERS names {name!r} twice.")
        found[name] = target
    return tuple(found.items())


def _secret_key(variables: Variables, data: Path, *, production: bool) -> str:
    key = variables.text("LOOMVERIFY_SECRET_KEY")
    if key:
        return key
    if production:
        raise ConfigurationError(
            "LOOMVERIFY_SECRET_KEY is required when LOOMVERIFY_ENV is production."
        )
    return keep_secret(data / "secret-key", lambda: secrets.token_urlsafe(50))
