"""Records: no text, one id for one episode wherever it was read, and bytes that come back."""

from __future__ import annotations

import msgspec
import pytest

from events.errors import CorruptLogError
from strategies.episodes.episode import Episode, EpisodeOutcome, Step
from strategies.episodes.episode_records import decode, encode, place_key, record_of, settled
from strategies.files.log_records import Span

PRIVATE = "what-a-stranger-wrote"


def step(index: int, text: str = "SELECT 1", *, error_text: str = "", result: str = "", at: int = 0) -> Step:
    return Step(
        index=index,
        turn=index,
        kind="call",
        actor="agent",
        tool="sql",
        head="SELECT",
        text=text,
        result=result,
        error=bool(error_text),
        error_text=error_text,
        span=Span(at, at + 9, 1),
        error_span=Span(at + 20, at + 30, 2) if error_text else None,
    )


def episode(**changes: object) -> Episode:
    base = Episode(
        id="7",
        source="/logs/a.json",
        format="x",
        dataset="d",
        task="1",
        run="r",
        prompt="Who  won?",
        answer="SELECT 1",
        outcome=EpisodeOutcome(1.0, "reward"),
        steps=(step(0, error_text=f"no such table: {PRIVATE}"), step(1), step(2, f"SELECT '{PRIVATE}'")),
    )
    return msgspec.structs.replace(base, **changes)


def test_record_holds_no_text_of_the_log() -> None:
    record = settled(record_of(episode()), {f"no such table: {PRIVATE}": "no such table: <*>"})
    assert PRIVATE.encode() not in encode(record)
    assert record.steps[0].template == "no such table: <*>"


def test_bytes_come_back_as_the_same_record() -> None:
    record = record_of(episode(labels={"b": "1", "a": "2"}))
    assert decode(encode(record)) == record
    assert encode(decode(encode(record))) == encode(record)
    with pytest.raises(CorruptLogError, match="damaged"):
        decode(b"no record")


def test_same_episode_in_another_file_or_place_has_the_same_id() -> None:
    moved = tuple(step(at.index, at.text, error_text=at.error_text, at=500) for at in episode().steps)
    assert record_of(episode(source="/copy/a.json", steps=moved)).id == record_of(episode()).id


def test_ids_and_keys_stay_the_same_from_one_germline_to_the_next() -> None:
    """Evaluators, splits and erasures that stand in logs name episodes, tasks and records by them."""
    record = record_of(episode())
    assert record.id == "9c3a76de3954bb52acf2cd757f6c3c14"
    assert record.task == "bcd3eddccda2c3984c5d694100445949"
    assert record.prompt_key == "58aeed81b055b23730c17bfae8c5b2fd"
    assert record.answer_key == "cd39e4ffe7865be5e2f124be6d5e8964"
    assert place_key(record, record.steps[0].span) == "715e648701ee2f36a4c8f1628687b8b0"


def test_records_at_one_place_of_two_episodes_are_two() -> None:
    record, other = record_of(episode()), record_of(episode(id="8"))
    span = record.steps[0].span
    assert place_key(record, span) != place_key(other, span)
    assert place_key(record, span) == place_key(record_of(episode(source="/rotated/a.json")), span)


def test_templates_are_no_part_of_the_id() -> None:
    record = record_of(episode())
    assert settled(record, {f"no such table: {PRIVATE}": "no such <*> <*>"}).id == record.id


@pytest.mark.parametrize(
    "changes",
    [
        {"id": "8"},
        {"run": "s"},
        {"task": "2"},
        {"outcome": None},
        {"steps": ()},
        {"labels": {"trial": "1"}},
        {"steps": (*episode().steps[:2], step(2, "SELECT 'other text, same action'"))},
    ],
)
def test_another_episode_has_another_id(changes: dict[str, object]) -> None:
    assert record_of(episode(**changes)).id != record_of(episode()).id


def test_task_key_is_data_set_and_task_never_the_file_or_the_run() -> None:
    assert record_of(episode(source="/b", run="s", prompt="x")).task == record_of(episode()).task
    assert record_of(episode(dataset="e")).task != record_of(episode()).task


def test_task_without_a_name_is_known_by_its_prompt() -> None:
    nameless = episode(task="", prompt="who won?  ")
    assert record_of(nameless).task == record_of(episode(task="", id="9")).task
    assert record_of(nameless).task != record_of(episode(task="", prompt="Who lost?")).task
    assert record_of(episode(task="", prompt="")).task


def test_prompts_and_winning_answers_link_tasks_by_their_words() -> None:
    record = record_of(episode())
    other = record_of(episode(task="2", prompt="WHO won?", answer="select\n1"))
    assert (record.prompt_key, record.answer_key) == (other.prompt_key, other.answer_key)
    assert record_of(episode(outcome=EpisodeOutcome(0.0, "reward"))).answer_key == ""
    assert record_of(episode(prompt="")).prompt_key == ""


def test_identical_calls_and_results_point_to_the_first() -> None:
    steps = (step(0, result="a"), step(1, "SELECT 2"), step(2, result="b"), step(3, result="a"))
    record = record_of(episode(steps=steps))
    assert [at.same_call for at in record.steps] == [0, 1, 0, 0]
    assert [at.same_result for at in record.steps] == [0, 1, 2, 0]


def test_failing_step_stands_where_its_error_text_stands() -> None:
    record = record_of(episode())
    assert record.steps[0].span == Span(20, 30, 2)
    assert record.steps[1].span == Span(0, 9, 1)
