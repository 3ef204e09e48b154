"""docker-compose.yml and Dockerfile against the code, without an engine."""

import importlib
import re
import shutil
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml
from celery.app.utils import find_app
from django.core.management import get_commands
from django.urls import resolve

from perfdb.embedded import ROOT
from perfdb.embedded.tests.test_settings_page import variables

COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = [name for name, service in SERVICES.items() if service["image"] == "perfdb"]


def test_services() -> None:
    assert set(SERVICES) == {"postgres", "redis", "migrate", "web", "worker", "beat"}
    assert set(OURS) == {"migrate", "web", "worker", "beat"}


@pytest.mark.parametrize("name", OURS)
def test_command_exists(name: str) -> None:
    program, *arguments = SERVICES[name]["command"]
    assert shutil.which(program, path=str(ROOT / ".venv" / "bin")) or shutil.which(program)
    if program == "python":
        assert arguments[0] == "manage.py"
        assert (ROOT / "manage.py").exists()
        assert arguments[1] in get_commands()
    elif program == "gunicorn":
        assert callable(importlib.import_module(arguments[0]).application)
    else:
        assert find_app(arguments[arguments.index("-A") + 1]).main == "perfdb"
        assert {"worker", "beat"} & set(arguments) == {name}


@pytest.mark.parametrize("name", OURS)
def test_environment_is_what_the_settings_read(name: str) -> None:
    environment = SERVICES[name]["environment"]
    assert set(environment) <= variables("perfdb/settings.py")
    assert {"SECRET_KEY", "DATABASE_URL", "REDIS_URL"} <= set(environment)


def test_addresses_name_services() -> None:
    environment = SERVICES["web"]["environment"]
    for variable in ("DATABASE_URL", "REDIS_URL"):
        assert re.search(r"(?:@|//)(\w+):\d", environment[variable]).group(1) in SERVICES  # type: ignore[union-attr]


def test_health_checks_ask_what_exists() -> None:
    address = re.search(r"http://[^']+", str(SERVICES["web"]["healthcheck"]["test"]))
    assert address is not None
    assert resolve(urlsplit(address[0]).path).url_name == "readyz"
    assert SERVICES["worker"]["healthcheck"]["test"][1:4] == ["celery", "-A", "perfdb.celery"]


@pytest.mark.parametrize("name", [name for name, service in SERVICES.items() if "depends_on" in service])
def test_nothing_waits_for_what_is_not_there(name: str) -> None:
    for other, wait in SERVICES[name]["depends_on"].items():
        healthy = wait["condition"] == "service_healthy"
        assert "healthcheck" in SERVICES[other] if healthy else SERVICES[other]["restart"] == "no"


def test_image_copies_what_exists_and_is_told_variables_that_are_read() -> None:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", "")
    for files in re.findall(r"^COPY (.+) \S+$", text, re.MULTILINE):
        assert all((ROOT / file).exists() for file in files.split())
    told = re.findall(r"\b([A-Z_]+)=", " ".join(re.findall(r"^(?:ENV|RUN) .+$", text, re.MULTILINE)))
    assert set(told) - {"PYTHONUNBUFFERED"} <= variables("perfdb/settings.py")
