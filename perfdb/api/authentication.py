"""Authentication by a token: ``Authorization: Bearer TOKEN``."""

from django.contrib.auth.models import User
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from perfdb.results.runs import access

_SCHEME = b"bearer"


class TokenAuthentication(BaseAuthentication):
    """Authentication by the request's token; requests without a token are left to others."""

    def authenticate(self, request: Request) -> tuple[User, str] | None:
        """Return user and token. Raise AuthenticationFailed for an invalid token."""
        scheme, _, secret = get_authorization_header(request).partition(b" ")
        if scheme.lower() != _SCHEME:
            return None
        token = secret.strip().decode("latin-1")
        user = access.find_token_user(token)
        if user is None:
            raise AuthenticationFailed("the token is not known, or it was revoked; make one with manage.py apitoken")
        return user, token

    def authenticate_header(self, request: Request) -> str:
        """Return the WWW-Authenticate header of a 401."""
        return 'Bearer realm="perfdb"'


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call] # registers itself, without types
    """Tokens in the OpenAPI schema."""

    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        """Return the definition of a bearer token."""
        return {"type": "http", "scheme": "bearer"}
