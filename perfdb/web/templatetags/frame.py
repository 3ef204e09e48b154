"""What the frame around every page needs: its style sheets, and which of its links leads to where one is."""

from django import template
from django.contrib.staticfiles.storage import staticfiles_storage
from django.template import RequestContext
from django.templatetags.static import static
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from perfdb.stylesheets import parts
from perfdb.web.shared.static_texts import static_text

register = template.Library()


@register.simple_tag(takes_context=True)
def current(context: RequestContext, *beginnings: str) -> SafeString:
    """Marks the link to the part of the site whose addresses begin so, on every page of that part."""
    request = context.get("request")
    here = request is not None and request.path.startswith(beginnings)
    return SafeString(' aria-current="page"' if here else "")


@register.simple_tag
def stylesheet(name: str) -> SafeString:
    """The link to a sheet; to each that it imports where static files are served as they lie there."""
    names = [name] if getattr(staticfiles_storage, "joins_sheets", False) else parts(name, static_text)
    return format_html_join("\n", '<link rel="stylesheet" href="{}">', ((static(each),) for each in names))
