"""Documents ranked by the words of their fields."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.sqlite.word_index import WordIndex

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FIELDS = ("name", "text")
WEIGHTS = {"name": 2.0, "text": 1.0}
DOCUMENTS = {"sheets": (["sheets"], ["table", "csv", "export"]), "mail": (["mail"], ["letter", "export"])}


def filled(file: Path | None = None) -> WordIndex:
    index = WordIndex(FIELDS, file) if file is None else WordIndex.kept_in(file, FIELDS)
    index.fill(DOCUMENTS, source="a", upto=7)
    return index


def test_the_document_that_shares_rarer_words_comes_first_with_what_it_shares() -> None:
    with closing(filled()) as index:
        first, second = index.best(["csv", "export", "unknown"], WEIGHTS, 5)
    assert (first.name, first.shared) == ("sheets", {"text": ("csv", "export")})
    assert (second.name, second.shared) == ("mail", {"text": ("export",)})
    assert first.score > second.score


def test_a_field_without_weight_is_not_looked_at() -> None:
    with closing(filled()) as index:
        assert index.best(["mail"], {"text": 1.0}, 5) == []
        assert [document.name for document in index.best(["mail"], {"name": 1.0}, 5)] == ["mail"]


def test_no_words_find_nothing() -> None:
    with closing(filled()) as index:
        assert index.best([], WEIGHTS, 5) == index.best(["unknown"], WEIGHTS, 5) == []


def test_it_is_kept_in_its_file_and_takes_one_document_for_another(tmp_path: Path) -> None:
    file = tmp_path / "own" / "words.db"
    filled(file).close()
    with closing(WordIndex.kept_in(file, FIELDS)) as index:
        assert index.filled() == ("a", 7)
        index.fill({"mail": (["mail"], ["stamp"]), "sheets": ([], [])}, source="a", upto=9)
        assert index.filled() == ("a", 9)
        assert index.best(["export", "letter", "sheets"], WEIGHTS, 5) == []
        assert [document.name for document in index.best(["stamp"], WEIGHTS, 5)] == ["mail"]
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_file_that_is_no_index_is_left_as_it_is(tmp_path: Path) -> None:
    foreign = tmp_path / "words.db"
    foreign.write_text("no database")
    for file in (foreign, foreign / "no folder.db"):
        with closing(WordIndex.kept_in(file, FIELDS)) as index:
            index.fill(DOCUMENTS, source="a", upto=1)
            assert index.best(["csv"], WEIGHTS, 1)
    assert foreign.read_text() == "no database"


def test_what_fails_in_the_middle_leaves_what_was_there(tmp_path: Path) -> None:
    file = tmp_path / "words.db"
    with closing(filled(file)) as index:
        try:
            index.fill({"mail": (["mail"], ["new"]), "broken": (["one field"],)}, source="b", upto=8)
        except sqlite3.Error:
            pass
        else:
            raise AssertionError("a document without all fields was taken")
        assert index.filled() == ("a", 7)
        assert [document.name for document in index.best(["letter"], WEIGHTS, 1)] == ["mail"]


@pytest.fixture(scope="module")
def index() -> Iterator[WordIndex]:
    with closing(filled()) as index:
        yield index


@given(words=st.lists(st.text(alphabet=st.characters(categories=("L", "N")), min_size=1), max_size=20))
def test_any_words_can_be_asked(index: WordIndex, words: list[str]) -> None:
    assert len(index.best(words, WEIGHTS, 3)) <= 3
