"""A log that is checked in parts is found whole, or damaged, exactly as when it is checked in order."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from events.checking import Chain
from events.envelope import GENESIS, Envelope, encode, seal
from events.log import Head
from events.stretches import check_alone, fit
from tests.contract.drafts import Pen

if TYPE_CHECKING:
    from events.checking import Row

EVENTS = 12
COLUMNS = Envelope._fields


def sealed() -> list[Row]:
    """Give the rows of a log of twelve events in three streams, as a database hands them over."""
    pen = Pen()
    drafts = [pen.draft(("registry", "gene:a", "gene:b")[n * n % 7 % 3]) for n in range(EVENTS)]
    versions = dict.fromkeys(("registry", "gene:a", "gene:b"), 0)
    pairs = [(draft, encode(draft.event)) for draft in drafts]
    envelopes = seal(pairs, position=0, previous=GENESIS, versions=versions)
    return [tuple(c.encode() if isinstance(c, str) else c for c in one) for one in envelopes]  # type: ignore[misc] # one by one


WHOLE = sealed()


def changed_a_little(value: object) -> int | bytes:
    assert isinstance(value, int | bytes)
    return value + 1 if isinstance(value, int) else b"~" + value[1:]


def in_order(rows: list[Row]) -> Chain:
    chain = Chain([])
    chain.follow(rows)
    return chain


def in_parts(rows: list[Row], cuts: list[int]) -> Chain | None:
    """Check the rows between positions alone, and fit them; None where they do not fit."""
    chain = Chain([])
    hashes = {row[0]: row[11] for row in rows}
    for after, upto in pairwise([0, *cuts, 10**9]):
        part = [row for row in rows if (row[0] > after or not after) and row[0] <= upto]
        behind = Head(after, hashes.get(after, GENESIS.encode()).decode(errors="replace"))
        if not fit(chain, check_alone(part, behind)):
            return None
    return chain


CUTS = st.lists(st.integers(1, EVENTS - 1), unique=True, max_size=5).map(sorted)


@settings(derandomize=True, deadline=None)
@given(CUTS)
def test_a_whole_log_fits_wherever_it_is_cut(cuts: list[int]) -> None:
    found, wanted = in_parts(WHOLE, cuts), in_order(WHOLE)
    assert found is not None
    assert (found.events, found.position, found.stored) == (wanted.events, wanted.position, wanted.stored)
    assert found.versions == wanted.versions


@settings(derandomize=True, deadline=None, max_examples=400)
@given(CUTS, st.integers(0, EVENTS - 1), st.sampled_from(COLUMNS))
def test_a_change_in_any_column_does_not_fit_wherever_the_log_is_cut(
    cuts: list[int], at: int, column: str
) -> None:
    rows = list(WHOLE)
    changed = [
        changed_a_little(old) if name == column else old for name, old in zip(COLUMNS, rows[at], strict=True)
    ]
    rows[at] = tuple(changed)  # type: ignore[assignment] # as many columns as before
    rows.sort(key=lambda row: row[0])
    assert in_order(rows).problems
    assert in_parts(rows, cuts) is None


@settings(derandomize=True, deadline=None)
@given(CUTS, st.integers(0, EVENTS - 2), st.integers(0, EVENTS - 1))
def test_a_missing_or_moved_event_does_not_fit(cuts: list[int], gone: int, other: int) -> None:
    assert in_parts(WHOLE[:gone] + WHOLE[gone + 1 :], cuts) is None
    swapped = list(WHOLE)
    swapped[gone], swapped[other] = (gone + 1, *WHOLE[other][1:]), (other + 1, *WHOLE[gone][1:])
    assert (in_parts(swapped, cuts) is None) == (gone != other)


@settings(derandomize=True, deadline=None)
@given(CUTS, st.integers(1, EVENTS - 1))
def test_a_forged_stream_version_does_not_fit_although_every_hash_does(cuts: list[int], at: int) -> None:
    pen = Pen("forged")
    last = WHOLE[at - 1]
    draft = pen.draft("gene:a")
    real = sum(row[2] == b"gene:a" for row in WHOLE[:at])
    for claimed in {0, real + 1, real + 5} - {real}:
        pair = (draft, encode(draft.event))
        (forged,) = seal([pair], position=at, previous=last[11].decode(), versions={"gene:a": claimed})
        row: Row = tuple(c.encode() if isinstance(c, str) else c for c in forged)  # type: ignore[assignment] # one by one
        assert in_order([*WHOLE[:at], row]).problems
        assert in_parts([*WHOLE[:at], row], cuts) is None
