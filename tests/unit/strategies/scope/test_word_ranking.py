"""What some words are nearest to."""

from __future__ import annotations

from collections import Counter

import pytest

from strategies.scope.word_ranking import MARGIN, TextIndex, words_of

INDEX = TextIndex(
    {
        "sql": Counter(words_of("Answers questions over databases with SQL queries on tables.")),
        "git": Counter(words_of("Switches branches in a git repository, commits and pushes.")),
    }
)


def asked(text: str) -> dict[str, float]:
    return dict.fromkeys(words_of(text), 1.0)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("no_such_table: existsSync", ["table", "sync"]),
        ("HTTPServer TABLES branches queries", ["http", "server", "table", "branch", "querie"]),
        ("no such file or directory", ["directory"]),
        ("Größe überprüfen", ["größe", "überprüfen"]),
        ("", []),
    ],
)
def test_a_text_is_its_words_without_endings_and_what_every_error_says(text: str, words: list[str]) -> None:
    assert words_of(text) == words


def test_the_text_that_shares_the_words_is_nearest_by_a_margin() -> None:
    near = INDEX.nearest(asked("git push to branch rejected"))
    assert (near.name, near.shared) == ("git", ("branch", "git", "push"))
    assert near.margin >= MARGIN
    assert near.margin == pytest.approx(near.score)


def test_a_chance_word_among_many_others_is_no_margin() -> None:
    near = INDEX.nearest(asked("kubernetes pods evicted namespace quota memory helm chart rollout query git node"))
    assert near.margin < MARGIN


def test_what_all_texts_hold_alike_tells_none_apart() -> None:
    index = TextIndex({"a": Counter(["deploy"]), "b": Counter(["deploy"])})
    assert index.nearest({"deploy": 1.0}).margin == 0.0


def test_no_shared_word_and_no_text_give_no_name() -> None:
    assert INDEX.nearest(asked("bread")).name == ""
    assert TextIndex({"a": {}}).nearest({"x": 1.0}).name == ""


def test_scores_stay_under_one_however_often_a_word_stands_there() -> None:
    index = TextIndex({"a": Counter({"sql": 10_000}), "b": Counter({"git": 1})})
    assert 0.9 < index.scores({"sql": 1.0})["a"] < 1.0


def test_scores_do_not_hang_on_the_order_of_the_words() -> None:
    weights = {word: 1 / (at + 3) for at, word in enumerate((*INDEX.texts["sql"], *INDEX.texts["git"]))}
    words = sorted(weights)
    orders = [{word: weights[word] for word in order} for order in (words, words[::-1], list(weights))]
    scores = [INDEX.scores(order) for order in orders]
    assert all(each == scores[0] for each in scores)
    assert all(0 < score < 1 for score in scores[0].values())
