"""The one settings file. Variables are read in `loomverify.env`."""

import os
from pathlib import Path
from urllib.parse import urlsplit

import dj_database_url
import dj_email_url
from csp.constants import NONE, SELF

from loomverify.env import environment

ENV = environment()
BASE_DIR = Path(__file__).resolve().parent.parent

SECRET_KEY = ENV.secret_key
DEBUG = False
ALLOWED_HOSTS = list(ENV.allowed_hosts) or (
    [urlsplit(ENV.base_url).hostname or ""] if ENV.production else ["*"]
)
CSRF_TRUSTED_ORIGINS = [*ENV.csrf_trusted_origins, ENV.base_url]
BASE_URL = ENV.base_url

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "django.contrib.humanize",
    "axes",
    "csp",
    "django_ace",
    "django_htmx",
    "template_partials",
    "ninja",
    "loomverify.accounts",
    "processes",
    "verification.advisories",
    "verification.verifiers",
    "verification.runs",
    "verification.reviews",
    "verification.rules",
    "verification.golden",
    "verification.trials",
    "verification.actions",
    "verification.owned",
]

MIDDLEWARE = [
    "loomverify.api.problems_under_api",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "loomverify.urls"
ASGI_APPLICATION = "loomverify.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

DATABASES = {"default": dj_database_url.parse(ENV.database_url or "postgresql:///loomverify")}
DATABASES["default"]["ENGINE"] = "loomverify.postgresql"
DATABASES["default"]["CONN_HEALTH_CHECKS"] = True  # a restarted PostgreSQL costs nobody an error
if os.environ.get("LOOMVERIFY_PROCESS") == "worker":
    # One thread, forked: a connection of its own that outlives the task, and no pool.
    # What a crash of the machine takes back is done again; verdicts alone insist on the disk.
    DATABASES["default"] |= {"CONN_MAX_AGE": None}
    DATABASES["default"].setdefault("OPTIONS", {})["options"] = "-c synchronous_commit=off"
else:
    DATABASES["default"].setdefault("OPTIONS", {})["pool"] = {
        "min_size": 1,
        "max_size": 20,
        "timeout": 10,
    }
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "loomverify.accounts.backends.NameOrEmailBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "sign_in"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "sign_in"
PASSWORD_RESET_TIMEOUT = 4 * 3600

AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = 0.25  # hours
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
AXES_LOCKOUT_CALLABLE = "loomverify.accounts.views.locked_out"
AXES_VERBOSE = False
# One count for a user, however the name or address is written; waiting is not made longer.
AXES_USERNAME_CALLABLE = "loomverify.accounts.backends.attempt_name"
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False

SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
if ENV.base_url.startswith("https://"):
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_HSTS_SECONDS = 30 * 86400

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "frame-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    },
}

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = ENV.data / "static"
MIRRORS = ENV.data / "repositories"
"""Our copies of registered repositories: a cache."""

STORAGES = {
    "default": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": ENV.data / "files"},
    },
    "evidence": {
        "BACKEND": "loomverify.storage.AtomicFileStorage",
        "OPTIONS": {"location": ENV.data / "evidence"},
    },
    "views": {
        "BACKEND": "loomverify.storage.AtomicFileStorage",
        "OPTIONS": {"location": ENV.data / "views"},
    },
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}

if ENV.email_url:
    vars().update(dj_email_url.parse(ENV.email_url))
else:
    EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
    EMAIL_FILE_PATH = ENV.data / "mail"
DEFAULT_FROM_EMAIL = f"LoomVerify <loomverify@{urlsplit(ENV.base_url).hostname}>"

USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
USE_I18N = False

DATA_UPLOAD_MAX_MEMORY_SIZE = 64 * 1024 * 1024
FILE_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024

RUN_LEASE_SECONDS = 30
JUDGE_FIRST_WAIT_SECONDS = 1.0
REVERIFY_FIRST_PAUSE_SECONDS = 15.0
REVERIFY_DEADLINE_SECONDS = ENV.reverify_deadline_seconds
REVIEW_SAMPLE_RATE = ENV.review_sample_rate

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": "WARNING"},
    "loggers": {"loomverify": {"level": "INFO"}, "verification": {"level": "INFO"}},
}
