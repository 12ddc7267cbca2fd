"""Edits on lines with identity."""

from __future__ import annotations

import pytest

from events.errors import EditError
from events.types.parts import Edit
from registry.state.edits import align, apply_edits, check_protected
from registry.state.gene import Gene
from registry.state.line import SkillLine


def numbered(*texts: str) -> tuple[SkillLine, ...]:
    return tuple(SkillLine(number, text, 10, 1) for number, text in enumerate(texts, start=1))


ABC = numbered("a\n", "b\n", "c\n")


def edited(lines: tuple[SkillLine, ...], *edits: Edit) -> tuple[SkillLine, ...]:
    return apply_edits(lines, edits, next_line=len(lines) + 1, origin=20, version=2)[0]


def brief(lines: tuple[SkillLine, ...]) -> list[tuple[int, str, int]]:
    return [(line.id, line.text, line.origin) for line in lines]


def edit(op: str, *text: str, target: tuple[int, ...] = ()) -> Edit:
    return Edit.model_validate({"op": op, "gene": "g", "target": target, "text": text})


def gene(*protected: int, whole: bool = False) -> Gene:
    return Gene("g", "skill", 1, "T", ABC, 4, protected=frozenset(protected), protected_whole=whole)


def test_append_and_insert_give_new_ids_and_leave_the_rest_alone() -> None:
    lines, next_line = apply_edits(
        ABC,
        [edit("append", "d\n", "e\n"), edit("insert_after", "x\n", target=(1,))],
        next_line=7,
        origin=20,
        version=2,
    )
    assert [(line.id, line.text) for line in lines] == [
        (1, "a\n"), (9, "x\n"), (2, "b\n"), (3, "c\n"), (7, "d\n"), (8, "e\n"),
    ]  # fmt: skip
    assert next_line == 10
    assert {line.version for line in lines if line.origin == 20} == {2}


def test_a_rewritten_span_keeps_the_identity_of_the_lines_it_left_alone() -> None:
    after = edited(ABC, edit("replace", "a\n", "x\n", "y\n", "c\n", target=(1, 2, 3)))
    assert brief(after) == [(1, "a\n", 10), (4, "x\n", 20), (5, "y\n", 20), (3, "c\n", 10)]


def test_in_a_rewritten_span_of_equal_length_each_line_succeeds_its_predecessor() -> None:
    after = edited(ABC, edit("replace", "x\n", "y\n", target=(1, 2)))
    assert brief(after) == [(1, "x\n", 20), (2, "y\n", 20), (3, "c\n", 10)]


def test_a_line_that_moves_up_within_a_rewritten_span_stays_itself() -> None:
    assert brief(edited(ABC, edit("replace", "b\n", "x\n", target=(1, 2)))) == [
        (2, "b\n", 10), (4, "x\n", 20), (3, "c\n", 10),
    ]  # fmt: skip


def test_delete_takes_adjacent_lines_away_and_their_ids_are_not_given_again() -> None:
    after = edited(ABC, edit("delete", target=(2, 3)), edit("append", "d\n"))
    assert brief(after) == [(1, "a\n", 10), (4, "d\n", 20)]


@pytest.mark.parametrize(("added", "completed"), [("b\n", "a\n"), ("b\r\n", "a\r\n"), ("b", "a\n")])
def test_a_last_line_without_ending_is_completed_and_stays_itself(added: str, completed: str) -> None:
    after = edited(numbered("a"), edit("append", added))
    assert brief(after) == [(1, completed, 10), (2, added, 20)]


@pytest.mark.parametrize(
    "wrong",
    [
        edit("append", "x\n", target=(1,)),
        edit("append"),
        edit("append", ""),
        edit("append", "x\ny\n"),
        edit("append", "x", "y\n"),
        edit("append", "x\0\n"),
        edit("insert_after", "x\n"),
        edit("insert_after", "x\n", target=(1, 2)),
        edit("insert_after", "x", target=(1,)),
        edit("replace", "x\n", target=(9,)),
        edit("replace", "x\n", target=(1, 3)),
        edit("replace", "x\n", target=(2, 1)),
        edit("replace", "x\n", target=(1, 1)),
        edit("replace", target=(1,)),
        edit("replace", "x", target=(1,)),
        edit("delete", target=()),
        edit("delete", "x\n", target=(1,)),
    ],
)
def test_an_edit_that_does_not_fit_is_refused(wrong: Edit) -> None:
    with pytest.raises(EditError):
        edited(ABC, wrong)


def test_an_edit_of_a_line_that_an_earlier_edit_took_away_is_refused() -> None:
    with pytest.raises(EditError, match="no line 2"):
        edited(ABC, edit("delete", target=(2,)), edit("insert_after", "x\n", target=(2,)))


def test_protection_names_the_line_that_an_edit_would_change() -> None:
    with pytest.raises(EditError, match=r"line 2 .*protected.*'b'") as refusal:
        check_protected(gene(2), [edit("replace", "a\n", "x\n", target=(1, 2))])
    assert refusal.value.hint
    with pytest.raises(EditError, match="line 2"):
        check_protected(gene(2), [edit("delete", target=(1, 2, 3))])


def test_protection_allows_edits_around_the_line() -> None:
    check_protected(
        gene(2),
        [
            edit("append", "d\n"),
            edit("insert_after", "x\n", target=(2,)),
            edit("replace", "x\n", "b\n", target=(1, 2)),
        ],
    )


def test_a_gene_protected_as_a_whole_takes_no_edit() -> None:
    check_protected(gene(whole=True), [])
    with pytest.raises(EditError, match="'T' of skill is protected"):
        check_protected(gene(whole=True), [edit("append", "d\n")])


def test_aligning_names_the_fewest_lines() -> None:
    lines = numbered("a\n", "\n", "b\n", "\n", "c\n")
    assert align(lines, tuple(line.text for line in lines), "g") == ()
    assert align(lines, ("a\n", "\n", "B\n", "\n", "c\n", "d\n"), "g") == (
        edit("replace", "B\n", target=(3,)),
        edit("insert_after", "d\n", target=(5,)),
    )


@pytest.mark.parametrize(
    ("old", "new", "ids"),
    [
        (("a\n", "b\n"), ("x\n", "a\n", "b\n"), [3, 1, 2]),
        (("a\n", "b\n"), ("b\n",), [2]),
        (("a\n", "b\n"), (), []),
        ((), ("a\n",), [1]),
        (("a\n", "b\n", "c\n"), ("a\n", "x\n", "y\n", "c\n"), [1, 4, 5, 3]),
        (("a\n", "b\n", "c\n"), ("x\n", "y\n", "c\n"), [1, 2, 3]),
        (("\n", "\n", "a\n", "\n"), ("\n", "a\n", "\n", "\n"), [1, 3, 5, 4]),
        (("a\n", "b"), ("a\n", "b\n", "c\n"), [1, 2, 3]),
        (("a\n", "b\n"), ("a\n", "b"), [1, 2]),
        (("a\n", "b\n", "c\n"), ("c\n", "a\n", "b\n"), [4, 1, 2]),
    ],
)
def test_aligned_lines_keep_the_identity_that_a_reader_would_give_them(
    old: tuple[str, ...], new: tuple[str, ...], ids: list[int]
) -> None:
    lines = numbered(*old)
    after = edited(lines, *align(lines, new, "g"))
    assert tuple(line.text for line in after) == new
    assert [line.id for line in after] == ids


def test_aligning_refuses_what_is_not_made_of_whole_lines() -> None:
    with pytest.raises(EditError):
        align(ABC, ("a\nb\n", "c\n"), "g")
