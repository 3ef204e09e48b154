"""Signing in with a token: ``Authorization: Bearer TOKEN``."""

from django.contrib.auth.models import User
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from perfdb.results.runs import access

_SCHEME = b"bearer"


class TokenAuthentication(BaseAuthentication):
    """Whose token came with the request; no opinion when none did."""

    def authenticate(self, request: Request) -> tuple[User, str] | None:
        """The user and the token. Raises AuthenticationFailed for a token that is not valid."""
        scheme, _, secret = get_authorization_header(request).partition(b" ")
        if scheme.lower() != _SCHEME:
            return None
        token = secret.strip().decode("latin-1")
        user = access.user_of_token(token)
        if user is None:
            raise AuthenticationFailed("the token is not known, or it was revoked; make one with manage.py apitoken")
        return user, token

    def authenticate_header(self, request: Request) -> str:
        """What a 401 asks for."""
        return 'Bearer realm="perfdb"'


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call] # registers itself, without types
    """How the OpenAPI schema describes tokens."""

    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        """A bearer token."""
        return {"type": "http", "scheme": "bearer"}
