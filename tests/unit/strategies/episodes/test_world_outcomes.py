"""Hints from the world: what each source says, when it is silent, and what it never stands for."""

from __future__ import annotations

import tomllib
from pathlib import Path

import msgspec
import pytest

from strategies.episodes.episode import EpisodeOutcome, EpisodeRecord, StepRecord
from strategies.episodes.step_marks import (
    BUILD_FAILED,
    BUILD_PASSED,
    CORRECTION,
    EDIT,
    REPEATED,
    REVERT,
    TESTS_FAILED,
    TESTS_PASSED,
    THANKED,
    USER_INTERRUPT,
    Marker,
    user_marks,
)
from strategies.episodes.world_outcomes import MOST_REPEATS, commits_of, with_world, world_outcomes
from tests.unit.strategies.episodes.test_step_marks import call as call_step
from tests.unit.strategies.episodes.test_step_marks import marked, message
from tests.worlds import call, episode

PHRASES = tomllib.loads((Path(__file__).parent / "spoken_phrases.toml").read_text(encoding="utf-8"))
GREEN, RED = (TESTS_PASSED,), (TESTS_FAILED,)


def did(*marks: str, action: str = "Bash:pytest", error: str = "") -> StepRecord:
    return msgspec.structs.replace(call(action, error), marks=marks)


def word(*marks: str) -> StepRecord:
    return msgspec.structs.replace(call(""), kind="message", actor="user", action="", marks=marks)


def answer() -> StepRecord:
    return msgspec.structs.replace(call("message"), kind="message")


def session(*steps: StepRecord, ended_by: str = "agent", **fields: object) -> EpisodeRecord:
    return msgspec.structs.replace(episode(steps, outcome=None), ended_by=ended_by, **fields)


def hints(*steps: StepRecord, ended_by: str = "agent") -> dict[str, float]:
    record = session(*steps, ended_by=ended_by)
    return {str(source): value for source, value in world_outcomes([record], {}).get(record.id, {}).items()}


@pytest.mark.parametrize(
    ("steps", "says"),
    [
        ([did(*GREEN)], 1.0),
        ([did(*RED, error="e"), answer()], 0.0),
        ([did(*RED, error="e"), did(EDIT, action="Edit"), did(*GREEN)], 1.0),
        ([did(BUILD_PASSED)], 1.0),
        ([did(*GREEN), did(BUILD_FAILED)], 0.0),
        ([did(*GREEN), did(EDIT, action="Edit")], None),
        ([did(*RED, error="e"), did(REVERT, action="Bash:git"), answer()], None),
        ([did(*GREEN), did(error="timed out"), answer()], None),
        ([did(*GREEN), did(action="Bash:ls")], 1.0),
        ([did(action="Bash:ls")], None),
        ([], None),
    ],
)
def test_the_last_check_counts_unless_something_changed_after_it(
    steps: list[StepRecord], says: float | None
) -> None:
    assert hints(*steps).get("last_check") == says


@pytest.mark.parametrize(
    ("steps", "says"),
    [
        ([word(), answer(), word(THANKED)], 1.0),
        ([word(), answer(), word(CORRECTION)], 0.0),
        ([word(), answer(), word(CORRECTION), answer()], 0.0),
        ([word(), answer(), word(CORRECTION), did(EDIT, action="Edit")], None),
        ([word(), answer(), word(THANKED), did(EDIT, action="Edit"), answer()], None),
        ([word(), answer(), word()], None),
        ([word(THANKED), answer()], None),
    ],
)
def test_the_last_word_is_thanks_or_a_complaint_that_nothing_came_after(
    steps: list[StepRecord], says: float | None
) -> None:
    assert hints(*steps, ended_by="unknown").get("last_word") == says


def test_an_interrupt_counts_where_the_agent_did_nothing_more() -> None:
    stop = msgspec.structs.replace(word(USER_INTERRUPT), kind="note")
    assert hints(word(), answer(), stop)["interrupted"] == 0.0
    assert "interrupted" not in hints(word(), stop, word(), answer())


def test_thanks_leave_nothing_abandoned_and_a_question_without_an_answer_does() -> None:
    assert "abandoned" not in hints(word(), answer(), word(THANKED), ended_by="unknown")
    assert hints(word(), answer(), word(), ended_by="unknown")["abandoned"] == 0.0


def test_the_same_request_in_one_session_counts_and_go_on_is_no_request() -> None:
    marker = Marker()
    request, short = message("Fix the login of the app!"), message("go on")
    assert REPEATED not in marker.learn(request)[0] + marker.learn(short)[0] + marker.learn(short)[0]
    assert REPEATED in marker.learn(message("fix the  login of the app"))[0]
    assert hints(word(), answer(), word(REPEATED), answer()) == {"repeated_request": 0.0}


def asked(name: str, hour: int, prompt: str = "p", folder: str = "/logs/x") -> EpisodeRecord:
    at = f"2026-11-{20 + hour // 24:02}T{hour % 24:02}:00:00Z"
    return session(answer(), id=name, name=name, prompt_key=prompt, started_at=at, source=f"{folder}/{name}.jsonl")


def again(*records: EpisodeRecord) -> set[str]:
    return {episode_id for episode_id, world in world_outcomes(records, {}).items() if "repeated_request" in world}


def test_the_next_session_with_the_same_request_speaks_against_the_one_before() -> None:
    assert again(asked("a", 1), asked("b", 3)) == {"a"}
    assert again(asked("a", 1), asked("b", 2, "other"), asked("c", 3)) == set()
    assert again(asked("a", 1), asked("b", 30)) == set()
    assert again(asked("a", 1), asked("b", 2, folder="/logs/y")) == set()
    assert again(asked("a", 1), asked("a/sub", 2)) == set()
    assert again(*(asked(f"s{hour}", hour) for hour in range(MOST_REPEATS + 1))) == set()


def test_what_opens_a_session_is_neither_thanks_nor_a_correction() -> None:
    opening = msgspec.structs.replace(message("Do not use any library"), index=0)
    assert Marker().learn(opening)[0] == ()


@pytest.mark.parametrize(
    ("command", "result", "marks"),
    [
        ("git commit -m x", "[main 1a2b3c4] x\n 1 file changed", ("committed:1a2b3c4",)),
        ("git add -A && git commit -am 'x'", "[fix/a (root-commit) 1a2b3c4d] x", ("committed:1a2b3c4d",)),
        ("git -C app commit -m x", "noise\n[detached HEAD abcdef0] x", ("committed:abcdef0",)),
        ("git commit -m x", "nothing to commit, working tree clean", ()),
        ("git commit-tree x", "[main 1a2b3c4] x", ()),
        ("cat notes", "[main 1a2b3c4] x", ()),
        ("npm run build", "done", (BUILD_PASSED,)),
        ("cd app && cargo build --release", "warning: unused\nFinished", (BUILD_PASSED,)),
        ("make | tail -3", "make: *** [all] Error 2", (BUILD_FAILED,)),
        ("npx tsc --noEmit", "a.ts(1,2): error TS2345: no", (BUILD_FAILED,)),
        ("make clean", "", ()),
        ("grep -rn 'go build' .", "", ()),
    ],
)
def test_builds_and_commits_are_known_by_their_commands_and_results(
    command: str, result: str, marks: tuple[str, ...]
) -> None:
    assert marked(call_step("Bash", command, result=result)) == marks


def test_a_failing_build_is_known_by_its_exit_status() -> None:
    assert marked(call_step("Bash", "go build ./...", error="Exit code 1")) == (BUILD_FAILED,)


def test_commits_are_named_once_in_order() -> None:
    record = session(did("committed:bbbbbbb", "committed:aaaaaaa"), did("committed:bbbbbbb"))
    assert commits_of(record) == ("bbbbbbb", "aaaaaaa")


def test_a_hint_stands_for_a_label_only_where_there_is_none_and_the_setting_names_it() -> None:
    silent, labelled = session(did(*GREEN), id="a"), session(did(*GREEN), id="b")
    labelled = msgspec.structs.replace(labelled, outcome=EpisodeOutcome(0.0, "ci"))
    world = world_outcomes([silent, labelled], {"a": {"commit": 0.0}})
    assert [record.outcome for record in with_world([silent, labelled], world, ())] == [None, labelled.outcome]
    first, second = with_world([silent, labelled], world, ("commit", "last_check"))
    assert (first.outcome, second.outcome) == (EpisodeOutcome(0.0, "commit"), labelled.outcome)
    assert with_world([silent], world, ("last_word",)) == [silent]


def share_of(half: str, wanted: str, *marks: str) -> float:
    phrases = [phrase for each in PHRASES[half][wanted].values() for phrase in each]
    return sum(not marks or not set(marks).isdisjoint(user_marks(phrase)) for phrase in phrases) / len(phrases)


def test_phrases_that_the_forms_were_not_written_for_are_known_as_often_as_the_docs_say() -> None:
    assert share_of("tuned", "corrects", CORRECTION) > 0.99
    assert share_of("tuned", "thanks", THANKED) == 1
    assert share_of("tuned", "neither", CORRECTION, THANKED) == 0
    assert share_of("kept", "corrects", CORRECTION) >= 0.36
    assert share_of("kept", "thanks", THANKED) >= 0.72
    assert share_of("kept", "neither", CORRECTION, THANKED) <= 0.17
    assert share_of("kept", "corrects", THANKED) == share_of("kept", "thanks", CORRECTION) == 0


@pytest.mark.parametrize("text", ["a" * 100_000, "谢" * 5000, "use " * 5000, "no, " * 5000, "\0"])
def test_any_text_is_marked_or_not_without_trouble(text: str) -> None:
    assert set(user_marks(text)) <= {CORRECTION, THANKED, "explicit_correction"}
