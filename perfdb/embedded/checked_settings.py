"""Settings for mypy's Django plugin, with stand-ins for values of a running instance."""

import os

os.environ.setdefault("SECRET_KEY", "unused")
os.environ.setdefault("DATABASE_URL", "postgres:///unused")
os.environ.setdefault("REDIS_URL", "unix:///unused")

from perfdb.settings import *  # noqa: F403
