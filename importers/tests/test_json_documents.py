"""JSON with lines, number texts and repeated keys, cut or mixed."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from importers.files import json_documents
from importers.files.json_documents import Document, Node, _Window, documents
from importers.model import Text

TREE = """{
\t"start":\t{
\t\t"version":\t"iperf 3.9",
\t\t"streams":\t[1, 2]
\t},
\t"sum":\t{ "bytes":\t1e+09 },
\t"sum":\t{ "bytes":\t27.50, "lost": nan, "sent": true }
}
"""


def text(content: str) -> Text:
    lines = content.split("\n")
    ends_whole = lines[-1] == ""
    return Text("run.json", lines[:-1] if ends_whole else lines, "utf-8", ends_whole)


def read(content: str) -> list[Document]:
    return list(documents(text(content)))


def only(content: str) -> Document:
    (document,) = read(content)
    return document


def value(node: Node | None) -> object:
    """Return a node as Python's own reader would."""
    assert node is not None
    if node.is_object:
        return {key: value(each) for key, each in node.items()}
    if node.is_array:
        return [value(each) for each in node.values()]
    return node.text if node.is_string else json.loads(node.text)


def test_values_keep_their_lines_and_numbers_their_characters() -> None:
    root = only(TREE).root
    version, bytes_ = root.get("start", "version"), root.get("sum", "bytes")
    assert version is not None
    assert (version.text, version.line, version.is_string) == ("iperf 3.9", 3, True)
    assert bytes_ is not None
    assert (bytes_.text, bytes_.line, bytes_.is_number, bytes_.is_string) == ("1e+09", 6, True, False)


def test_repeated_keys_are_all_there_in_order() -> None:
    root = only(TREE).root
    assert [each.line for each in root.get_all("sum")] == [6, 7]
    assert root.keys() == [key for key, _ in root.items()] == ["start", "sum", "sum"]


def test_a_path_leads_through_objects_and_arrays() -> None:
    root = only(TREE).root
    assert value(root.get("start", "streams", 1)) == 2
    for path in (
        ("start", "nothing"),
        ("start", "streams", 2),
        ("start", "streams", -1),
        ("start", 0, 0),
        ("sum", "bytes", "more"),
        ("sum", 9),
    ):
        assert root.get(*path) is None


@pytest.mark.parametrize("content", [TREE, "".join(TREE.split("\n")).replace("nan", "NaN") + "\n"])
def test_many_values_at_once_are_those_that_come_one_by_one(content: str) -> None:
    root = only(content).root
    first, second = root.get_all("sum")
    assert (first.figures(), second.figures()) == ({"bytes": "1e+09"}, {"bytes": "27.50"})
    assert second.numbers() == ["27.50", None, None]
    assert root.figures() == {}
    assert second.texts() == {key: each.text for key, each in second.items()}
    bytes_, lost = root.figure("sum", "bytes"), second.get("lost")
    assert bytes_ is not None
    assert lost is not None
    assert root.figure("sum", "bytes") == root.printed("sum", "bytes") == ("1e+09", bytes_.line)
    assert (second.figure("lost"), second.printed("lost")) == (None, (lost.text, lost.line))
    assert (root.printed("sum"), root.printed("nothing"), root.figure("start", "version")) == (None, None, None)


@pytest.mark.parametrize(
    ("separator", "end", "lines"), [(" ", "}", [1, 1, 1]), ("\n", "}", [2, 2, 4]), ("\n", "", [2, 2, 4])]
)
def test_values_of_nested_objects(separator: str, end: str, lines: list[int]) -> None:
    members = '"n": 0, "s": "0",_"w": null, "b": " ", "t": true, "x": " y "'
    content = f'{{_"a": {{{members}}},_"n": 1.50, "l": [{{"n": 2}}, {{"n": "3"}}, 4]'
    root = only(content.replace("_", separator) + end).root
    found = [root.figure("a", "n"), root.string("a", "s"), root.figure("n")]
    assert found == [*zip(("0", "0", "1.50"), lines, strict=True)]
    assert [root.figure("a", key) for key in ("s", "w", "b", "t", "missing")] == [None] * 5
    assert [root.string("a", key) for key in ("n", "w", "b", "t", "missing")] == [None] * 5
    printed = [root.printed("a", key) for key in ("n", "w", "t", "x")]
    assert [each and each.text for each in printed] == ["0", None, "true", " y "]
    assert [root.figure("l", 0, "n"), root.figure("l", 3, "n"), root.figure("n", "n")] == [("2", lines[2]), None, None]


@pytest.mark.parametrize(("separator", "end"), [(" ", "}"), ("\n", "}"), ("\n", "")])
def test_a_repeated_key_has_its_first_number_and_its_last_text(separator: str, end: str) -> None:
    root = only(f'{{"a": 1,{separator}"a": 2, "b": null, "c": "null"{end}').root
    assert (root.figures(), root.texts()["a"]) == ({"a": "1"}, "2")
    assert root.keys() == ["a", "a", "b", "c"]
    assert (root.printed("a"), root.printed("b"), root.printed("c")) == (("1", 1), None, None)


def test_what_is_no_number_is_none() -> None:
    root = only(TREE).root.get_all("sum")[1]
    lost = root.get("lost")
    assert lost is not None
    assert (lost.text, lost.is_number) == ("nan", False)
    assert root.figure("lost") is None
    assert root.figure("nothing") is None
    assert root.figure("bytes") is not None
    assert root.is_true("sent")
    assert not root.is_true("lost")


@pytest.mark.parametrize("word", ["NaN", "nan", "-nan", "Infinity", "-Infinity", "inf", "-inf", "-nan(ind)", "null"])
def test_words_for_no_number_do_not_break_a_document(word: str) -> None:
    document = only(f'{{"a": {word}, "b": 1}}')
    assert document.whole
    assert document.root.figure("a") is None
    assert document.root.figure("b") is not None


def test_strings_come_without_escapes() -> None:
    root = only(r'{"a\u0062": "x\"y\n\u00e9\\", "wrong": "\q", "odd": "\u0000\ud800.", "blank": " "}').root
    assert value(root) == {"ab": 'x"y\né\\', "wrong": r"\q", "odd": "\ufffd\ufffd.", "blank": " "}
    assert value(root.get("ab")) == 'x"y\né\\'
    assert root.string("wrong") is not None
    assert root.string("blank") is None


def test_documents_one_after_another_and_lines_between_them() -> None:
    content = f'[root@lnx1 ~]$ iperf3 -s -J\nwarning: {{this}} [  5]\n{TREE}{TREE}{{"event":"end"}}\n\niperf3: {{}}\n'
    found = read(content)
    assert [(each.first_line, each.last_line, each.whole) for each in found] == [
        (3, 10, True),
        (11, 18, True),
        (19, 19, True),
    ]
    assert [line for line, _ in json_documents.outside(text(content), (each.span for each in found))] == [1, 2, 21]


def test_json_lines_with_text_before_them() -> None:
    found = read('12:00:01 {"event":"start"}\n12:00:02 {"event":"end"}\n{}\n{"a":1}{"a":2}\n')
    assert [value(each.root) for each in found] == [{"event": "start"}, {"event": "end"}, {}, {"a": 1}, {"a": 2}]


def test_an_array_of_objects_is_a_document() -> None:
    document = only('lnx1:~ # ip -j link\n[{"mtu":1500},{"mtu":9000}]\nlnx1:~ # ')
    assert [value(each.get("mtu")) for each in document.root.values()] == [1500, 9000]


def test_a_document_cut_anywhere_gives_what_was_whole_and_says_so() -> None:
    """Values of a cut document are those of the whole."""
    complete = set(flat(only(TREE).root))
    for at in range(len('{"'), len(TREE.rstrip())):
        for document in read(TREE[:at]):
            assert not document.whole
            assert document.problem == "is cut off"
            assert document.problem_line == TREE[:at].removesuffix("\n").count("\n") + 1
            assert set(flat(document.root)) <= complete


def flat(node: Node, path: str = "") -> list[tuple[str, str, int]]:
    """Return all scalars with paths and lines."""
    found = []
    for key, each in node.items():
        found += (
            flat(each, f"{path}/{key}")
            if each.is_object or each.is_array
            else [(f"{path}/{key}", each.text, each.line)]
        )
    return found


@pytest.mark.parametrize(
    ("content", "line", "kept"),
    [
        ('{\n"a": 1,\nwarning: late\n"b": 2\n}\n', 3, {"a": 1}),
        ('{\n"a": 12\nwarning: late\n"b": 2\n}\n', 2, {}),
        ('{\n"a": "x"\n"b": 2\n}\n', 3, {"a": "x"}),
        ('{\n"a": 1,\n}\n', 3, {"a": 1}),
        ('{\n"a": [1, 2}\n}\n', 2, {"a": [1, 2]}),
        ('{\n"a": [1, "b": 2]\n}\n', 2, {"a": [1]}),
        ('{\n"a": {, "b": 2}\n}\n', 2, {"a": {}}),
        ('{\n"a": 1,\n2\n}\n', 3, {"a": 1}),
        ('{\n"a": 1,\n"b":\n}\n', 3, {"a": 1}),
        ('{\n"a": 1,\n"b": "no\nend"}\n', 3, {"a": 1}),
    ],
)
def test_what_is_no_json_ends_a_document_where_it_stands(content: str, line: int, kept: object) -> None:
    document = only(content)
    assert (document.problem_line, value(document.root)) == (line, kept)
    assert document.problem == "has something in it that is not JSON"


def test_what_is_inside_a_broken_document_is_no_document() -> None:
    broken = TREE.replace('"start":\t{', '"start":\t oops {')
    found = read(broken + TREE)
    assert [(each.first_line, each.whole) for each in found] == [(1, False), (9, True)]


def test_a_document_that_breaks_off_before_another_one() -> None:
    found = read(TREE.replace('"start"', '"title":\t"a",\n\t"start"').partition('\t"start"')[0] + "\n" + TREE)
    assert [(value(each.root.get("title")) if not each.whole else each.first_line) for each in found] == ["a", 4]


def test_nesting_has_a_limit() -> None:
    deep = json_documents.DEEPEST
    assert only('{"a":' + "[" * (deep - 1) + "]" * (deep - 1) + "}").whole
    document = only('{"a":' + "[" * 100_000)
    assert "levels of nesting" in document.problem
    assert document.problem_line == 1


@pytest.mark.parametrize(
    "hostile",
    [
        '{"a":' + " " * 200_000 + "x",
        '{"' + "\\" * 200_001,
        '{"a":1,' * 50_000,
        '{"a"\n' * 50_000,
        '{"a":"' * 50_000,
        "[" + " " * 200_000,
        "\n" * 200_000 + '{"a"',
        '{"a":[' + "1," * 100_000,
        '{"a":' + "9" * 200_000,
        "{ " * 100_000,
    ],
)
def test_hostile_text_is_read_once(hostile: str) -> None:
    assert [each for each in read(hostile) if each.whole] == []


def test_the_head_of_a_file_recognises_it() -> None:
    first, *_ = json_documents.head(text(TREE * 1000), 200)
    assert value(first.root.get("start", "version")) == "iperf 3.9"
    (only_one,) = json_documents.head(text('{"start": 1, "rest": [' + "1, " * 9000), 100)
    assert not only_one.whole
    assert value(only_one.root.get("start")) == 1
    assert [each.whole for each in json_documents.head(text(TREE))] == [True]


trees = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@settings(deadline=None)
@given(st.dictionaries(st.text(min_size=1), trees, min_size=1), st.sampled_from([None, 0, "\t"]), st.booleans())
def test_it_reads_what_the_standard_library_writes(
    tree: dict[str, object], indent: str | int | None, ascii_: bool
) -> None:
    def stored(text: str) -> str:
        return text.replace("\0", "\ufffd")

    def expected(each: object) -> object:
        if isinstance(each, dict):
            return {stored(key): expected(inner) for key, inner in each.items()}
        if isinstance(each, list):
            return [expected(inner) for inner in each]
        return stored(each) if isinstance(each, str) else each

    document = only(json.dumps(tree, indent=indent, ensure_ascii=ascii_))
    assert document.whole
    assert value(document.root) == expected(tree)


blanks = st.text(alphabet=" \n", max_size=2)


@st.composite
def printed(draw: st.DrawFn) -> str:
    """Return a document with line ends in all possible places."""
    text = json.dumps(draw(st.dictionaries(st.text(), trees, min_size=1)), ensure_ascii=draw(st.booleans()))
    parts = re.split(r'("(?:[^"\\]|\\.)*"|[\[\]{},:])', text)
    return "".join(part + draw(blanks) if part in "[]{},:" else part for part in parts)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ('{"a": {\n"n":\n1}}', 3),
        ('{"a": {"n"\n: 1}}', 2),
        ('{"a": {\n\n"n": 1}}', 3),
        ('{"a": [{\n}, {}, [], [\n], [{}]], "a":\t{\n"b": ",", "n": 1}}', 4),
        ('{"l": [{\n"a": [[\n[1,\n2]], "]"]}],\n"a": {"n": 1}}', 5),
        ('{"\\"{,": [",\\\\", "[{"],\n"a": {"n": 1}}', 2),
        ('{"a":\t{\n\t\t"s": [1, 2],\n\t\t"n": 1\n\t}\n}', 3),
    ],
)
def test_a_value_is_in_its_line_however_the_document_is_laid_out(content: str, line: int) -> None:
    for end in (len(content), len(content) - 1):
        node = only(content[:end]).root.get_all("a")[-1]
        assert node.figure("n") == ("1", line)


@settings(deadline=None)
@given(st.text(alphabet='{}[]",:\\ \n1e-.tnu'))
def test_any_text_is_read_without_an_exception(content: str) -> None:
    for document in read(content):
        assert document.whole is (document.problem_line is None)
        assert flat(document.root) is not None


def told(window: _Window) -> list[object]:
    """All that is read, to compare."""
    return [(each.span, each.problem, each.problem_line, flat(each.root)) for each in json_documents._read(window)]


@settings(deadline=None)
@given(
    st.lists(
        st.one_of(
            printed(),
            st.sampled_from(
                [TREE, TREE[:40], "{}", '{"a":', "[", "{", "$ cat", '"b": 12', ",", '"c"', ":", "}", "nan"]
            ),
            st.text(alphabet='{}[]",:\\ \n1e-.tnu'),
        )
    ).map("\n".join),
    st.booleans(),
)
def test_a_file_that_comes_in_pieces_is_read_as_in_one(content: str, ends_whole: bool) -> None:
    assert told(_Window(content.split("\n"), ends_whole)) == told(_Window([content], ends_whole))


def test_no_more_of_a_file_is_held_than_a_document_takes() -> None:
    longest = 0
    line = '{"event": "interval", "data": {"seconds": 1}}'
    for pieces in (
        [TREE.rstrip()] * 1000,
        [line] * 1000,
        [TREE.replace("nan", "oops")] * 1000,
        [line[:40], *[line] * 1000],
    ):
        window = _Window(pieces, ends_whole=True)
        for _ in json_documents._read(window):
            longest = max(longest, len(window.source.characters))
    assert longest < 20 * len(TREE)
