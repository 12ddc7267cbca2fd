"""A log that is checked in parts is found whole, or damaged, exactly as when it is checked in order."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from events.checking import Chain
from events.envelope import GENESIS, Draft, Envelope, encode, seal
from events.log import Head
from events.registry_events import SignalRaised
from events.stretches import Fitted, check_alone
from tests.contract.drafts import Pen

if TYPE_CHECKING:
    from events.checking import Row
    from events.stretches import Stretch

EVENTS = 12
COLUMNS = Envelope._fields


def sealed() -> list[Envelope]:
    """Give a log of twelve events in three streams."""
    pen = Pen()
    drafts = [pen.draft(("registry", "gene:a", "gene:b")[n * n % 7 % 3]) for n in range(EVENTS)]
    versions = dict.fromkeys(("registry", "gene:a", "gene:b"), 0)
    pairs = [(draft, encode(draft.event)) for draft in drafts]
    return list(seal(pairs, position=0, previous=GENESIS, versions=versions))


WHOLE = sealed()


def changed_a_little(value: object) -> int | str | bytes:
    if isinstance(value, str):
        return "~" + value[1:]
    assert isinstance(value, int | bytes)
    return value + 1 if isinstance(value, int) else b"~" + value[1:]


def in_order(log: list[Envelope]) -> Chain:
    chain = Chain([])
    rows = [tuple(c.encode() if isinstance(c, str) else c for c in one) for one in log]
    chain.follow(cast("list[Row]", rows))
    return chain


def in_parts(log: list[Envelope], cuts: list[int]) -> Fitted | None:
    """Check the events between positions alone, and fit them; None where they do not fit."""
    fitted = Fitted()
    hashes = {one.position: one.hash for one in log}
    for after, upto in pairwise([0, *cuts, 10**9]):
        part = [one for one in log if (one.position > after or not after) and one.position <= upto]
        stretch = alone(part, Head(after, hashes.get(after, GENESIS)))
        if stretch is None or not fitted.fit(stretch):
            return None
    return fitted


def alone(part: list[Envelope], behind: Head) -> Stretch | None:
    return check_alone(behind, lambda breaks: any(breaks(*one) for one in part))


CUTS = st.lists(st.integers(1, EVENTS - 1), unique=True, max_size=5).map(sorted)


@settings(derandomize=True, deadline=None)
@given(CUTS)
def test_a_whole_log_fits_wherever_it_is_cut(cuts: list[int]) -> None:
    found, wanted = in_parts(WHOLE, cuts), in_order(WHOLE)
    assert found is not None
    assert found.head == Head(wanted.position, wanted.stored.decode())
    assert found.versions == {stream.decode(): version for stream, version in wanted.versions.items()}


def test_a_stretch_of_another_log_does_not_fit_though_its_streams_go_on_as_ours_do() -> None:
    draft = Pen("other").draft("gene:b")
    pair = (draft, encode(draft.event))
    fitted = in_parts(WHOLE, [])
    assert fitted is not None
    versions = {"gene:b": fitted.versions["gene:b"]}
    for previous, fits in (("0" * 64, False), (fitted.head.hash, True)):
        log = seal([pair], position=EVENTS, previous=previous, versions=versions)
        stretch = alone(list(log), Head(EVENTS, previous))
        assert stretch is not None
        assert fitted.fit(stretch) is fits


@pytest.mark.parametrize("column", COLUMNS)
def test_a_change_in_any_column_does_not_fit_wherever_the_log_is_cut(column: str) -> None:
    """Every event, and every place for a cut: none, one, or one behind each event."""
    everywhere = list(range(1, EVENTS))
    for at in range(EVENTS):
        rows = list(WHOLE)
        rows[at] = Envelope(**{**rows[at]._asdict(), column: changed_a_little(getattr(rows[at], column))})
        rows.sort(key=lambda one: one.position)
        assert in_order(rows).problems, at
        for cuts in ([], everywhere, *([cut] for cut in everywhere)):
            assert in_parts(rows, cuts) is None, (at, cuts)


@settings(derandomize=True, deadline=None)
@given(CUTS, st.integers(0, EVENTS - 2), st.integers(0, EVENTS - 1))
def test_a_missing_or_moved_event_does_not_fit(cuts: list[int], gone: int, other: int) -> None:
    assert in_parts(WHOLE[:gone] + WHOLE[gone + 1 :], cuts) is None
    swapped = list(WHOLE)
    swapped[gone] = WHOLE[other]._replace(position=gone + 1)
    swapped[other] = WHOLE[gone]._replace(position=other + 1)
    assert (in_parts(swapped, cuts) is None) == (gone != other)


@settings(derandomize=True, deadline=None)
@given(CUTS, st.integers(1, EVENTS - 1))
def test_a_forged_stream_version_does_not_fit_although_every_hash_does(cuts: list[int], at: int) -> None:
    pen = Pen("forged")
    last = WHOLE[at - 1]
    draft = pen.draft("gene:a")
    real = sum(one.stream == "gene:a" for one in WHOLE[:at])
    for claimed in {0, real + 1, real + 5} - {real}:
        pair = (draft, encode(draft.event))
        (forged,) = seal([pair], position=at, previous=last.hash, versions={"gene:a": claimed})
        assert in_order([*WHOLE[:at], forged]).problems
        assert in_parts([*WHOLE[:at], forged], cuts) is None


@pytest.mark.parametrize("names", [(), ("a" * 64,), ("a" * 64, "b" * 64, "a" * 64)])
def test_the_evidence_that_signals_name_is_collected_on_the_way(names: tuple[str, ...]) -> None:
    draft = Draft("registry", signal(names), "id-1", "2026-11-22T00:00:00.000000Z", "miner:x")
    log = seal([(draft, encode(draft.event))], position=0, previous=GENESIS, versions={"registry": 0})
    found = in_parts(list(log), [])
    assert found is not None
    assert found.evidence() == set(names)


def signal(evidence: tuple[str, ...]) -> SignalRaised:
    return SignalRaised(
        fingerprint="f1",
        kind="error_template",
        calls_for="repair",
        template='says "evidence":["x"] and more',
        count=1,
        episodes=1,
        runs=(),
        severity=0.4,
        evidence=evidence,
    )


@pytest.mark.parametrize("letters", [-1, 1])
def test_bytes_that_went_over_between_the_last_header_field_and_the_payload_are_found(letters: int) -> None:
    """The hash covers the same bytes either way: only what a payload begins with tells."""
    draft = Draft("registry", signal(()), "id-1", "2026-11-22T00:00:00.000000Z", "miner:x", correlation="turn")
    (one,) = seal([(draft, encode(draft.event))], position=0, previous=GENESIS, versions={"registry": 0})
    both = one.correlation.encode() + one.payload
    cut = len(one.correlation) + letters
    moved = one._replace(correlation=both[:cut].decode(), payload=both[cut:])
    assert not in_order([one]).problems
    assert [problem.what for problem in in_order([moved]).problems] == ["event 1 is not what was hashed"]
    assert in_parts([one], []) is not None
    assert in_parts([moved], []) is None


def test_a_brace_in_the_last_header_field_is_found_though_the_payload_begins_with_one() -> None:
    """So the first of two objects could go over to the field before, and the second be read as the payload."""
    draft = Draft("registry", signal(()), "id-1", "2026-11-22T00:00:00.000000Z", "miner:x")
    (one,) = seal(
        [(draft, b'{"a":1}' + encode(draft.event))], position=0, previous=GENESIS, versions={"registry": 0}
    )
    moved = one._replace(correlation='{"a":1}', payload=encode(draft.event))
    assert [problem.what for problem in in_order([moved]).problems] == ["event 1 is not what was hashed"]
    assert in_parts([moved], []) is None


def test_bytes_that_went_over_between_other_fields_are_found_by_the_separators_that_were_hashed() -> None:
    """A field took a separator and the next field along: then one is too many, wherever the gap is put."""
    draft = Draft("registry", signal(()), "id-1", "2026-11-22T00:00:00.000000Z", "miner:x", "cause", "turn")
    (one,) = seal([(draft, encode(draft.event))], position=0, previous=GENESIS, versions={"registry": 0})
    names = ("at", "actor", "causation", "correlation")
    texts = [str(getattr(one, name)) for name in names]
    for behind in range(3):
        joined = f"{texts[behind]}\x1f{texts[behind + 1]}"
        left = (*texts[:behind], joined, *texts[behind + 2 :])
        for gap in range(behind + 1, 4):
            shifted = dict(zip(names, [*left[:gap], "", *left[gap:]], strict=True))
            moved = Envelope(**{**one._asdict(), **shifted})
            assert in_order([moved]).problems, moved
            assert in_parts([moved], []) is None, moved
