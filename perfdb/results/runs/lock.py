"""Lock of a study while its runs change, and version of its data."""

from django.db import connection
from django.db.models import F

from perfdb.results.models import Study

_STUDY_LOCK = 0x5354_5544  # any number of our own: "STUD"


def lock_study(study: Study) -> None:
    """Lock the study against other imports until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [_STUDY_LOCK, study.pk])


def touch_study(study: Study) -> None:
    """Raise the version of the study's data, which invalidates caches."""
    Study.objects.filter(pk=study.pk).update(version=F("version") + 1)
