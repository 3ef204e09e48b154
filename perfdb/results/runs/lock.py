"""Holding a study while its runs change, and saying that they have."""

from django.db import connection
from django.db.models import F

from perfdb.results.models import Study

_STUDY_LOCK = 0x5354_5544  # any number of our own: "STUD"


def lock_study(study: Study) -> None:
    """Keep other imports out of the study until the transaction ends: placing must see what they store."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [_STUDY_LOCK, study.pk])


def touch_study(study: Study) -> None:
    """The study's data have changed: whatever was cached of it is out of date."""
    Study.objects.filter(pk=study.pk).update(version=F("version") + 1)
