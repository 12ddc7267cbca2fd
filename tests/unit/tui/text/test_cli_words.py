from __future__ import annotations

import io
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from events.errors import UsageError
from registry.query.diffs import line_diff
from strategies.evolve.results import CycleResult
from tests.worlds import asking
from tui.cli.config.config import Config, read_config, template
from tui.cli.output.color import Paint, column
from tui.cli.output.facts import folded
from tui.cli.output.invocation import Invocation
from tui.cli.printers.diff import print_files
from tui.cli.printers.evidence import print_evidence
from tui.cli.printers.evolve import print_cycle
from tui.text.durations import age, ago
from tui.text.names import LineName, as_arguments, split_place, split_skill
from tui.text.numbers import brief, interval, share, signed
from tui.text.terminal_text import clip, clip_middle, harmless, one_line
from tui.text.words import signal_words, since_words

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("sql-analyst:7", LineName(7, name="sql-analyst")),
        ("sql-analyst@3:7", LineName(7, name="sql-analyst", ref="3")),
        ("sql-analyst@2026-11-01T12:00:00Z:7", LineName(7, name="sql-analyst", ref="2026-11-01T12:00:00Z")),
        ("skills/x/SKILL.md:12", LineName(12, path="skills/x/SKILL.md")),
        ("SKILL.md:1", LineName(1, path="SKILL.md")),
        ("./x:1", LineName(1, path="./x")),
    ],
)
def test_a_line_is_named_by_skill_or_by_path(text: str, place: LineName) -> None:
    assert split_place(text) == place


@pytest.mark.parametrize("text", [":7", "sql-analyst:", "sql-analyst:x", "sql-analyst:0", "a:-1"])
def test_what_names_no_line_is_refused_with_the_forms_that_do(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        split_place(text)
    assert "sql-analyst:7" in caught.value.hint


def test_a_skill_may_be_named_at_a_version() -> None:
    assert split_skill("x@production") == ("x", "production")
    assert split_skill("x") == ("x", "")
    with pytest.raises(UsageError):
        split_skill("x@")


def test_figures_are_written_as_the_design_has_them() -> None:
    assert (share(0.4421), share(1.0), share(0.0)) == (".442", "1.000", ".000")
    assert (signed(0.0171), signed(-0.3, 1), signed(0.0)) == ("+.017", "−.3", "±.000")
    assert interval(0.0101, 0.019) == "[.010, .019]"
    assert interval(-0.06, 0.47, 2) == "[−.06, .47]"


def test_ages_are_told_in_the_largest_unit_that_fits() -> None:
    now = "2026-11-21T12:00:00.000000Z"
    assert ago("2026-11-19T11:00:00.000000Z", now) == "2 days ago"
    assert ago("2026-11-21T11:59:30.000000Z", now) == "just now"
    assert ago("2027-01-01T00:00:00.000000Z", now) == "just now"  # a clock that went backwards
    assert ago("2026-11-19T11:00:00", now) == "2 days ago"  # without a zone: UTC
    assert ago("at noon", now) == "at no known time"
    assert age("2026-09-01T00:00:00.000000Z", now) == "2mo"
    assert age("2026-11-21T11:00:00.000000Z", now) == "1h"


def test_text_from_a_log_cannot_steer_the_terminal() -> None:
    assert one_line("a\x1b[31mred\x07\r\n") == "a\\u001b[31mred\\u0007"
    assert one_line("abc\u202edef") == "abc\\u202edef"
    assert one_line("look\U000e0061\u200bfirst, café ⚠\ufe0f") == "look\\U000e0061\\u200bfirst, café ⚠\ufe0f"
    assert harmless("\tline\nnext\x1b") == "\tline\nnext\\u001b"


def test_what_is_cut_off_shows_that_it_is() -> None:
    assert clip("abcdef", 4) == "abc…"
    assert clip("abcd", 4) == "abcd"


def test_colour_follows_no_color_then_clicolor_force(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = io.StringIO()
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("CLICOLOR_FORCE", raising=False)
    assert not Paint.of(plain).enabled
    monkeypatch.setenv("CLICOLOR_FORCE", "1")
    assert Paint.of(plain)("x", "bad") == "\x1b[31mx\x1b[0m"
    monkeypatch.setenv("NO_COLOR", "1")
    assert Paint.of(plain)("x", "bad") == "x"


def test_the_settings_file_that_init_writes_sets_nothing_until_a_key_is_uncommented(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "germline.toml"
    file.write_text(template((tmp_path / "logs",)), encoding="utf-8")
    assert read_config() == Config()
    lines = file.read_text(encoding="utf-8").splitlines()
    keys = [
        line.removeprefix("# ")
        for line in lines
        if line.startswith(("# seed", "# [scan]", "# paths", "# ]", "#   "))
    ]
    file.write_text("\n".join(keys).replace("seed = 0", "seed = 7"), encoding="utf-8")
    assert read_config() == Config(seed=7, paths=(tmp_path / "logs",), by_project=True)


@pytest.mark.parametrize(
    ("text", "hint"),
    [("sead = 1", "seed"), ('seed = "x"', "whole number"), ("seed = ", "mend"), ("[scan]\npath=[]", "scan.paths")],
)
def test_a_setting_that_germline_does_not_know_is_an_error_that_names_the_nearest(
    text: str, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "germline.toml").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        read_config()
    assert hint in caught.value.hint


def test_what_came_since_a_signal_was_raised_is_said_where_there_is_some() -> None:
    signal = asking((), template="x").signal
    grown = signal.model_copy(update={"count": 1_210})
    assert since_words(signal, grown) == "; 1,207 more since"
    assert since_words(signal, signal) == since_words(grown, signal) == since_words(signal, None) == ""


def test_a_signal_without_error_and_action_still_has_a_name() -> None:
    signal = asking((), kind="uncovered_failure", calls_for="innovate").signal
    assert signal_words(signal) == '"(no action)", 3 times in 2 episodes'


@pytest.mark.parametrize(
    ("verdict", "reasons", "because"),
    [
        (
            "reject",
            ("risk difference -0.035 is below 0", "scope: run a"),
            "risk difference -0.035 is below 0",
        ),
        ("reject", ("scope: run a", "it breaks an anchor"), "it breaks an anchor"),
        ("promote", ("risk difference +0.420",), ""),
    ],
)
def test_a_turn_that_ends_without_a_promotion_says_why(
    verdict: str, reasons: tuple[str, ...], because: str, capsys: pytest.CaptureFixture[str]
) -> None:
    signal = asking(()).signal
    turn = CycleResult(strategy="repair", signal=signal, capsule="skill", verdict=verdict, reasons=reasons)
    print_cycle(Invocation(), turn)
    lines = [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()]
    assert [rest for label, *rest in lines if label == "because"] == ([[because]] if because else [])


# -- in the width of a terminal ------------------------------------------------------------------------

_WIDE = "データベースのテーブルを列挙して ください。🎉 then report, 次の質問の前に一覧を確認する"


@pytest.mark.parametrize("text", ["list the tables before the next query, then report", _WIDE, "cafe\u0301 " * 20])
def test_no_text_is_wider_than_asked_and_a_wide_character_takes_two_columns(text: str) -> None:
    for width in range(30, 90):
        lines = folded(text, width)
        assert max(map(cell_len, lines)) <= width
        assert "".join(lines).replace(" ", "") == text.replace(" ", "")
        assert cell_len(clip(text, width)) <= width
    assert clip("列出所有表", 5) == "列出…"
    assert clip("列出所有表", 10) == "列出所有表"


def test_a_path_that_is_longer_than_a_line_is_broken_behind_a_slash_and_its_name_stays_whole() -> None:
    path = "/srv/of-a-team/that-has-many/logs/of-agents/run-7.jsonl.gz"
    lines = folded(f"{path}, line 7, still there", 32)
    assert lines == ["/srv/of-a-team/that-has-many/", "logs/of-agents/run-7.jsonl.gz,", "line 7, still there"]
    assert folded(f"it is in {path}", 60) == ["it is in", path]
    assert max(map(len, folded("x" * 100, 40))) == max(map(len, folded("/srv/" + "x" * 100, 40))) == 40


@given(st.text("ab é列/", max_size=200), st.integers(10, 80))
def test_what_is_cut_in_its_middle_fits_and_keeps_how_it_begins_and_ends(text: str, most: int) -> None:
    cut = clip_middle(text, most)
    assert cell_len(cut) <= most
    begun, _, ended = cut.partition("…")
    assert text.startswith(begun)
    assert text.endswith(ended)
    assert cut == text or cell_len(text) > most


def test_the_next_command_is_whole_and_stands_beside_its_label_however_long_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = f"germline why {'x' * 64}@12:117"
    monkeypatch.setenv("COLUMNS", "80")
    Invocation().say(f"next       {command}    germline log")
    Invocation().say("next       germline log    germline status")
    assert capsys.readouterr().out.splitlines() == [
        f"next       {command}",
        "           germline log",
        "next       germline log    germline status",
    ]


def test_a_log_with_a_long_name_is_named_whole_and_what_became_of_it_stands_below(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = "x" * 40 + ".json.gz"
    kept = SimpleNamespace(
        evidence=SimpleNamespace(file=f"logs/{file}", byte_start=1_358_875, text="no table " * 20)
    )
    for width in (80, 90, 132):
        monkeypatch.setenv("COLUMNS", str(width))
        print_evidence(Invocation(), [kept], [], [True], every=True)  # type: ignore[list-item]
        lines = capsys.readouterr().out.splitlines()
        assert max(map(len, lines)) <= width
        assert f"  evidence  {file}, byte 1,358,875" in lines[0]
        assert sum(line.endswith("still there") for line in lines) == 1


def test_a_column_is_as_wide_as_its_longest_text_where_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["sql-analyst", "x" * 50]
    widths = []
    for width in (80, 100, 200):
        monkeypatch.setenv("COLUMNS", str(width))
        widths.append(column(names, 24, 44))
    assert widths == [36, 50, 50]


def test_a_count_that_has_no_room_keeps_its_size() -> None:
    texts = [brief(number, 7) for number in (0, 1_204, 999_999, 1_234_567, 12_345_678, 999_999_999, 10**12)]
    assert texts == ["0", "1,204", "999,999", "1.23M", "12.3M", "999M", "1.00T"]
    assert [brief(number, 5) for number in (9_999, 10_000, 999_999)] == ["9,999", "10.0k", "999k"]
    assert [brief(number, 4) for number in (999, 9_999, 10_000, 999_999, 10**6)] == [
        "999",
        "9.9k",
        "10k",
        "999k",
        "1.0M",
    ]


def test_a_diff_on_the_command_line_marks_blanks_where_nothing_else_changed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    print_files(Invocation(), [("SKILL.md", line_diff(["a b\n", "c\td \n"], ["a b\r\n", "c d\n"]))])
    assert capsys.readouterr().out.splitlines()[2:] == [
        "    1 − a b␊",
        "           ^",
        "    2 − c→d·",
        "         ^ ^",
        "    1 + a b␍␊",
        "           ^^",
        "    2 + c·d",
        "         ^",
    ]


@pytest.mark.parametrize(
    ("words", "written"),
    [(("small", "large"), "small large"), (("a b", "c"), "'a b' c"), (("small", "-large"), "-- small -large")],
)
def test_no_argument_that_is_printed_is_taken_for_an_option(words: tuple[str, ...], written: str) -> None:
    assert as_arguments(*words) == written
