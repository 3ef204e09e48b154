"""The picture of a history as a file of its own, for reports and issue trackers."""

import base64
import hashlib

from csp.decorators import csp_update
from django.http import Http404, HttpRequest, HttpResponse
from django.template.loader import render_to_string

from perfdb.analysis.query.parameters import QueryError
from perfdb.web.tables.filter_form import error_status
from perfdb.web.trends.series_page import read_asked_series
from perfdb.web.view_access import read_required

# The light theme of the design system, whose variables a file of its own does not know.
STYLE = (
    "svg{font:12px sans-serif;color:#15191e}text{fill:#525d69}text.title{fill:#15191e;font-weight:bold;font-size:14px}"
    "circle{fill:#fff;stroke:currentColor}.trial{fill:#7b8794;stroke:none}.level{stroke:#0a5aa6;stroke-width:2}"
    ".axis{stroke:#d5dae0}.place{fill:#fff2b3}.band{fill:#0090f0;opacity:.08}.mark{fill:#525d69;stroke:#525d69}"
    ".mark.better{fill:#12693a;stroke:#12693a}.mark.worse{fill:#a11c22;stroke:#a11c22}.mark.hollow{fill:none}"
)
_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
_HEAD = 52


@read_required()
@csp_update({"style-src": [f"'sha256-{_HASH}'"]})
def trend_picture(request: HttpRequest) -> HttpResponse:
    """Return the history that the page of the same address shows, as SVG."""
    try:
        study, page = read_asked_series(request)
    except QueryError as error:
        return HttpResponse(f"{error}\n", "text/plain; charset=utf-8", status=error_status(error))
    if study is None or page is None:
        raise Http404
    height = page.plot.height + _HEAD
    context = {"page": page, "study": study, "style": STYLE, "height": height, "head": _HEAD}
    return HttpResponse(render_to_string("web/trend.svg", context), "image/svg+xml; charset=utf-8")
