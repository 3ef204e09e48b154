"""The settings as mypy's Django plugin reads them: with stand-ins for what only a running instance has."""

import os

os.environ.setdefault("SECRET_KEY", "unused")
os.environ.setdefault("DATABASE_URL", "postgres:///unused")
os.environ.setdefault("REDIS_URL", "unix:///unused")

from perfdb.settings import *  # noqa: F403
