"""``among`` finds what ``in`` finds."""

import pytest
from django.db import connection

from perfdb.results.models import Experiment, Level

pytestmark = pytest.mark.django_db
NAMES = ["plain", 'quo"te', "apos'trophe", "com,ma", "{brace}", "back\\slash", "NULL", ""]


def test_texts() -> None:
    """Texts are found as they are, whatever characters an array sets apart."""
    Level.objects.bulk_create(Level(name=name) for name in [*NAMES, "other"])
    assert sorted(Level.objects.filter(name__among=NAMES).values_list("name", flat=True)) == sorted(NAMES)


def test_nothing_is_among_nothing() -> None:
    """No value fits an empty list, and none is not a value."""
    Level.objects.create(name="level")
    assert not Level.objects.filter(name__among=[]).exists()


def test_numbers_are_of_the_type_of_their_column() -> None:
    """An index or a hash finds them; numbers that fit fewer bytes would be compared one after the other."""
    found = Experiment.objects.filter(key__among=[1, -(2**63)]).values_list("pk")
    with connection.cursor() as cursor:
        cursor.execute(*found.query.sql_with_params())
        assert cursor.fetchall() == []
    assert "::bigint[]" in str(found.query)


def test_a_text_that_no_column_can_have_is_refused() -> None:
    """It must not be taken for two."""
    with pytest.raises(ValueError, match="NUL"):
        Level.objects.filter(name__among=["one\0two"]).exists()
