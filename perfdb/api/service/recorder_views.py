"""Endpoint of the recorder, a shell script that measures and uploads logs."""

import shlex
from pathlib import Path

from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

# One file for whoever uses it, in parts for whoever reads it.
_FOLDER = Path(__file__).resolve().parent.parent / "recorder"
_PARTS = ("head", "snapshots", "run", "upload", "command_line")
_NO_ADDRESS = "default_url=''"


def script(address: str = "") -> str:
    """Return the whole script; ``address`` is the default perfdb to upload to."""
    text = "\n".join((_FOLDER / f"{part}.sh").read_text() for part in _PARTS)
    return text.replace(_NO_ADDRESS, f"default_url={shlex.quote(address)}", 1)


@never_cache
@require_safe
def record_sh(request: HttpRequest) -> HttpResponse:
    """Return the script with this server's address as default, to anybody."""
    address = request.build_absolute_uri("/").rstrip("/")
    return HttpResponse(script(address), content_type="text/x-shellscript; charset=utf-8")
