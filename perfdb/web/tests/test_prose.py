"""Prose as HTML: a few marks, and nothing else that could become a tag."""

import pytest

from perfdb.web.reports.embedded_questions import Block, blocks, html


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
        ("{0} {x} %", "<p>{0} {x} %</p>"),
        ("see [a *b*](http://b/?x=1&y)", '<p>see <a href="http://b/?x=1&amp;y">a *b*</a></p>'),
        ("[a](/runs/) [b](#x)", '<p><a href="/runs/">a</a> <a href="#x">b</a></p>'),
        ("[a](javascript:x) [b](//evil/) [c](data:x)", "<p>[a](javascript:x) [b](//evil/) [c](data:x)</p>"),
        ('[a](/"onclick=x)', '<p><a href="/&quot;onclick=x">a</a></p>'),
        ("## Head *line*\ntext", "<h5>Head <em>line</em></h5><p>text</p>"),
        ("In order:\n1. one\n2. two", "<p>In order:</p><ol><li>one</li><li>two</li></ol>"),
        ("1.5 times\n2.5 times", "<p>1.5 times 2.5 times</p>"),
        ("```sh\na <b>\n\n  c\n```", "<pre><code>a &lt;b&gt;\n\n  c</code></pre>"),
        ("a\n\n```chart\nx=1\n```\n\nb", "<p>a</p>\n<p>b</p>"),
    ],
)
def test_it_works(text: str, wanted: str) -> None:
    assert html(text) == wanted


def test_questions_stand_in_their_place() -> None:
    text = "One.\r\n\r\n```chart Rate over users\r\n/charts/?rows=users\r\n\r\nrows=mtu\r\n```\r\nTwo.\n```table\n"
    assert list(blocks(text)) == [
        Block("<p>One.</p>"),
        Block(kind="chart", title="Rate over users", questions=("/charts/?rows=users", "rows=mtu")),
        Block("<p>Two.</p>"),
        Block(kind="table"),
    ]
