"""Search: the page of results, and the suggestions below the box in the header."""

from django.contrib.auth.decorators import user_passes_test
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from perfdb.results.queries.run_list.search import search_names
from perfdb.results.runs.access import may_read
from perfdb.web.search import run_search_words, search_hits

# Of each kind.
_RESULTS, _SUGGESTIONS = 20, 4


@require_GET
@user_passes_test(may_read)
def results(request: HttpRequest) -> HttpResponse:
    """Everything that fits ``q``, by kind; it works without JavaScript."""
    return _answer(request, "web/search.html", _RESULTS)


@require_GET
@user_passes_test(may_read)
def suggestions(request: HttpRequest) -> HttpResponse:
    """The options of the list below the box: a fragment, asked for while somebody types."""
    return _answer(request, "web/parts/suggestions.html", _SUGGESTIONS)


def _answer(request: HttpRequest, template: str, size: int) -> HttpResponse:
    asked = request.GET.get("q", "").strip()
    chosen, rest = run_search_words.narrowed(asked)
    found = search_names(rest, size)
    context = {"asked": asked, "chosen": chosen, "near": found.near, "groups": search_hits.groups(found), "most": size}
    return render(request, template, context)
