"""What large answers hold, and for how long."""

import gc
import weakref

from django.http import HttpResponse

from perfdb.api.renderers import answered


class _Part:
    """What an answer is made of."""


def test_what_an_answer_was_made_of_is_let_go_with_it() -> None:
    part = _Part()
    there = weakref.ref(part)
    gc.disable()
    try:
        response: HttpResponse | None = answered({"a": [1.5, None]}, {"ETag": "x"}, part)
        del part
        assert response is not None
        assert (response.content, response["ETag"]) == (b'{"a":[1.5,null]}\n', "x")
        # While it is not sent yet nobody waits for what it was made of to be freed.
        assert there() is not None
        del response
        assert there() is None
    finally:
        gc.enable()
