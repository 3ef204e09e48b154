"""Access: tokens and one-time sign-in links, stored as digests, and who may change a study or query."""

import hashlib
import secrets
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Q, QuerySet
from django.utils import timezone

from perfdb.results.models import ApiToken, SavedQuery, SignInLink, Study
from perfdb.results.models.dimensions import INBOX

OWNER = "owner"
LINK_LIFETIME = timedelta(hours=12)
# Writing last_used on each call would make every read a write.
_LAST_USED_STEP = timedelta(minutes=1)


class ChangedMeanwhileError(Exception):
    """Another person has changed the study, item or event meanwhile."""


def digest_secret(secret: str) -> str:
    """Return the SHA-256 of a secret; for 256 random bits one round is enough."""
    return hashlib.sha256(secret.encode()).hexdigest()


def find_owner() -> User:
    """Return the superuser who owns an embedded instance, created at the first call."""
    user, created = User.objects.get_or_create(username=OWNER, defaults={"is_staff": True, "is_superuser": True})
    if created:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    return user


def make_token(user: User, name: str) -> str:
    """Create a token for scripts and return its secret, which is not stored."""
    secret = "perfdb_" + secrets.token_urlsafe(32)
    ApiToken.objects.create(user=user, name=name, digest=digest_secret(secret))
    return secret


def find_token_user(secret: str) -> User | None:
    """Return a token's user; None if unknown, revoked, or the user is inactive."""
    token = ApiToken.objects.select_related("user").filter(digest=digest_secret(secret), revoked=None).first()
    if token is None or not token.user.is_active:
        return None
    now = timezone.now()
    if token.last_used is None or token.last_used < now - _LAST_USED_STEP:
        ApiToken.objects.filter(pk=token.pk).update(last_used=now)
    return token.user


def make_sign_in_link(user: User) -> str:
    """Create and return a secret that signs ``user`` in once, within twelve hours."""
    secret = secrets.token_urlsafe(32)
    SignInLink.objects.create(user=user, digest=digest_secret(secret), expires=timezone.now() + LINK_LIFETIME)
    return secret


def use_sign_in_link(secret: str) -> User | None:
    """Return the active user of a link at its first use, else None."""
    now = timezone.now()
    links = SignInLink.objects.filter(digest=digest_secret(secret), used=None, expires__gt=now, user__is_active=True)
    link = links.select_related("user").first()
    # The update decides: two requests at once must not both sign in.
    if link is None or not links.filter(pk=link.pk).update(used=now):
        return None
    return link.user


def may_read(user: object) -> bool:
    """Return whether a visitor may read: everybody with PUBLIC_READ, else signed-in users."""
    return bool(settings.PUBLIC_READ or getattr(user, "is_authenticated", False))


def visible_studies(user: User | AnonymousUser) -> QuerySet[Study]:
    """Return the studies that a visitor can name, without others' inboxes."""
    return Study.objects.select_related("owner").filter(~Q(slug=INBOX) | Q(owner=user.pk))


def may_change(user: User | AnonymousUser, owned: Study | SavedQuery) -> bool:
    """Return whether a visitor may change a study or named query."""
    return bool(user.is_authenticated and (user.is_staff or owned.owner_id == user.pk))


def signed_in_user(user: User | AnonymousUser) -> User:
    """Return the signed-in user; the caller has checked that there is one."""
    assert isinstance(user, User)  # for the type checker
    return user
