from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from strategies.pool.splits import OF_A_SET, REPLAY_SHARES, ROLLOUT_SHARES, divide, form_groups, split_of
from tests.worlds import linked

if TYPE_CHECKING:
    from events.types.score import Split


def test_tasks_with_the_same_prompt_or_winning_answer_form_one_group() -> None:
    records = [linked("a", prompt="p"), linked("b", prompt="p", answer="x"), linked("c", answer="x"), linked("d")]
    assert form_groups({}, records) == {"a": "a", "b": "a", "c": "a", "d": "d"}


def test_tasks_without_keys_are_not_linked_by_having_none() -> None:
    assert form_groups({}, [linked("a"), linked("b")]) == {"a": "a", "b": "b"}


def test_the_order_of_episodes_does_not_change_the_groups() -> None:
    records = [linked(f"t{i}", prompt=f"p{i % 7}", answer=f"x{i % 5}" if i % 3 else "") for i in range(30)]
    assert form_groups({}, records) == form_groups({}, reversed(records))


def test_a_known_task_keeps_its_group_when_a_new_episode_would_link_two_groups() -> None:
    known = {"a": "a", "b": "b"}
    records = [linked("a", answer="x"), linked("b", answer="x")]
    assert form_groups(known, records) == known


def test_a_new_task_joins_the_group_it_shares_with_and_never_renames_it() -> None:
    known = {"m": "m"}
    records = [linked("m", answer="x"), linked("a", answer="x")]
    assert form_groups(known, records) == {"a": "m", "m": "m"}


def test_a_new_task_between_two_known_groups_joins_one_and_leaves_both_apart() -> None:
    known = {"a": "a", "b": "b"}
    records = [linked("a", prompt="p"), linked("b", answer="x"), linked("n", prompt="p", answer="x")]
    groups = form_groups(known, records)
    assert (groups["a"], groups["b"]) == ("a", "b")
    assert groups["n"] in {"a", "b"}


def test_known_tasks_stay_when_their_episodes_are_gone() -> None:
    assert form_groups({"gone": "gone"}, [linked("a")]) == {"a": "a", "gone": "gone"}


@pytest.mark.parametrize(("formed_by", "shares"), [("", REPLAY_SHARES), (OF_A_SET, ROLLOUT_SHARES)])
def test_groups_fall_into_splits_in_the_stated_shares(
    formed_by: str, shares: tuple[tuple[Split, float], ...]
) -> None:
    places = [split_of(f"{formed_by}group {i}", "key") for i in range(20_000)]
    for split, share in shares:
        assert places.count(split) / len(places) == pytest.approx(share, abs=0.01)


@pytest.mark.parametrize(
    ("formed_by", "splits"),
    [
        ("", ["explore", "explore", "sealed", "audit", "explore", "sealed", "sealed", "sealed"]),
        (OF_A_SET, ["explore", "explore", "sealed", "audit", "sealed", "sealed", "sealed", "sealed"]),
    ],
)
def test_a_group_stays_in_its_split_from_one_germline_to_the_next(formed_by: str, splits: list[str]) -> None:
    """Splits are not stored: another hash or another order of the shares would unseal what was sealed."""
    assert [split_of(f"{formed_by}task {n}", "key") for n in range(8)] == splits


def test_another_split_key_divides_otherwise_and_the_same_key_alike() -> None:
    def places(key: str) -> list[str]:
        return [split_of(f"g{i}", key) for i in range(50)]

    assert places("one") == places("one")
    assert places("one") != places("two")


def test_a_group_is_never_divided_and_an_episode_counts_once() -> None:
    records = [linked(f"t{i}", prompt=f"p{i % 10}", trial=trial) for i in range(40) for trial in range(2)]
    division = divide([*records, *records], form_groups({}, records), "key")
    parts = (division.explore, division.sealed, division.audit)
    assert sum(map(len, parts)) == len(records)
    prompts = [{record.prompt_key for record in part} for part in parts]
    assert not prompts[0] & prompts[1]
    assert not prompts[0] & prompts[2]
    assert not prompts[1] & prompts[2]
