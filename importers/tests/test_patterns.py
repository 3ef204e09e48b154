"""Patterns of run ids: templates, and those that would take for ever."""

import pytest

from importers.collate.patterns import LONGEST, compile_run_ids, fitting, from_template, is_template

USUAL = (
    r"NM(?P<device>GB|HI|GL|VC)(?P<workload>[RCSP])(?P<mtu>[159])(?P<users>\d\d)",
    r"(?P<device>[a-z]+)-(?P<users>\d+)-(?P<trial>\d+)",
    r"run(?P<trial>\d*)",
    r"(?:perf-)?(?P<device>QDIO|GbE|Hiper)(?P<users>\d{1,4})",
    r"(?P<campaign>..).*",
)
ENDLESS = (
    r"(a+)+b",
    r"(a|aa)+b",
    r"(?:\w+\s?)+x",
    r"((a*)*)*b",
    r"(ab|ab)*c",
    r".*.*.*.*x",
    r"(?P<a>.)(?P=a)*",
    r"(?=.*)a",
)


@pytest.mark.parametrize("regex", USUAL)
def test_usual_patterns_are_taken(regex: str) -> None:
    assert compile_run_ids(regex).pattern == regex


@pytest.mark.parametrize("regex", ENDLESS)
def test_what_could_take_too_long_is_refused_before_it_is_tried(regex: str) -> None:
    with pytest.raises(ValueError, match="could take too long"):
        compile_run_ids(regex)


def test_what_is_no_pattern_is_said() -> None:
    with pytest.raises(ValueError, match="is no regular expression: missing"):
        compile_run_ids("(?P<device")


def test_a_long_text_is_no_run_id() -> None:
    compiled = compile_run_ids(".*")
    assert fitting(compiled, "a" * LONGEST)
    assert fitting(compiled, "a" * (LONGEST + 1)) is None


def test_a_template_reads_fields_by_their_width() -> None:
    regex = from_template("NM{device:2}{workload:1}.{users}")
    assert regex == r"NM(?P<device>.{2})(?P<workload>.)\.(?P<users>.+)"
    match = fitting(compile_run_ids(regex), "NMGBR.50")
    assert match is not None
    assert match.groupdict() == {"device": "GB", "workload": "R", "users": "50"}


def test_a_field_may_not_be_there_twice() -> None:
    with pytest.raises(ValueError, match="users twice"):
        from_template("{users:2}{users:1}")


@pytest.mark.parametrize(
    ("text", "template"), [("NM{device:2}", True), (r"a{2}", False), (r"(?P<users>\d{2})", False), ("", False)]
)
def test_templates_are_told_from_expressions(text: str, template: bool) -> None:
    assert is_template(text) is template
