"""What the frame around every page needs: which of its links leads to where one is."""

from django import template
from django.template import RequestContext
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_tag(takes_context=True)
def current(context: RequestContext, *beginnings: str) -> SafeString:
    """Marks the link to the part of the site whose addresses begin so, on every page of that part."""
    request = context.get("request")
    here = request is not None and request.path.startswith(beginnings)
    return SafeString(' aria-current="page"' if here else "")
