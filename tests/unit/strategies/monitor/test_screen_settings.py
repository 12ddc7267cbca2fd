"""Keys that a person gave to bindings, the theme that is remembered, the draw of a second look."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from events.errors import UsageError
from strategies.monitor.spot_check import drawn, second_looks
from tui.screens.app import GermlineApp
from tui.screens.host_protocol import Settings
from tui.screens.keymap import checked_keys
from tui.screens.save_theme import remember_theme

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("keys", "message", "hint"),
    [
        ({"skills.wy": "w"}, "keys.skills.wy names no binding", "keys.skills.why"),
        ({"skills.why": "ctlr+w"}, "which is no key", "ctrl+w"),
        ({"skills.why": "j"}, "keys.skills.why is j, which is the key of move.down", "another key"),
        ({"skills.why": "w", "skills.open": "w"}, "which is the key of", "another key"),
    ],
)
def test_a_wrong_key_is_told_with_what_was_perhaps_meant(keys: dict[str, str], message: str, hint: str) -> None:
    with pytest.raises(UsageError, match=message) as refused:
        checked_keys(keys)
    assert hint in refused.value.hint


def test_keys_may_be_exchanged_and_signs_may_be_written_as_they_are() -> None:
    assert checked_keys({"change.undo": "Z", "change.redo": "z"}) == {"change.undo": "Z", "change.redo": "z"}
    assert (
        checked_keys({"app.help": "h"} | {"history.older": "left", "why.older": "left", "trends.older": "left"})[
            "app.help"
        ]
        == "h"
    )
    assert checked_keys({"find.open": "?", "app.help": "/,f1"})["find.open"] == "question_mark"


def test_an_unknown_theme_is_told_before_a_screen_is_drawn() -> None:
    with pytest.raises(UsageError, match="there is no theme 'drakula'") as refused:
        GermlineApp(lambda: None, settings=Settings(theme="drakula"))  # type: ignore[arg-type,return-value]
    assert "ansi-dark" in refused.value.hint


@pytest.mark.parametrize(
    "text",
    [
        "",
        "seed = 7",
        "# mine\n[ui] # looks\nascii = true\ntheme = 'nord' # dark\n\n[scan]\nworkers = 2\n",
        "[scan]\nworkers = 2\n[ui]\n",
        "[keys]\n'find.open' = 'f'\n",
    ],
)
def test_a_theme_is_remembered_and_every_other_line_stays(tmp_path: Path, text: str) -> None:
    file = tmp_path / "deep" / "germline.toml"
    if text:
        file.parent.mkdir()
        file.write_text(text)
    remember_theme(file, "gruvbox")
    remember_theme(file, "dracula")
    now = file.read_text()
    assert tomllib.loads(now)["ui"]["theme"] == "dracula"
    kept = [line for line in text.splitlines() if line and not line.startswith("theme")]
    assert [line for line in now.splitlines() if line in kept] == kept
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize("text", ["ui.theme = 'nord'\n", "ui = {theme = 'nord'}\n", "[ui\n"])
def test_a_file_that_says_it_in_another_way_is_left_alone(tmp_path: Path, text: str) -> None:
    file = tmp_path / "germline.toml"
    file.write_text(text)
    with pytest.raises(UsageError) as refused:
        remember_theme(file, "dracula")
    assert 'theme = "dracula"' in refused.value.hint
    assert file.read_text() == text


@dataclass(frozen=True)
class Promotion:
    """As much of a candidate as a draw looks at."""

    judged: int
    version: int | None = 2
    reviewed: object = None
    looked_over: object = None


def test_of_every_so_many_promotions_one_is_drawn_and_stays_drawn() -> None:
    made = [Promotion(judged) for judged in range(10, 60, 2)]
    first = drawn(made, every=10, seed=0)
    assert len(first) == 2
    assert drawn([*made[::-1], Promotion(90)], every=10, seed=0)[:2] == first
    assert all(promotion in made[:10] or promotion in made[10:20] for promotion in first)
    draws = {drawn(made, every=10, seed=seed)[0].judged for seed in range(30)}
    assert len(draws) > 5
    assert drawn(made, every=0, seed=0) == []


def test_what_a_person_approved_or_nobody_promoted_is_not_drawn() -> None:
    made = [Promotion(1, None), Promotion(2, reviewed="yes"), Promotion(3)]
    assert drawn(made, every=1, seed=0) == [made[2]]


def test_a_second_look_waits_until_somebody_took_it_the_newest_first() -> None:
    made = [Promotion(1), Promotion(2, looked_over="agree"), Promotion(3)]
    assert second_looks(made, every=1, seed=0) == [made[2], made[0]]
