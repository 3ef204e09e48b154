"""What is written in binary is what PostgreSQL reads."""

from datetime import UTC, datetime

import numpy as np
import pytest
from django.db import connection

from perfdb.results import binary
from perfdb.results.runs import write

pytestmark = pytest.mark.django_db

_COLUMNS = ("whole", "large", "small", "name", "document", "at", "yes", "words", "spans", "numbers", "gone")


def test_values_and_arrays_come_back() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TEMP TABLE tried (whole int4, large int8, small int2, name text, document jsonb, at timestamptz,"
            " yes bool, words text[], spans int4[], numbers float8[], gone text)"
        )
    words = [["a", "", "ä€", "y" * 300], [], ["x" * 70_000]]
    values = np.array([[1.5, np.nan, -2.0], [np.nan] * 3, [np.nan, 1e300, np.nan]])
    every = [word for own in words for word in own]
    flat, sizes = binary.chosen_elements(every, np.arange(len(every)))
    counts = np.array([len(own) for own in words])
    ends = np.cumsum(counts)
    upto = np.concatenate([[0], np.cumsum(sizes)])
    arrays = binary.arrays(binary.TEXT, flat, upto[ends] - upto[ends - counts], counts)
    lengths = np.array([3, 0, 2])
    numbers = binary.arrays(
        binary.FLOAT8, *binary.float_fields(values, ~np.isnan(values), lengths), lengths, nulls=True
    )
    at = datetime(1999, 12, 31, 23, 59, 59, 123456, tzinfo=UTC)
    rows = [
        b"".join(
            (
                *(binary.fields(11), binary.int4(-7), binary.int8(2**40), binary.int2(None), binary.text("ü")),
                *(
                    binary.jsonb('{"a": "\\u00e4"}'),
                    binary.moment(at),
                    binary.boolean(True),
                    words_of,
                    binary.span(3, 9),
                ),
                *(numbers_of, binary.NULL),
            )
        )
        for words_of, numbers_of in zip(arrays, numbers, strict=True)
    ]
    write.copy_bytes("tried", _COLUMNS, rows)
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM tried")
        found = cursor.fetchall()
    for row, own, numbers_of in zip(found, words, [[1.5, None, -2.0], [], [None, 1e300]], strict=True):
        assert row[:4] == (-7, 2**40, None, "ü")
        assert row[4] in ({"a": "ä"}, '{"a": "ä"}')
        assert row[5:] == (at, True, own, [[3, 9]], numbers_of, None)
