"""Where Django looks for a database's wrapper."""

import select

from django.db.backends.postgresql import base


class DatabaseWrapper(base.DatabaseWrapper):
    """Before each request Django asks whether the connection that it kept can be used."""

    def is_usable(self) -> bool:
        """Whether nothing came from the server since the last answer: it sends something only to say that it ends.

        Django asks it for an answer instead, for which each request would wait.
        """
        if self.connection is None or self.connection.closed:
            return False
        poll = select.poll()
        poll.register(self.connection.fileno(), select.POLLIN)
        return not poll.poll(0)
