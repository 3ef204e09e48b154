"""Pictures of answers: each address of a question also ends in ``.svg`` and ``.png``."""

import re
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from pathlib import Path

from csp.constants import NONE, UNSAFE_INLINE
from csp.decorators import csp_replace
from django.conf import settings
from django.contrib.staticfiles import finders
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.text import slugify

from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.render.charts.picture import Form, Look, draw_picture
from perfdb.results.models import FrozenLink, Page
from perfdb.results.queries import frozen_links
from perfdb.results.queries.questions import Answer, Question, answer_question
from perfdb.web.links import read_pairs
from perfdb.web.questions.question_links import PICTURE_SIZES
from perfdb.web.tables import answer_section
from perfdb.web.tables.filter_form import check_studies, error_status
from perfdb.web.view_access import read_required

_TYPES: Mapping[Form, str] = {"svg": "image/svg+xml; charset=utf-8", "png": "image/png"}
# Pixels of a file: the card that chat programs show of a link.
_CARD = (1200, 630)
_LEAST, _MOST = 300, 4000
# The least pixels of a file for each pixel of the drawing, and the widest drawing whose words can be read on a slide.
_SCALE, _WIDEST = 1.5, 800
_LONGEST = 300
_OWN = ("theme", "w", "size", "title", "subtitle", "download")
# Seconds that others may keep a picture: of living data, and of a frozen answer.
_LIVING, _FROZEN = 300, 365 * 24 * 3600
# An SVG has a style at each element. A file of its own loads and runs nothing, so that these can do no harm.
_csp_of_pictures = csp_replace({"default-src": [NONE], "style-src": [UNSAFE_INLINE]})


@read_required()
@_csp_of_pictures  # type: ignore[arg-type] # the library types views without further arguments
def picture(request: HttpRequest, page: str, form: Form) -> HttpResponse:
    """Return the first chart of a question with the answer above it.

    ``theme`` is ``light`` or ``dark``; ``size`` the pixels of the file, as in ``1920x1080``, or ``w`` the width alone;
    ``title`` and ``subtitle`` replace the words above; with ``download`` the file is saved instead of shown.
    """
    asked = [(name, text) for name, text in read_pairs(request.GET) if name not in _OWN]
    try:
        question = Question.from_pairs(Page(page), asked)
        check_studies(question.query)
        return _draw(request, question, answer_question(question), form, timezone.now())
    except QueryError as error:
        return HttpResponse(f"{error}\n", "text/plain; charset=utf-8", status=error_status(error))


@read_required()
@_csp_of_pictures  # type: ignore[arg-type] # the library types views without further arguments
def frozen_picture(request: HttpRequest, token: str, form: Form) -> HttpResponse:
    """Return the first chart of a frozen answer."""
    link = get_object_or_404(FrozenLink, token=token)
    try:
        with frozen_links.open_link(link) as (question, answer):
            return _draw(request, question, answer, form, link.created, keep_s=_FROZEN)
    except QueryError as error:
        return HttpResponse(f"{error}\n", "text/plain; charset=utf-8", status=400)


def _draw(
    request: HttpRequest, question: Question, answer: Answer, form: Form, moment: datetime, *, keep_s: int = _LIVING
) -> HttpResponse:
    look = _look(request)
    result = answer_section.build_result(question, answer)
    panels = [panel for group in result.get("groups", ()) for panel in group] + list(result.get("charts_of_maxima", ()))
    if "compared" in result:
        panels += [measured.panel for each in result["compared"]["answers"] for measured in each.measured]
    figure = next((panel.figure for panel in panels if panel.figure and panel.figure["data"]), None)
    if figure is None:
        raise Http404("no run has a value of what is asked for")
    title = figure["layout"]["title"]
    given = {name: request.GET.get(name, "").strip()[:_LONGEST] for name in ("title", "subtitle")}
    heading = given["title"] or result.get("said") or title["text"]
    of = [title["text"], title["subtitle"]["text"]] if heading != title["text"] else [title["subtitle"]["text"]]
    lines = [given["subtitle"]] if given["subtitle"] else of
    lines.append(f"{figure['layout']['meta']['sources']} · perfdb · {moment:%-d %b %Y}")
    response = HttpResponse(draw_picture(figure, heading, lines, look, form), _TYPES[form])
    if "download" in request.GET:
        response["Content-Disposition"] = f'attachment; filename="{slugify(title["text"]) or "figure"}.{form}"'
    immutable = ", immutable" if keep_s == _FROZEN else ""
    response["Cache-Control"] = f"{'public' if settings.PUBLIC_READ else 'private'}, max-age={keep_s}{immutable}"
    return response


def _look(request: HttpRequest) -> Look:
    theme = request.GET.get("theme", "light")
    if theme not in ("light", "dark"):
        raise QueryError("theme", f"there is no theme {theme!r}", ("light", "dark"))
    width, height = _size(request)
    scale = max(_SCALE, width / _WIDEST)
    return Look(width / scale, height / scale, read_colours(theme), scale)


def _size(request: HttpRequest) -> tuple[int, int]:
    """Return width and height of the file in pixels."""
    size, width = request.GET.get("size", ""), request.GET.get("w", "")
    if size:
        across, _, down = size.partition("x")
        if not all(text.isdecimal() and _LEAST <= int(text) <= _MOST for text in (across, down)):
            raise QueryError(
                "size", f"{size!r} is no size such as 1920x1080, of {_LEAST} to {_MOST} pixels", list(PICTURE_SIZES)
            )
        return int(across), int(down)
    if width and not (width.isdecimal() and _LEAST <= int(width) <= _MOST):
        raise QueryError("w", f"w is a width from {_LEAST} to {_MOST} pixels, and not {width!r}")
    return (int(width), round(int(width) * _CARD[1] / _CARD[0])) if width else _CARD


@cache
def read_colours(theme: str) -> Mapping[str, str]:
    """Return the colours of a theme by their names in the style sheets."""
    found = {}
    for name in ("css/tokens.css", "css/figures.css"):
        path = finders.find(name)
        assert path is not None
        sheet = Path(path).read_text(encoding="utf-8")
        for variable, light, dark in re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", sheet):
            found[variable] = dark if theme == "dark" else light
    return found
