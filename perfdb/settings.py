"""Settings, each from the environment; a wrong value stops the start.

The embedded default, the tests and production (docker-compose) use the same file. docs/settings.md lists every
variable, and a test fails when one is missing there.
"""

from pathlib import Path

import environ
import plotly
from csp.constants import NONE, SELF

from perfdb.artifact_storage import storage

env = environ.Env()

BASE_DIR = Path(__file__).resolve().parent.parent
PERFDB_HOME = Path(env.str("PERFDB_HOME", default=str(BASE_DIR / "var"))).resolve()
VERSION = "0.1.0"

DEBUG = env.bool("DEBUG", default=False)
SECRET_KEY = env.str("SECRET_KEY")
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["127.0.0.1", "localhost", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if env.bool("BEHIND_TLS_PROXY", default=False) else None
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_PROXY_SSL_HEADER is not None
# Two instances on one machine share the host name, and cookies know no ports.
SESSION_COOKIE_NAME = env.str("SESSION_COOKIE_NAME", default="perfdb_session")
CSRF_COOKIE_NAME = f"{SESSION_COOKIE_NAME}_csrf"
SESSION_COOKIE_AGE = 60 * 60 * 24 * 90

# Where people reach this perfdb: links in messages begin with it.
SITE_URL = env.str("SITE_URL", default="http://localhost:8000").rstrip("/")
# Without a mail server, events are told to webhooks alone.
MAIL_IS_SET_UP = bool(env.str("EMAIL_URL", default=""))
globals().update(env.email_url("EMAIL_URL", default="dummymail://"))
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", default="perfdb@localhost")

# Reading without signing in; writing always needs a person or a token.
PUBLIC_READ = env.bool("PUBLIC_READ", default=False)
# The largest upload, all its files together, in bytes.
UPLOAD_LIMIT_BYTES = env.int("UPLOAD_LIMIT_BYTES", default=2 * 1024**3)
# How long an upload waits in preview before it expires, in days.
PREVIEW_DAYS = env.int("PREVIEW_DAYS", default=7)

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "perfdb.staticfiles.PerfdbStaticFilesConfig",
    "django.contrib.postgres",
    "django_htmx",
    "django_filters",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "csp",
    "perfdb.results",
    "perfdb.scaling",
    "perfdb.api",
    "perfdb.web",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "perfdb.web.middleware.CompressedPages",
    "csp.middleware.CSPMiddleware",
    "perfdb.scaling.replica.ReadFromReplica",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "perfdb.web.middleware.CallByTitle",
]

ROOT_URLCONF = "perfdb.urls"
WSGI_APPLICATION = "perfdb.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "frontend" / "templates"],
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

DATABASES = {"default": env.db("DATABASE_URL")}
if env.str("DATABASE_REPLICA_URL", default=""):
    DATABASES["replica"] = env.db("DATABASE_REPLICA_URL")
for database in DATABASES.values():
    database["ENGINE"] = "perfdb.results.database"
    database.update({"CONN_MAX_AGE": 600, "CONN_HEALTH_CHECKS": True, "DISABLE_SERVER_SIDE_CURSORS": True})
DATABASE_ROUTERS = ["perfdb.scaling.replica.ReplicaRouter"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = env.str("REDIS_URL")

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "web:sign-in"
LOGIN_REDIRECT_URL = "web:home"
LOGOUT_REDIRECT_URL = "web:home"

LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
USE_I18N = False
USE_TZ = True

STATIC_URL = "/static/"
STATIC_ROOT = Path(env.str("STATIC_ROOT", default=str(PERFDB_HOME / "static")))
STATICFILES_DIRS = [
    BASE_DIR / "frontend" / "static",
    # The browser's Plotly comes out of the Python wheel, so that no third-party file is committed.
    ("plotly", Path(plotly.__file__).parent / "package_data"),
]
# Hashed names need collectstatic, which the launcher and the image call; the tests do without.
STORAGES = {
    "default": storage(env.str("ARTIFACTS_URL", default="")),
    "staticfiles": {
        "BACKEND": "perfdb.staticfiles.HashedStaticFilesStorage"
        if env.bool("STATIC_HASHED_NAMES", default=True)
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    },
}
WHITENOISE_KEEP_ONLY_HASHED_FILES = True
MEDIA_ROOT = PERFDB_HOME / "artifacts"

DATA_UPLOAD_MAX_NUMBER_FILES = 5000
DATA_UPLOAD_MAX_NUMBER_FIELDS = 10_000

SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "img-src": [SELF, "data:", "blob:"],
        "object-src": [NONE],
        "base-uri": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        # Plotly adds one empty <style> element and fills it by script: the hash is that of the empty text.
        "style-src": [SELF, "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"],
    },
}

REST_FRAMEWORK = {
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "perfdb.api.permissions.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["perfdb.api.permissions.ReadMayBePublic"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "perfdb.api.renderers.AddressDecides",
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["perfdb.api.renderers.JSONRenderer"],
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "EXCEPTION_HANDLER": "perfdb.api.errors.problem_details",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "perfdb",
    "DESCRIPTION": "Stores and compares network-performance results.",
    "VERSION": VERSION,
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    # A deep link of Swagger UI is a link inside a button.
    "SWAGGER_UI_SETTINGS": {"deepLinking": False},
    "REDOC_DIST": "SIDECAR",
}

# Celery has its own spelling of a socket's address.
CELERY_BROKER_URL = REDIS_URL.replace("unix://", "redis+socket://").replace("?db=", "?virtual_host=")
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
# A job that hangs costs its process and not the queue; it is given up after a few attempts. Seconds.
CELERY_TASK_TIME_LIMIT = 3000
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# Kombu looks for messages of lost workers only every interval × throttle (default 100) seconds.
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 3600,
    "unacked_restore_interval": 2,
    "unacked_restore_throttle": 1,
}
CELERY_BEAT_SCHEDULE = {
    "sweep": {"task": "perfdb.results.tasks.sweep", "schedule": 5.0},
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": env.str("LOG_LEVEL", default="INFO")},
}
