"""Answer for unknown addresses of the API, as problem details."""

from typing import NoReturn

from drf_spectacular.utils import extend_schema
from rest_framework.decorators import api_view, permission_classes
from rest_framework.exceptions import NotFound
from rest_framework.permissions import AllowAny
from rest_framework.request import Request


@extend_schema(exclude=True)
@api_view(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"])
@permission_classes([AllowAny])
def nothing_here(request: Request, rest: str) -> NoReturn:
    """Answer 404 to every method."""
    raise NotFound(f"there is nothing at {request.path}; /api/docs/ lists what there is")
