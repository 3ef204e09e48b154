"""``among``: a lookup for one of very many values, which go to the database as one array.

``in`` makes a parameter of each: for two thousand that takes longer than looking them up. The array is written here,
all values at once: psycopg goes through them one by one.
"""

from collections.abc import Sequence
from typing import Any

from django.db.models import Lookup


class Among(Lookup):
    """Whether a column has one of these values, numbers or texts; no row has one of none.

    Raises ValueError for a text with a NUL in it, which no column can have.
    """

    lookup_name = "among"

    def get_prep_lookup(self) -> str:
        """The values as the column's field has them, in an array."""
        return _array([str(value) for value in map(self.lhs.output_field.get_prep_value, self.rhs)])

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, Any]:
        """The condition and its parameters."""
        column, parameters = self.process_lhs(compiler, connection)
        # Numbers of fewer bytes than the column's would be compared with each row one after the other.
        kind = self.lhs.output_field.cast_db_type(connection)
        return f"{column} = ANY(%s::{kind}[])", (*parameters, self.rhs)


def _array(texts: Sequence[str]) -> str:
    """An array as PostgreSQL reads it."""
    together = "\0".join(texts)
    if together.count("\0") >= max(len(texts), 1):
        raise ValueError("a text with a NUL in it is asked for")
    elements = together.replace("\\", "\\\\").replace('"', '\\"').replace("\0", '","')
    return f'{{"{elements}"}}' if texts else "{}"
