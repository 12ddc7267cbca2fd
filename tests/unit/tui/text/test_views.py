"""Views: what rows say, and that they fit."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from events.types.claims import After, AfterError
from events.types.score import Delta, Score, Unmeasured
from registry.query.diffs import line_diff
from registry.query.library import Raised
from strategies.episodes.usage import Usage
from strategies.policy.presets import PRESETS, Weights
from strategies.scope.scope import Route
from strategies.select.pick import KINDS
from strategies.signals.signal_groups import SignalGroup
from tests.worlds import asking, call, episode
from tui.facts.presets import preset_sentence
from tui.facts.scores import pair_parts
from tui.reads.markdown_tones import MOST_CHARS, markdown_tones
from tui.reads.signal_facts import SignalFact
from tui.reads.skills import Link, OpenWork, Week
from tui.text.rows import (
    RowPart,
    ascii_of,
    beside,
    cell,
    clean,
    cut,
    cut_left,
    cut_row,
    labelled,
    marked,
    text_of,
    width_of,
    wrap,
)
from tui.text.words import VERDICTS, claim_words
from tui.views.blame import matches_in
from tui.views.diff import changes, diff_rows
from tui.views.digest import digest_rows
from tui.views.evidence import template_spans
from tui.views.frame import KeyLine, ScreenTab, bar_row, help_rows, notice_rows, tab_rows
from tui.views.presets import shares_bar
from tui.views.score_bars import Axis, axis_over, interval_bar, sparkline
from tui.views.scores import BAR, before_and_after, delta_part, score_row
from tui.views.sessions import session_row, sessions_header
from tui.views.signals import signal_row, signals_header
from tui.views.skills import skill_rows, skills_header
from tui.views.why import chain_row

if TYPE_CHECKING:
    from tui.text.rows import Row

TEXTS = st.text(st.characters(codec="utf-8"), max_size=60)
ROWS = st.lists(st.builds(RowPart, TEXTS.map(clean), st.sampled_from(["", "dim", "good"])), max_size=5).map(tuple)


def score(value: float, *, evaluator: str = "e1", spread: float = 0.02) -> Score:
    return Score(
        value=value,
        n=1_312,
        low=value - spread,
        high=value + spread,
        kind="replay",
        endpoint="outcome",
        evaluator=evaluator,
        split="sealed",
        coverage=0.91,
        measured_at="2026-11-01T12:00:00.000000Z",
    )


# -- rows ----------------------------------------------------------------------------------------------


@settings(derandomize=True, deadline=None)
@given(ROWS, st.integers(1, 80))
def test_a_cut_row_never_is_wider_than_asked(row: Row, width: int) -> None:
    assert width_of(cut_row(row, width)) <= width


@settings(derandomize=True, deadline=None)
@given(TEXTS.map(clean), st.integers(1, 80), st.booleans())
def test_a_cell_has_exactly_its_width(text: str, width: int, right: bool) -> None:  # noqa: FBT001 - drawn by hypothesis
    assert cell_len(cell(text, width, right=right).text) == width


@settings(derandomize=True, deadline=None)
@given(ROWS, st.integers(2, 80))
def test_wrapping_loses_nothing_but_the_spaces_it_breaks_at(row: Row, width: int) -> None:
    lines = wrap(row, width)
    assert all(width_of(line) <= width for line in lines)
    assert "".join(map(text_of, lines)).replace(" ", "") == text_of(row).replace(" ", "")


@settings(derandomize=True, deadline=None)
@given(TEXTS.map(clean), st.integers(-3, 40))
def test_texts_fit_whatever_the_width_even_before_there_is_any(text: str, width: int) -> None:
    assert cell_len(cut(text, width)) <= max(width, 0)
    assert cell_len(cut_left(text, width)) <= max(width, 0)
    assert "".join(map(text_of, wrap((RowPart(text),), width))).replace(" ", "") == text.replace(" ", "")


def test_a_path_is_cut_from_the_left() -> None:
    assert cut_left("logs/run.jsonl:12", 9) == "…jsonl:12"


def test_what_is_cut_off_leaves_an_ellipsis() -> None:
    assert cut("list the tables", 9) == "list the…"
    assert text_of(cut_row((RowPart("list "), RowPart("the tables", "dim")), 9)) == "list the…"
    assert cut("列出所有表", 5) == "列出…"


def test_what_is_measured_to_wrap_a_line_grows_with_it_and_not_with_its_square(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    measured = [0]

    def counting(text: str) -> int:
        measured[0] += len(text)
        return cell_len(text)

    monkeypatch.setattr("tui.text.rows.cell_len", counting)
    text = "word and " * 800
    wrap((RowPart(text),), 60)
    assert measured[0] < 5 * len(text)
    measured[0] = 0
    assert len(labelled("line", (RowPart(text),), 60, limit=3)) == 3
    assert measured[0] < 4 * len(text)  # only what is cut off is measured to its end


@pytest.mark.parametrize(("width", "shown"), [(80, "a" * 30), (60, "a" * 10)])
def test_a_name_without_room_is_cut_where_the_top_bar_goes_on_behind_it(width: int, shown: str) -> None:
    (row,) = bar_row(["Skills", "a" * 64, "@1", "why"], "balanced", "1 of 1", width, live=True)
    bar = text_of(row)
    assert shown in bar
    assert "… › @1 › why   " in bar
    assert bar.endswith("balanced  ● live  1 of 1 ")
    assert width_of(row) == width


def test_a_long_note_gives_way_to_where_one_is() -> None:
    note = "0 candidates to decide, 0 to look at"
    (row,) = bar_row(["Review"], "balanced", note, 60, live=True)
    assert text_of(row).split() == ["Review", "balanced", "●", "live"]
    (row,) = bar_row(["Review"], "balanced", note, 80, live=True)
    assert note in text_of(row)


def test_what_to_type_next_is_never_cut() -> None:
    hint = "germline evolve --review   holds what the gate lets through"
    rows = [text_of(row) for row in notice_rows("nothing waits for review", hint, 50)]
    assert all(cell_len(row) <= 50 for row in rows)
    assert " ".join(" ".join(rows[3:]).split()) == "next germline evolve --review holds what the gate lets through"


def test_wrapping_breaks_between_words() -> None:
    assert [text_of(line) for line in wrap((RowPart("list the "), RowPart("tables", "dim")), 8)] == [
        "list the",
        "tables",
    ]


def test_what_goes_on_below_begins_where_the_row_above_does_whatever_gap_it_broke_at() -> None:
    row = (RowPart("promoted to version 3"), RowPart("   4 days ago", "dim"))
    assert [text_of(line) for line in labelled("last", row, 33)] == [
        "last      promoted to version 3",
        "          4 days ago",
    ]


def test_a_label_stands_before_the_first_row_alone_and_the_last_row_is_cut() -> None:
    rows = labelled("signal", (RowPart("one two three four five six"),), 20, limit=2)
    assert [text_of(row) for row in rows] == ["signal    one two", "          three fou…"]


@pytest.mark.parametrize("text", ["\x1b[2J", "a\x07b", "a\u202eb", "a\u200bb", "a\x9bb", "x\ty", "x\r\n"])
def test_text_of_a_log_never_steers_the_terminal(text: str) -> None:
    cleaned = clean(text)
    assert cleaned.isprintable()
    assert len(cleaned) == len(text.rstrip("\r\n"))


def test_two_blocks_stand_beside_each_other_whatever_their_heights() -> None:
    rows = beside([(RowPart("a"),), (RowPart("b"),)], [(RowPart("c"),)], left_width=3, gap=1)
    assert [text_of(row) for row in rows] == ["a   c", "b   "]


def test_ranges_of_a_text_take_another_tone() -> None:
    assert marked("no such table", [(3, 7)], "mark") == (
        RowPart("no "),
        RowPart("such", "mark"),
        RowPart(" table"),
    )


# -- figures drawn -------------------------------------------------------------------------------------


def test_an_interval_is_drawn_where_it_lies_with_its_value_and_zero_marked() -> None:
    bar = interval_bar(0.5, 0.25, 0.75, Axis(-1.0, 1.0), 9)
    assert text_of(bar) == "┄┄┄┄┊━●━┄"
    assert text_of(interval_bar(0.1, -0.5, 0.5, Axis(-1.0, 1.0), 9)) == "┄┄━━●━━┄┄"


def test_an_axis_over_one_value_still_has_two_ends() -> None:
    axis = axis_over([0.4])
    assert axis.low < axis.high


def test_a_trend_never_compares_scores_of_different_evaluators() -> None:
    old, new = score(0.9, evaluator="e1"), score(0.2, evaluator="e2")
    assert text_of(sparkline([Unmeasured(reason="import"), old, new, score(0.3, evaluator="e2")], 9)) == "·▅┊▁█"


def test_a_trend_keeps_the_newest_versions() -> None:
    assert text_of(sparkline([score(0.1), score(0.5), score(0.9)], 2)) == "▅█"


def test_noise_is_drawn_flat() -> None:
    assert text_of(sparkline([score(0.500), score(0.504)], 9)) in {"▄▅", "▄▄", "▅▅"}


def test_scores_of_different_evaluators_are_written_without_a_bar() -> None:
    rows = [text_of(row) for row in before_and_after(score(0.4), score(0.5, evaluator="e2"), None, 70)]
    assert "not comparable" in rows[-1]
    assert not any("●" in row for row in rows)


def test_scores_stand_over_one_axis_with_the_paired_difference_below() -> None:
    rows = before_and_after(score(0.442), score(0.459), Delta(value=0.017, low=0.01, high=0.019, tasks=236), 70)
    before, after, change = (text_of(row) for row in rows)
    assert before.index("●") < after.index("●")
    assert change == "Δ +.017 [.010, .019], paired by 236 tasks; 91% covered"


def test_bars_give_way_to_figures_which_are_whole_in_every_width() -> None:
    bars = []
    for width in range(36, 90):
        rows = before_and_after(score(0.442), score(1.0, spread=0.0), None, width)
        assert max(map(width_of, rows)) <= width
        assert [text_of(row).rpartition("  ")[2] for row in rows] == [
            "[.422, .462] n 1,312",
            "[1.000, 1.000] n 1,312",
        ]
        bars.append(sum(text_of(rows[0]).count(sign) for sign in "┄━●"))
        assert all(text_of(row)[len("before 1.000  ")] in "┄━●[" for row in rows)
    assert bars == sorted(bars)
    assert {bars[0], bars[-1]} == {0, BAR}


def test_a_version_without_a_score_says_why() -> None:
    assert text_of(score_row(Unmeasured(reason="edited by hand"))) == "? edited by hand"
    assert text_of(pair_parts(Unmeasured(reason="x"), score(0.4), None)) == "not measured: x"


def test_a_change_is_good_or_bad_only_where_its_interval_leaves_out_zero() -> None:
    tones = [
        delta_part(Delta(value=value, low=value - 0.01, high=value + 0.01, tasks=9)).tone
        for value in (0.02, 0.005, -0.02)
    ]
    assert tones == ["good", "dim", "bad"]


def test_every_verdict_has_a_marker_of_its_own() -> None:
    assert len({mark for mark, _ in VERDICTS.values()}) == len(VERDICTS)


# -- words ---------------------------------------------------------------------------------------------


def test_claims_are_said_in_one_clause() -> None:
    error = AfterError(template="Table <*> doesn't exist", do="sql:SHOW")
    assert claim_words(error) == 'after "Table <*> doesn\'t exist", the next action is sql:SHOW'
    assert claim_words(error, known=error.template) == "after that error, the next action is sql:SHOW"
    assert claim_words(AfterError(template="t", avoid="sql:SELECT")).endswith("is not sql:SELECT")
    again = After(action="Bash:git push", k=3, failing=True, avoid="Bash:git push")
    assert (
        claim_words(again) == "after the 3rd failing call of Bash:git push, the next action is not Bash:git push"
    )


def test_the_words_of_a_template_are_found_in_order_or_not_at_all() -> None:
    text = "Error: Table 'a' doesn't exist"
    assert [text[start:end] for start, end in template_spans(text, "Table <*> doesn't exist")] == [
        "Table",
        "doesn't exist",
    ]
    assert template_spans("doesn't exist: Table", "Table <*> doesn't exist") == []


def test_searching_a_line_takes_signs_as_they_are_and_ignores_case() -> None:
    assert matches_in("SELECT count(*) FROM t; select COUNT(*)", "count(*)") == [(7, 15), (31, 39)]
    assert matches_in("anything", "") == []


def test_a_diff_has_signs_and_marks_the_words_that_changed() -> None:
    diff = line_diff(["a b c\n", "same\n"], ["a x c\n", "same\n"])
    rows = diff_rows(diff, 40)
    assert [text_of(row) for row in rows] == [" 1 - a b c", " 1 + a x c", " 2   same"]
    assert [part.text for part in rows[1] if part.tone == "new"] == ["x"]
    assert changes(diff) == "+1 −1"


def test_a_diff_marks_blanks_where_nothing_else_changed_on_a_plain_terminal_too() -> None:
    rows = diff_rows(line_diff(["a b\n", "c\td \n"], ["a b\r\n", "c d\n"]), 40)
    assert [text_of(row) for row in rows] == [" 1 - a b␊", " 2 - c→d·", " 1 + a b␍␊", " 2 + c·d"]
    assert [part.text for part in rows[2] if part.tone == "new"] == ["␍␊"]
    assert [ascii_of(text_of(row))[5:] for row in rows] == ["a b$", "c>d.", "a b^$", "c.d"]


@pytest.mark.parametrize("width", [79, 98, 99, 119, 159])
def test_the_ids_of_keys_stand_in_one_column_at_the_right_edge(width: int) -> None:
    lines = [
        KeyLine("enter", "history", "the history of this skill", "skills.open"),
        KeyLine("q", "close", "x", "y"),
    ]
    assert [width_of(row) for row in help_rows(lines[:1], lines[1:], [], "", width)] == [width - 1, width - 1]


@pytest.mark.parametrize("width", [79, 98, 99, 118, 119, 138, 139, 159, 199, 299])
def test_columns_of_skills_stand_under_their_names_and_use_the_room_there_is(width: int) -> None:
    (titles,) = map(text_of, skills_header(width))
    event = SimpleNamespace(at="2021-11-01T12:00:00.000000Z")
    for name in ("sql-analyst", "x" * 64):
        capsule = SimpleNamespace(
            name=name, version=123, aliases=(("a" * 30, 123),), retired=False, unproven=False,
            score=score(0.47), delta=Delta(value=0.011, low=0.0, high=0.02, tasks=9),
        )  # fmt: skip
        card = SimpleNamespace(capsule=capsule, versions=(), last=event, last_summary="promoted to version 3")
        (row,) = map(text_of, skill_rows([card], None, width, "2026-11-21T12:00:00.000000Z"))  # type: ignore[list-item]
        assert cell_len(row) <= width
        assert titles.index("ver") == row.index("@123")
        assert titles.index("aliases") == row.index("aaa")
        assert titles.index("score") + len("score") == row.index(".470") + len(".470")
        assert titles.index("  last") == row.index("  5y")
        assert ("promoted to version 3" in row) == (width >= 99)
        assert (name in row) == (len(name) < 20 or width > 250)


@pytest.mark.parametrize("width", [60, 80, 99, 140])
def test_a_fact_in_millions_of_sessions_keeps_its_figures_whole_and_in_their_columns(width: int) -> None:
    (titles,) = map(text_of, signals_header(width, 6))
    signal = asking((), template="x" * 200).signal.model_copy(update={"count": 12_345_678, "episodes": 123_456})
    group = SignalGroup((Raised(9, "2021-11-01T12:00:00.000000Z", signal),), signal.template, 9)
    route = Route("s", "only", "the only skill")
    fact = SignalFact(group, 1_234_567, route, (route,), frozenset([signal.fingerprint]), "open")
    row = text_of(signal_row(fact, 6, width))
    assert max(len(titles), len(row)) <= width
    assert titles.index("sessions") + len("sessions") == row.index("123k of 1.23M") + len("123k of 1.23M")
    assert ("goes to" in titles) == (width >= 130)


@pytest.mark.parametrize("width", [80, 109, 110, 160])
def test_the_columns_of_sessions_stand_under_their_names(width: int) -> None:
    (titles,) = map(text_of, sessions_header(width, 6))
    known = episode([call("a", error="no"), call("b")])
    record = msgspec.structs.replace(known, usage=Usage(input_tokens=12_345, output_tokens=0))
    row = text_of(session_row(record, "count the orders", 6, width, "2026-11-21T12:00:00.000000Z"))
    assert max(len(titles), len(row)) <= width
    for title, figure in (("err", "1"), ("steps", "2"), ("tokens", "12,345")):
        end = titles.index(title) + len(title)
        assert row[:end].rsplit(None, 1)[1] == figure
    assert titles.index("task") == row.index("count")


def test_a_notice_says_what_to_type_next() -> None:
    assert [text_of(row).strip() for row in notice_rows("no skill yet", "germline import PATH", 40)] == [
        "",
        "no skill yet",
        "",
        "next  germline import PATH",
    ]


def test_a_chain_without_room_keeps_the_link_at_hand_in_view() -> None:
    links = [Link("evidence"), *(Link("measured", at) for at in range(10, 16)), Link("line 7")]
    for at in range(len(links)):
        (row,) = chain_row(links, at, 50)
        assert width_of(row) <= 50
        assert [part.text for part in row if part.tone == "mark"] == [
            f"{links[at].word}{f' #{links[at].position}' if links[at].position else ''}"
        ]


@settings(derandomize=True, deadline=None)
@given(st.integers(0, 100).flatmap(lambda a: st.tuples(st.just(a), st.integers(0, 100 - a))), st.integers(3, 60))
def test_the_bar_of_a_preset_is_full_and_leaves_no_weight_out(weights: tuple[int, int], width: int) -> None:
    repair, harden = weights
    shares = Weights(repair=repair, harden=harden, innovate=100 - repair - harden)
    bar = shares_bar(PRESETS["balanced"].model_copy(update={"weights": shares}), width)
    assert width_of(bar) == width
    assert [bool(part.text) for part in bar] == [bool(shares.of(kind)) for kind in KINDS]


@settings(derandomize=True, deadline=None)
@given(TEXTS)
def test_ascii_is_as_wide_as_what_it_stands_for(text: str) -> None:
    assert ascii_of(text).isascii()
    assert cell_len(ascii_of(clean(text))) == cell_len(clean(text))


def test_markdown_has_tones_for_headings_code_and_front_matter() -> None:
    lines = ["---\n", "name: x\n", "---\n", "# Title\n", "run `make` now\n", "```sql\n", "SELECT 1;\n", "```\n"]
    tones = markdown_tones(lines)
    assert [{tone for _, _, tone in row} for row in tones[:4]] == [{"dim"}, {"dim"}, {"dim"}, {"accent"}]
    assert tones[4] == ((4, 10, "code"),)
    assert {tone for row in tones[5:] for _, _, tone in row} == {"code"}
    assert markdown_tones(["x" * MOST_CHARS, "`y`\n"]) == ((), ())


@settings(derandomize=True, deadline=None, max_examples=40)
@given(st.lists(st.sampled_from(["# a\n", "`b` *c*\n", "```\n", "- [d](e)\n", "\n", "---\n", "**f\n", "> g\r\n"])))
def test_markdown_tones_stay_inside_their_lines(lines: list[str]) -> None:
    tones = markdown_tones(lines)
    assert len(tones) == len(lines)
    for line, row in zip(lines, tones, strict=True):
        at = 0
        for start, end, _ in row:
            assert at <= start < end <= len(line)
            at = end


TABS = tuple(
    ScreenTab(name, str(at), {"signals": 13, "review": 2}.get(name, 0))
    for at, name in enumerate(("skills", "history", "signals", "presets", "review", "start", "audits"), start=1)
)


def test_the_bar_of_screens_has_every_key_the_names_that_fit_and_always_that_of_this_screen() -> None:
    def bar(view: str, width: int) -> str:
        (row,) = tab_rows(TABS, view, width)
        assert [part.text.strip() for part in row if part.tone == "strong"] == [view.capitalize()]
        return " ".join(text_of(row).split())

    assert bar("skills", 120) == "1 Skills 2 History 3 Signals 13 4 Presets 5 Review 2 6 Start 7 Audits"
    assert bar("audits", 50) == "1 Skills 2 History 3 Signals 13 4 5 6 7 Audits"
    assert bar("start", 24) == "1 2 3 4 5 6 Start 7"
    assert [width for width in range(24, 121) if "7" not in bar("skills", width)] == []


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("balanced", "First of all repairs what fails, then hardens what works and tries something new."),
        ("repair-only", "Only repairs what fails; in small steps."),
        (
            "innovate",
            "Mostly tries something new, then repairs what fails and hardens what works; in large steps.",
        ),
    ],
)
def test_a_preset_says_in_one_sentence_what_it_does(name: str, words: str) -> None:
    assert preset_sentence(PRESETS[name]) == words


def test_a_strict_preset_says_that_it_asks_for_more() -> None:
    assert preset_sentence(PRESETS["steady-state"]).endswith("with more evidence than the rule asks for.")


@pytest.mark.parametrize(
    ("labelled", "failed", "says"),
    [
        (40, 9, "9 of 40 sessions in seven days   most: no such table"),
        (30, 9, "9 of 40 sessions in seven days, 30 with an outcome   most: no such table"),
        (0, 0, "77 steps in 40 sessions in seven days, none with an outcome   most: no such table"),
    ],
)
def test_the_digest_says_what_failed_this_week_and_what_costs_most(labelled: int, failed: int, says: str) -> None:
    week = Week("", 40, labelled, failed, 77, 3, "no such table")
    rows = digest_rows([], OpenWork({}), week, 120, "2026-11-01T12:00:00.000000Z")
    first, second, _ = (text_of(row).split(maxsplit=1) for row in rows)
    assert (first, second) == (["failed", says], ["waits", "3 open signals (key 4)"])
