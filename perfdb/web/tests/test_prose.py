"""Prose as HTML: safe Markdown, and nothing else that could become a tag."""

import pytest

from perfdb.web.reports.embedded_questions import Block, render_prose, split_blocks


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", ""),
        ("One\nparagraph.", "<p>One\nparagraph.</p>"),
        ("One.\n\n\nTwo.", "<p>One.</p>\n<p>Two.</p>"),
        ("It *is* **very** `fast_path`.", "<p>It <em>is</em> <strong>very</strong> <code>fast_path</code>.</p>"),
        ("2 * 3 * 4 and a_b_c", "<p>2 * 3 * 4 and a_b_c</p>"),
        ("`*not emphasis*`", "<p><code>*not emphasis*</code></p>"),
        ("- one\n  goes on\n- two", "<ul>\n<li>one\ngoes on</li>\n<li>two</li>\n</ul>"),
        ("Both:\n- one\n- *two*", "<p>Both:</p>\n<ul>\n<li>one</li>\n<li><em>two</em></li>\n</ul>"),
        ("a - b", "<p>a - b</p>"),
        ("<script>x</script> & `<b>`", "<p>&lt;script&gt;x&lt;/script&gt; &amp; <code>&lt;b&gt;</code></p>"),
        ('*<a href="javascript:x">*', "<p><em>&lt;a href=&quot;javascript:x&quot;&gt;</em></p>"),
        ("{0} {x}%", "<p>{0} {x}%</p>"),
        ("![a](http://b/c.png) &lt; \\*", '<p>!<a href="http://b/c.png">a</a> &amp;lt; \\*</p>'),
        ("see [a *b*](http://b/?x=1&y)", '<p>see <a href="http://b/?x=1&amp;y">a <em>b</em></a></p>'),
        ("[a](/runs/) [b](#x)", '<p><a href="/runs/">a</a> <a href="#x">b</a></p>'),
        ("[a](javascript:x) [b](//evil/) [c](data:x)", "<p>[a](javascript:x) [b](//evil/) [c](data:x)</p>"),
        ('[a](/"onclick=x)', '<p><a href="/%22onclick=x">a</a></p>'),
        ("## Head *line*\ntext", "<h5>Head <em>line</em></h5>\n<p>text</p>"),
        ("In order:\n1. one\n2. two", "<p>In order:</p>\n<ol>\n<li>one</li>\n<li>two</li>\n</ol>"),
        ("1.5 times\n2.5 times", "<p>1.5 times\n2.5 times</p>"),
        ("```sh\na <b>\n\n  c\n```", '<pre><code class="language-sh">a &lt;b&gt;\n\n  c\n</code></pre>'),
        ("a\n\n```chart\nx=1\n```\n\nb", "<p>a</p>\n<p>b</p>"),
    ],
)
def test_it_works(text: str, wanted: str) -> None:
    assert render_prose(text) == wanted


def test_questions_stand_in_their_place() -> None:
    text = "One.\r\n\r\n```chart Rate over users\r\n/charts/?rows=users\r\n\r\nrows=mtu\r\n```\r\nTwo.\n```table\n"
    assert list(split_blocks(text)) == [
        Block("<p>One.</p>"),
        Block(kind="chart", title="Rate over users", questions=("/charts/?rows=users", "rows=mtu")),
        Block("<p>Two.</p>"),
        Block(kind="table"),
    ]
