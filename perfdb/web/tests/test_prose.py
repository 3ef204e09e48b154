"""Prose as HTML: a few marks, and nothing else that could become a tag."""

import pytest

from perfdb.web.study.prose import html


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", ""),
        ("One\nparagraph.", "<p>One paragraph.</p>"),
        ("One.\n\n\nTwo.", "<p>One.</p>\n<p>Two.</p>"),
        ("It *is* **very** `fast_path`.", "<p>It <em>is</em> <strong>very</strong> <code>fast_path</code>.</p>"),
        ("2 * 3 * 4 and a*b*c", "<p>2 * 3 * 4 and a*b*c</p>"),
        ("`*not emphasis*`", "<p><code>*not emphasis*</code></p>"),
        ("- one\n  goes on\n- two", "<ul><li>one goes on</li><li>two</li></ul>"),
        ("Both:\n- one\n* *two*", "<p>Both:</p><ul><li>one</li><li><em>two</em></li></ul>"),
        ("a - b", "<p>a - b</p>"),
        ("<script>x</script> & `<b>`", "<p>&lt;script&gt;x&lt;/script&gt; &amp; <code>&lt;b&gt;</code></p>"),
        ('*<a href="javascript:x">*', "<p><em>&lt;a href=&quot;javascript:x&quot;&gt;</em></p>"),
        ("{0} {x} % [a](http://b)", "<p>{0} {x} % [a](http://b)</p>"),
    ],
)
def test_it_works(text: str, wanted: str) -> None:
    assert html(text) == wanted
