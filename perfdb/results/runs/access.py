"""Tokens for scripts and one-time sign-in links for people. A secret is shown once; only its digest is kept."""

import hashlib
import secrets
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Q, QuerySet
from django.utils import timezone

from perfdb.results.models import ApiToken, SignInLink, Study
from perfdb.results.models.dimensions import INBOX

OWNER = "owner"
LINK_LIFETIME = timedelta(hours=12)
# Writing last_used on each call would make every read a write.
_LAST_USED_STEP = timedelta(minutes=1)


def digest(secret: str) -> str:
    """What is kept of a secret. The secret has 256 random bits, so one round of SHA-256 is enough."""
    return hashlib.sha256(secret.encode()).hexdigest()


def owner() -> User:
    """The person an embedded instance belongs to; made when first asked for, and may do everything."""
    user, created = User.objects.get_or_create(username=OWNER, defaults={"is_staff": True, "is_superuser": True})
    if created:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    return user


def make_token(user: User, name: str) -> str:
    """Make a token for scripts; the only moment at which it can be read."""
    secret = "perfdb_" + secrets.token_urlsafe(32)
    ApiToken.objects.create(user=user, name=name, digest=digest(secret))
    return secret


def user_of_token(secret: str) -> User | None:
    """Whose token this is; None when it is unknown, revoked, or its user may no longer sign in."""
    token = ApiToken.objects.select_related("user").filter(digest=digest(secret), revoked=None).first()
    if token is None or not token.user.is_active:
        return None
    now = timezone.now()
    if token.last_used is None or token.last_used < now - _LAST_USED_STEP:
        ApiToken.objects.filter(pk=token.pk).update(last_used=now)
    return token.user


def make_sign_in_link(user: User) -> str:
    """Make a secret that signs ``user`` in once, within twelve hours."""
    secret = secrets.token_urlsafe(32)
    SignInLink.objects.create(user=user, digest=digest(secret), expires=timezone.now() + LINK_LIFETIME)
    return secret


def use_sign_in_link(secret: str) -> User | None:
    """The link's user, the first time; None when it is unknown, used or expired."""
    now = timezone.now()
    links = SignInLink.objects.filter(digest=digest(secret), used=None, expires__gt=now, user__is_active=True)
    link = links.select_related("user").first()
    # The update decides: two requests at once must not both sign in.
    if link is None or not links.filter(pk=link.pk).update(used=now):
        return None
    return link.user


def may_read(user: object) -> bool:
    """Whether this visitor may read: everyone where PUBLIC_READ is set, else people who signed in."""
    return bool(settings.PUBLIC_READ or getattr(user, "is_authenticated", False))


def studies_for(user: User | AnonymousUser) -> QuerySet[Study]:
    """The studies that a visitor can mean: everybody has an inbox of the same name, and means their own."""
    return Study.objects.select_related("owner").filter(~Q(slug=INBOX) | Q(owner=user.pk))


def may_change(user: User | AnonymousUser, study: Study) -> bool:
    """Whether this visitor may change what a study's runs mean: its owner and staff."""
    return bool(user.is_authenticated and (user.is_staff or study.owner_id == user.pk))


def person(user: User | AnonymousUser) -> User:
    """The person who has signed in, where something has seen to that."""
    assert isinstance(user, User)  # for the type checker
    return user
