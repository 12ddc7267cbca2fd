"""The queue of labels: what one of them would decide, and never by what the session did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from events.types.claims import StartWith
from strategies.advice.label_queue import HeldClaim, label_queue
from strategies.episodes.episode import EpisodeOutcome
from tests.worlds import call, episode

if TYPE_CHECKING:
    from strategies.episodes.episode import EpisodeRecord

WAITING = HeldClaim("c1", "skill", StartWith(do="rg"))


def session(name: str, first: str, outcome: float | None = None) -> EpisodeRecord:
    return structs.replace(episode([call(first)], outcome=outcome), id=name)


def test_the_side_of_a_held_claim_with_fewer_labels_is_asked_about_first() -> None:
    labelled = [session(f"done{n}", "rg", 1.0) for n in range(3)]
    open_ones = [session("obeyed", "rg"), session("ignored", "grep")]
    queue = label_queue([*labelled, *open_ones], [*labelled, *open_ones], [WAITING], {})
    assert [(wish.record.id, wish.weight) for wish in queue] == [("ignored", 2), ("obeyed", 1)]
    assert queue[0].claims == (WAITING,)


def test_sessions_that_the_gate_does_not_decide_on_wait_only_where_hints_disagree() -> None:
    records = [session("explored", "rg"), session("doubtful", "rg"), session("sure", "rg")]
    world = {"doubtful": {"last_check": 1.0, "last_word": 0.0}, "sure": {"last_check": 1.0, "commit": 1.0}}
    queue = label_queue(records, [], [WAITING], world)  # type: ignore[arg-type]
    assert [(wish.record.id, wish.disagreeing) for wish in queue] == [("doubtful", ("last_check", "last_word"))]


def test_a_label_ends_the_wait_and_a_guess_does_not() -> None:
    guessed = structs.replace(session("guessed", "rg"), outcome=EpisodeOutcome(0.0, "heuristic"))
    records = [guessed, session("labelled", "rg", 0.0)]
    assert [wish.record.id for wish in label_queue(records, records, [WAITING], {})] == ["guessed"]
