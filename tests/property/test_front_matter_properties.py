"""What our front matter reader accepts, the reference reader accepts, and reads alike."""

from __future__ import annotations

from hypothesis import event, given, settings
from hypothesis import strategies as st
from skills_ref.parser import parse_frontmatter  # type: ignore[import-untyped]  # ships no types

from registry.skill_md.front_matter import FrontMatterEntry, read_front
from registry.skill_md.rules import check_skill
from registry.skill_md.text import cut, stamp

SOUND = "text|two words|it's|a, b [c]|x#y|a:b|é ü|a\b|'q'|'a''b'|'a # b: c'|'1.0'|>|>-|>+|a'b|a  b"
DOUBTFUL = (
    "end:|a: b|a # b|1|1.0|1e3|0x1f|true|No|null|~|2024-01-01|12:30|-|- x|?|? x|: x|@a|`a`|%a|!a|&a|*a|[a]|{a: b}"
    "|'open|'a' b|>2||<<|=|...|a --- b|-x|?x|:x|# c|  deep"
)
OTHERS = [
    "|",
    "|-",
    "|+",
    "|2",
    '"q"',
    '"a\\"b"',
    '"open',
    '"a" b',
    '"\\q"',
    '"a\\nb"',
    "a\u00a0",
    "\u00a0a",
    'a"b',
]
VALUES = st.one_of(
    st.sampled_from(SOUND.split("|")),
    st.sampled_from(SOUND.split("|")),
    st.sampled_from(DOUBTFUL.split("|") + OTHERS),
)
BELOW = st.lists(st.sampled_from(["", " ", "  ", "    "]).flatmap(lambda pad: VALUES.map(pad.__add__)), max_size=3)
ENTRIES = st.lists(
    st.sampled_from(["  a: ", "  b: ", "  - ", "- ", "    c: "]).flatmap(lambda key: VALUES.map(key.__add__))
)
BLOCKS = st.one_of(
    st.builds(
        lambda key, value: [f"{key}: {value}"], st.sampled_from(["license", "compatibility", "name"]), VALUES
    ),
    st.builds(lambda value, below: [f"license: {value}", *below], VALUES, BELOW),
    st.builds(lambda key, below: [key, *below], st.sampled_from(["metadata:", "allowed-tools:"]), ENTRIES),
    st.sampled_from([[""], ["# c"], ["  # c"], ["a b: c"], ["metadata: # c", "  a: b"]]),
)
FRONTS = st.lists(BLOCKS, min_size=1, max_size=2).map(
    lambda blocks: "\n".join(
        ["---", "name: x", "description: d", *(line for block in blocks for line in block), "---", ""]
    )
)


def plain(value: str | tuple[str, ...] | tuple[FrontMatterEntry, ...]) -> object:
    if isinstance(value, str):
        return value
    if value and isinstance(value[0], FrontMatterEntry):
        return {entry.key: entry.value for entry in value if isinstance(entry, FrontMatterEntry)}
    return list(value)


@settings(derandomize=True, deadline=None, max_examples=200)
@given(FRONTS)
def test_accepted_front_matter_is_read_alike_by_the_reference_reader(text: str) -> None:
    accepted = not check_skill(text, "x")
    event(f"accepted: {accepted}")
    if accepted:
        lines = cut(text).front
        read = read_front(lines[1:-1], 2)
        theirs, _ = parse_frontmatter(text)
        assert {entry.key: plain(entry.value) for entry in read.entries} == theirs


@settings(derandomize=True, deadline=None, max_examples=80)
@given(FRONTS)
def test_a_stamp_in_accepted_front_matter_is_accepted_and_read(text: str) -> None:
    if check_skill(text, "x"):
        return
    lines = cut(text).front
    for label in ("x@1", "x@2"):
        place = stamp(lines, label)
        lines = lines[: place.at] + place.lines + lines[place.at + place.replaces :]
    assert check_skill("".join(lines), "x") == []
    theirs, _ = parse_frontmatter("".join(lines))
    assert theirs["metadata"]["germline"] == "x@2"
