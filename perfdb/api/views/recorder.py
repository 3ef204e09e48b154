"""The recorder: a shell script that measures on a user's machine and uploads what it kept."""

import shlex
from pathlib import Path

from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

SCRIPT = Path(__file__).resolve().parent.parent / "record.sh"
_NO_ADDRESS = "default_url=''"


@never_cache
@require_safe
def record_sh(request: HttpRequest) -> HttpResponse:
    """The script, with this server's address as its default. It holds no data, so everybody may have it."""
    address = shlex.quote(request.build_absolute_uri("/").rstrip("/"))
    text = SCRIPT.read_text().replace(_NO_ADDRESS, f"default_url={address}", 1)
    return HttpResponse(text, content_type="text/x-shellscript; charset=utf-8")
