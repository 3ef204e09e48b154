"""Views of a study's aliases: tables, a form with preview, undo."""

from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from perfdb.analysis import dimensions
from perfdb.analysis.query.parameters import QueryError
from perfdb.results.changes import alias_changes, spellings
from perfdb.results.changes.spellings import ALIASED, read_spellings
from perfdb.results.models import Study
from perfdb.results.runs import access
from perfdb.web.view_access import get_own_study, get_study, person_of, read_required, sign_in_required

_ASKED = ("dimension", "printed", "meaning")


@require_http_methods(["GET", "POST"])
def aliases(request: HttpRequest, slug: str) -> HttpResponse:
    """Show aliases, and the effect of one in the address; POST creates that alias."""
    return _make(request, slug) if request.method == "POST" else _show(request, slug)


@read_required()
def _show(request: HttpRequest, slug: str) -> HttpResponse:
    study = get_study(request, slug)
    asked = {name: request.GET.get(name, "") for name in _ASKED}
    found = read_spellings(study)
    suggestions = [each for dimension in found for each in dimension.suggestions]
    # Values that other studies spell differently.
    elsewhere = spellings.find_in_other_studies(
        {each.dimension: [value.value for value in each.values if value.value] for each in found}
    )
    # The study's own factors come last.
    names = dict.fromkeys((*ALIASED, *(each.dimension for each in found)))
    context = {
        "study": study,
        "told": found,
        "suggestions": [(each, _address(study, each.dimension, each.printed, each.meaning)) for each in suggestions],
        "elsewhere": [(*each, _address(study, *each)) for each in elsewhere],
        "dimensions": [(name, dimensions.dimension(name).title) for name in names],
        "asked": asked,
        "working": alias_changes.is_applying(study),
        "may_change": access.may_change(request.user, study),
    }
    if not any(asked.values()):
        return render(request, "web/aliases.html", context)
    try:
        context["effect"] = alias_changes.find_effect(alias_changes.propose_alias(study, *asked.values()))
    except QueryError as error:
        return render(request, "web/aliases.html", context | {"error": error}, status=400)
    return render(request, "web/aliases.html", context)


def _address(study: Study, *asked: str) -> str:
    question = urlencode(dict(zip(_ASKED, asked, strict=True)))
    return f"{reverse('web:aliases', args=[study.slug])}?{question}#preview"


@sign_in_required()
def _make(request: HttpRequest, slug: str) -> HttpResponse:
    study = get_own_study(request, slug)
    dimension, printed, meaning = (request.POST.get(name, "") for name in _ASKED)
    try:
        alias = alias_changes.add_alias(study, dimension, printed, meaning, person_of(request))
    except QueryError:
        # The preview says why; it may have become wrong only after it was shown.
        return redirect(_address(study, dimension, printed, meaning))
    messages.success(request, f"{alias.printed} is now an alias of {alias.meaning}.")
    return redirect("web:aliases", slug=slug)


@sign_in_required()
def undo(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Undo an alias: its runs get their printed value back."""
    study = get_own_study(request, slug)
    alias = get_object_or_404(study.aliases, pk=pk)
    alias_changes.remove_alias(alias)
    messages.success(request, f"{alias.printed} is no longer an alias.")
    return redirect("web:aliases", slug=slug)
