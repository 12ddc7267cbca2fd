"""Skills found for a task, and skills that get in each other's way."""

from __future__ import annotations

from contextlib import closing

import pytest

from bench.find import by_overlap, by_words, generated
from events.errors import UsageError
from events.sqlite.word_index import WordIndex
from strategies.scope.find_skills import WEIGHTS, find_skills, task_words, words_by_field

TEXT = ["# Export\n", "Write the table.\n", "Use `sqlite3 -csv`.\n", "```\n", "make report\n", "```\n"]


def test_words_are_told_apart_by_where_they_are_written() -> None:
    name, description, triggers, headings, commands, lines = words_by_field(
        "csv-export", "Exports tables as CSV.", TEXT, ["no such table"]
    )
    assert (name, description, triggers) == (["csv", "export"], ["exports", "tables", "csv"], ["table"])
    assert (headings, commands) == (["export"], ["sqlite", "csv", "report", "sqlite3"])
    assert "write" in lines
    assert "report" not in lines


def test_names_that_hold_a_digit_are_words() -> None:
    assert task_words("put it on S3 with k8s") == ["put", "s3", "k8s"]


def test_a_word_as_long_as_a_skill_may_be_is_split_in_one_pass() -> None:
    words = task_words("x" * 1_000_000 + " k8s")  # looked for from each letter on, a digit would take hours
    assert words[-1] == "k8s"


def test_a_task_that_says_nothing_is_refused() -> None:
    with closing(WordIndex(tuple(WEIGHTS))) as index, pytest.raises(UsageError, match="holds no word"):
        find_skills(index, "do it with this", 3)


def test_a_word_of_the_description_counts_more_than_one_of_the_text() -> None:
    with closing(WordIndex(tuple(WEIGHTS))) as index:
        texts = {
            "a": words_by_field("a", "Sends letters.", ["Invoices are paid late.\n"]),
            "b": words_by_field("b", "Pays invoices.", ["Letters are sent late.\n"]),
        }
        index.fill(texts, source="test", upto=1)
        assert [document.name for document in find_skills(index, "an invoice", 3)] == ["b", "a"]


def test_more_right_skills_are_found_than_by_the_count_of_shared_words() -> None:
    library = generated(seed=5, skills=300, questions=150)
    hits = [
        sum(bool(question.right & set(rank(question.task)[:3])) for question in library.questions)
        for rank in (by_words(library, WEIGHTS), by_overlap(library))
    ]
    assert hits[0] > hits[1]
