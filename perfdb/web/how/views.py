"""The page that explains every word of a verdict."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from perfdb.web.how.rules_page import chapters


@require_GET
def how(request: HttpRequest) -> HttpResponse:
    """The rules with their examples, worked out anew; they tell nothing of anybody's data, so everybody may read."""
    return render(request, "web/how.html", {"chapters": chapters()})
