"""What every event log keeps: a backend's test class inherits this one and says how to open its log.

Each test is a promise of `events/store/protocol.py`, or of what it takes to keep one.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from contextlib import closing
from itertools import islice
from typing import TYPE_CHECKING

import pytest

from events.errors import BusyError, ConflictError, UsageError
from events.store.envelope import GENESIS, EventDraft, encode
from events.store.protocol import Head, StoredDocument
from events.types.registry_events import PresetSwitched
from tests.contract.drafts import Pen, put

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from events.store.envelope import Envelope
    from events.store.sql_log import EventLog

    Opener = Callable[[], EventLog]

MANY = 1_300
"""More than two pages of any backend's reads."""


def positions(events: Sequence[Envelope] | Iterator[Envelope]) -> list[int]:
    return [envelope.position for envelope in events]


class LogContract(ABC):
    """Where a backend says how to open its log; every call gives another connection to the same one."""

    @abstractmethod
    def opener(self, tmp_path: Path) -> Opener:
        """Give a way to open the test's own log, made at the first call; it waits for a lock 0.05 s at most."""

    @pytest.fixture
    def connect(self, tmp_path: Path) -> Opener:
        return self.opener(tmp_path)

    @pytest.fixture
    def log(self, connect: Opener) -> Iterator[EventLog]:
        with closing(connect()) as log:
            yield log

    @pytest.fixture
    def pen(self) -> Pen:
        return Pen()


class AppendContract(LogContract):
    """Promises about what is written."""

    def test_an_empty_log_stands_at_position_0_and_the_genesis_hash(self, log: EventLog) -> None:
        assert log.head() == Head(0, GENESIS)
        assert list(log.read()) == []

    def test_positions_are_counted_from_1_without_a_gap(self, log: EventLog, pen: Pen) -> None:
        for size in (1, 3, 1, 5):
            put(log, *pen.drafts(size))
        assert positions(log.read()) == list(range(1, 11))

    def test_stream_versions_are_counted_per_stream_from_1(self, log: EventLog, pen: Pen) -> None:
        put(log, pen.draft("gene:a"), pen.draft("gene:b"), pen.draft("gene:a"))
        put(log, pen.draft("gene:b"))
        assert [(e.stream, e.version) for e in log.read()] == [
            ("gene:a", 1),
            ("gene:b", 1),
            ("gene:a", 2),
            ("gene:b", 2),
        ]
        assert log.stream_versions(["gene:a", "gene:b", "gene:c"]) == {"gene:a": 2, "gene:b": 2, "gene:c": 0}

    def test_an_event_reads_back_as_it_was_written(self, log: EventLog, pen: Pen) -> None:
        draft = pen.draft(text='{"é": "\\u0041", "tab\t": 🧬}')
        receipt = put(log, draft)
        (stored,) = log.read()
        assert receipt.envelopes == (stored,)
        assert stored.payload == encode(draft.event)
        assert stored.event == draft.event
        assert (stored.stream, stored.event_id, stored.at) == (draft.stream, draft.event_id, draft.at)
        assert (stored.actor, stored.causation, stored.correlation) == ("germline", "", "turn-1")

    def test_each_event_is_bound_to_the_one_before_by_the_written_formula(self, log: EventLog, pen: Pen) -> None:
        put(log, *pen.drafts(2))
        put(log, pen.draft("gene:a"))
        previous = GENESIS
        for e in log.read():
            header = (e.position, e.event_id, e.stream, e.version, e.type, e.schema, e.at, e.actor)
            joined = "\x1f".join([*map(str, header), e.causation, e.correlation])
            assert e.previous_hash == previous
            assert e.hash == hashlib.sha256(previous.encode() + joined.encode() + e.payload).hexdigest()
            previous = e.hash
        assert log.head() == Head(3, previous)

    def test_what_was_acknowledged_is_there_for_whoever_opens_the_log_next(
        self, log: EventLog, connect: Opener, pen: Pen
    ) -> None:
        envelopes = put(log, *pen.drafts(3)).envelopes
        with closing(connect()) as other:
            assert tuple(other.read()) == envelopes

    def test_an_unexpected_version_is_a_conflict_that_names_both(self, log: EventLog, pen: Pen) -> None:
        put(log, *pen.drafts(3))
        with pytest.raises(ConflictError) as caught:
            log.append([pen.draft()], expected={"registry": 1})
        assert (caught.value.stream, caught.value.expected, caught.value.actual) == ("registry", 1, 3)
        assert log.head().position == 3

    def test_one_stale_stream_stops_the_whole_batch(self, log: EventLog, pen: Pen) -> None:
        put(log, pen.draft("gene:a"))
        with pytest.raises(ConflictError):
            log.append([pen.draft("gene:b"), pen.draft("gene:a")], expected={"gene:b": 0, "gene:a": 0})
        assert log.stream_versions(["gene:a", "gene:b"]) == {"gene:a": 1, "gene:b": 0}

    def test_a_stream_that_is_only_read_can_be_expected_too(self, log: EventLog, pen: Pen) -> None:
        put(log, pen.draft("capsule:sql"))
        with pytest.raises(ConflictError, match="capsule:sql"):
            log.append([pen.draft("gene:a")], expected={"gene:a": 0, "capsule:sql": 0})
        assert log.append([pen.draft("gene:a")], expected={"gene:a": 0, "capsule:sql": 1}).envelopes

    def test_a_stream_without_an_expected_version_is_refused(self, log: EventLog, pen: Pen) -> None:
        with pytest.raises(UsageError, match="gene:a"):
            log.append([pen.draft("gene:a")], expected={})

    def test_an_append_of_nothing_writes_nothing(self, log: EventLog) -> None:
        assert log.append([], expected={}).envelopes == ()
        assert log.head().position == 0

    def test_a_retry_returns_the_first_receipt(self, log: EventLog, pen: Pen) -> None:
        batch = pen.drafts(3)
        first = log.append(batch, expected={"registry": 0})
        put(log, *pen.drafts(2))
        again = log.append(batch, expected={"registry": 0})
        assert (again.envelopes, again.repeated, first.repeated) == (first.envelopes, True, False)
        assert log.head().position == 5

    def test_a_retry_after_a_reload_returns_the_first_receipt(self, log: EventLog, pen: Pen) -> None:
        batch = pen.drafts(3)
        first = put(log, *batch)
        again = log.append(batch, expected={"registry": 3})
        assert (again.envelopes, again.repeated) == (first.envelopes, True)
        assert log.head().position == 3

    def test_a_retry_projects_nothing_again(self, log: EventLog, pen: Pen) -> None:
        draft = pen.draft()
        log.append([draft], expected={"registry": 0}, project=lambda _: [StoredDocument("seen", "k", 0, b"once")])
        log.append([draft], expected={"registry": 0}, project=lambda _: [StoredDocument("seen", "k", 0, b"twice")])
        assert log.documents("seen") == [StoredDocument("seen", "k", 0, b"once")]

    def test_a_batch_of_which_a_part_is_known_is_a_conflict(self, log: EventLog, pen: Pen) -> None:
        first = put(log, *pen.drafts(2)).envelopes[0]
        known = EventDraft("registry", first.event, first.event_id, first.at, first.actor, "", "turn-1")
        with pytest.raises(ConflictError, match="1 of 2"):
            put(log, known, pen.draft())
        assert log.head().position == 2

    def test_an_id_that_stands_for_another_event_is_a_conflict(self, log: EventLog, pen: Pen) -> None:
        first = put(log, pen.draft()).envelopes[0]
        other = EventDraft("registry", pen.draft(text="another").event, first.event_id, first.at, first.actor)
        with pytest.raises(ConflictError, match="0 for the same event"):
            put(log, other)
        assert log.head().position == 1

    def test_an_id_that_stands_for_the_same_event_of_another_stream_is_a_conflict(
        self, log: EventLog, pen: Pen
    ) -> None:
        first = put(log, pen.draft("capsule:sql")).envelopes[0]
        with pytest.raises(ConflictError, match="0 for the same event"):
            put(log, EventDraft("capsule:web", first.event, first.event_id, first.at, first.actor))
        assert log.head().position == 1

    def test_one_id_twice_in_a_batch_is_refused(self, log: EventLog, pen: Pen) -> None:
        draft = pen.draft()
        with pytest.raises(UsageError, match="same id"):
            put(log, draft, draft)
        assert log.head().position == 0

    def test_nul_and_what_is_not_unicode_are_refused_in_an_event(self, log: EventLog, pen: Pen) -> None:
        for text in ("a\x00b", "\\\x00", "lone \ud800"):
            bad = PresetSwitched.model_construct(preset="p", previous="q", reason=text)
            with pytest.raises(UsageError, match="PresetSwitched"):
                put(
                    log, pen.draft(), EventDraft("registry", bad, "bad", "2026-11-21T08:00:00.000000Z", "germline")
                )
        assert log.head().position == 0

    def test_text_that_only_looks_like_an_escaped_nul_is_stored(self, log: EventLog, pen: Pen) -> None:
        put(log, pen.draft(text="\\u0000"), pen.draft(text="\\\\u0000"))
        assert [json.loads(e.payload)["reason"] for e in log.read()] == ["\\u0000", "\\\\u0000"]

    @pytest.mark.parametrize("text", ["a\x1fb", "a\x00b", "lone \ud800"])
    @pytest.mark.parametrize("field", ["stream", "event_id", "at", "actor", "causation", "correlation"])
    def test_what_would_blur_where_a_header_field_ends_is_refused(
        self, log: EventLog, pen: Pen, field: str, text: str
    ) -> None:
        event = pen.draft().event
        header = {"stream": "registry", "event_id": "id", "at": "now", "actor": "germline"} | {field: text}
        with pytest.raises(UsageError):
            put(log, EventDraft(event=event, **header))
        assert log.head().position == 0

    def test_a_correlation_that_could_run_into_the_payload_is_refused(self, log: EventLog, pen: Pen) -> None:
        with pytest.raises(UsageError, match="brace"):
            put(log, EventDraft("registry", pen.draft().event, "id", "now", "germline", "", '{"a":'))

    def test_a_batch_may_touch_very_many_streams(self, log: EventLog, pen: Pen) -> None:
        streams = [f"gene:{n}" for n in range(MANY)]
        put(log, pen.draft("gene:7"))
        put(log, *(pen.draft(stream) for stream in streams))
        assert log.stream_versions(streams) == dict.fromkeys(streams, 1) | {"gene:7": 2}

    def test_writers_that_take_turns_make_one_chain(self, log: EventLog, connect: Opener, pen: Pen) -> None:
        with closing(connect()) as other:
            for writer in (log, other, other, log, log, other):
                put(writer, pen.draft("gene:a"), pen.draft("gene:b"))
        assert positions(log.read()) == list(range(1, 13))
        assert log.verify().problems == ()

    def test_a_stream_that_is_only_read_is_expected_of_the_log_not_of_what_this_writer_remembers(
        self, log: EventLog, connect: Opener, pen: Pen
    ) -> None:
        put(log, pen.draft("capsule:sql"))
        with closing(connect()) as other:
            put(other, pen.draft("capsule:sql"))
        put(log, pen.draft("gene:a"))
        with pytest.raises(ConflictError) as caught:
            log.append([pen.draft("gene:a")], expected={"gene:a": 1, "capsule:sql": 1})
        assert (caught.value.stream, caught.value.actual) == ("capsule:sql", 2)
        assert log.head().position == 3

    def test_a_writer_that_is_alone_again_has_forgotten_how_streams_stood_before_others_wrote(
        self, log: EventLog, connect: Opener, pen: Pen
    ) -> None:
        put(log, pen.draft("capsule:sql"))
        with closing(connect()) as other:
            put(other, pen.draft("capsule:sql"))
        for version in range(2):  # the first finds the other's event, the second its own
            log.append([pen.draft("gene:a")], expected={"gene:a": version})
        with pytest.raises(ConflictError) as caught:
            log.append([pen.draft("gene:a")], expected={"gene:a": 2, "capsule:sql": 1})
        assert (caught.value.stream, caught.value.actual) == ("capsule:sql", 2)

    def test_what_was_rolled_back_is_not_built_upon(self, log: EventLog, connect: Opener, pen: Pen) -> None:
        def fail() -> None:
            with log.transaction():
                put(log, *pen.drafts(2))
                raise ZeroDivisionError

        put(log, pen.draft())
        with pytest.raises(ZeroDivisionError):
            fail()
        with pytest.raises(ConflictError):
            log.append([pen.draft()], expected={"registry": 3})
        with pytest.raises(ZeroDivisionError):
            fail()
        with closing(connect()) as other:
            put(other, *pen.drafts(2))
        assert log.append([pen.draft()], expected={"registry": 3}).envelopes[0].position == 4
        assert log.verify().problems == ()

    def test_a_clock_that_goes_backwards_is_harmless(self, log: EventLog, pen: Pen) -> None:
        for at in ("2026-11-21T08:00:00.000000Z", "1970-01-01T00:00:00.000000Z", "2026-11-20T08:00:00.000000Z"):
            put(log, pen.draft(at=at))
        assert positions(log.read()) == [1, 2, 3]
        assert log.verify().problems == ()

    def test_documents_are_written_with_their_events(self, log: EventLog, connect: Opener, pen: Pen) -> None:
        def project(envelopes: Sequence[Envelope]) -> list[StoredDocument]:
            return [StoredDocument("events", e.stream, e.position, e.hash.encode()) for e in envelopes]

        receipt = log.append(pen.drafts(2), expected={"registry": 0}, project=project)
        with closing(connect()) as other:
            assert other.documents("events") == project(receipt.envelopes)

    def test_a_crash_while_projecting_writes_nothing(self, log: EventLog, pen: Pen) -> None:
        batch = pen.drafts(2)

        def crash(_: Sequence[Envelope]) -> list[StoredDocument]:
            log.put_documents([StoredDocument("events", "k", 0, b"half")])
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            log.append(batch, expected={"registry": 0}, project=crash)
        assert log.head().position == 0
        assert log.documents("events") == []
        assert log.append(batch, expected={"registry": 0}).repeated is False


class TransactionContract(LogContract):
    """Promises about what belongs together."""

    def test_all_that_happens_in_a_transaction_commits_together(
        self, log: EventLog, connect: Opener, pen: Pen
    ) -> None:
        with closing(connect()) as other:
            with log.transaction():
                put(log, pen.draft())
                put(log, pen.draft())
                log.put_map("a.jsonl", b"10")
                assert log.head().position == 2
                assert (other.head().position, dict(other.maps())) == (0, {})
            assert (other.head().position, dict(other.maps())) == (2, {"a.jsonl": b"10"})

    def test_a_transaction_that_fails_writes_nothing(self, log: EventLog, pen: Pen) -> None:
        put(log, pen.draft())

        def fail() -> None:
            with log.transaction():
                put(log, pen.draft())
                log.put_map("a.jsonl", b"10")
                log.put_documents([StoredDocument("v", "k", 0, b"x")])
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            fail()
        assert (log.head().position, dict(log.maps()), log.documents("v")) == (1, {}, [])
        put(log, pen.draft())
        assert log.verify().events == 2

    def test_a_failed_part_is_undone_alone(self, log: EventLog, pen: Pen) -> None:
        def fail() -> None:
            with log.transaction():
                put(log, *pen.drafts(2, "gene:a"))
                raise ZeroDivisionError

        with log.transaction():
            put(log, pen.draft())
            with pytest.raises(ZeroDivisionError):
                fail()
            put(log, pen.draft("gene:b"))
        assert [e.stream for e in log.read()] == ["registry", "gene:b"]
        assert log.verify().problems == ()

    def test_a_conflict_inside_a_transaction_leaves_the_rest_of_it_whole(self, log: EventLog, pen: Pen) -> None:
        with log.transaction():
            kept = put(log, pen.draft()).envelopes[0]
            with pytest.raises(ConflictError):
                log.append(pen.drafts(2, "gene:a"), expected={"gene:a": 7})
            known = EventDraft("registry", kept.event, kept.event_id, kept.at, kept.actor)
            with pytest.raises(ConflictError):
                put(log, pen.draft(), known)
            put(log, pen.draft())
        assert log.stream_versions(["registry", "gene:a"]) == {"registry": 2, "gene:a": 0}

    def test_a_locked_log_is_busy_rather_than_torn(self, log: EventLog, connect: Opener, pen: Pen) -> None:
        with closing(connect()) as other:
            with log.transaction(), pytest.raises(BusyError):
                put(other, pen.draft())
            assert put(other, pen.draft()).envelopes[0].position == 1

    def test_a_reader_is_not_held_up_by_a_writer(self, log: EventLog, connect: Opener, pen: Pen) -> None:
        put(log, *pen.drafts(3))
        with closing(connect()) as other, log.transaction():
            put(log, pen.draft())
            assert positions(other.read()) == [1, 2, 3]


class ReadContract(LogContract):
    """Promises about what is read."""

    @pytest.fixture
    def long(self, log: EventLog, pen: Pen) -> list[Envelope]:
        """A log of many pages: three streams of two types, mixed."""
        drafts = [pen.draft(("gene:a", "registry", "gene:b")[n * n % 7 % 3]) for n in range(MANY)]
        return list(put(log, *drafts).envelopes)

    def test_every_reading_is_the_log_filtered(self, log: EventLog, long: list[Envelope]) -> None:
        for stream in (None, "gene:a", "gene:none"):
            for types in ((), ("GeneReleased",), ("GeneReleased", "PresetSwitched"), ("CapsuleImported",)):
                wanted = [e for e in long if stream in (None, e.stream) and (not types or e.type in types)]
                assert list(log.read(stream=stream, types=types)) == wanted
                assert list(log.read(stream=stream, types=types, newest_first=True)) == wanted[::-1]
                assert list(log.read(stream=stream, types=types, after=700)) == [
                    e for e in wanted if e.position > 700
                ]
                assert list(log.read(stream=stream, types=types, after=700, newest_first=True)) == [
                    e for e in wanted[::-1] if e.position < 700
                ]

    @pytest.mark.parametrize("limit", [0, 1, 511, 512, 513, MANY, MANY + 1])
    def test_a_limit_is_kept_across_pages(self, log: EventLog, long: list[Envelope], limit: int) -> None:
        assert list(log.read(limit=limit)) == long[:limit]
        assert (
            list(log.read(limit=limit, types=["GeneReleased", "GeneReleased", "PresetSwitched"])) == long[:limit]
        )

    def test_reading_and_appending_may_take_turns(self, log: EventLog, long: list[Envelope], pen: Pen) -> None:
        seen = []
        for envelope in log.read(types=["PresetSwitched"]):
            seen.append(envelope.position)
            if len(seen) % 100 == 0:
                put(log, pen.draft("gene:a"))
        assert seen == positions(e for e in long if e.type == "PresetSwitched")

    def test_events_are_fetched_by_position_in_order(self, log: EventLog, long: list[Envelope]) -> None:
        assert log.at([700, 3, 0, MANY + 1, 3]) == [long[2], long[699]]
        assert log.at([]) == []

    def test_the_events_of_several_streams_are_read_in_the_order_of_positions(
        self, log: EventLog, pen: Pen
    ) -> None:
        for stream in ("gene:a", "gene:b", "gene:c", "gene:a"):
            put(log, pen.draft(stream))
        assert [e.stream for e in log.of_streams(["gene:c", "gene:a", "nobody"])] == ["gene:a", "gene:c", "gene:a"]
        assert log.of_streams([]) == []

    def test_a_time_is_found_by_the_first_event_at_it_or_later_whatever_clocks_did_after(
        self, log: EventLog, pen: Pen
    ) -> None:
        times = [f"2026-11-{day:02d}T00:00:00.000000Z" for day in (1, 5, 2, 6)]
        put(log, *(pen.draft(at=at) for at in times))
        asked = [f"2026-11-{day:02d}T00:00:00.000000Z" for day in (1, 2, 5, 6, 7)]
        assert [log.first_since(moment) for moment in asked] == [1, 2, 2, 4, 0]

    def test_hashes_are_read_as_digests_in_the_order_of_positions(
        self, log: EventLog, long: list[Envelope]
    ) -> None:
        digests = [bytes.fromhex(e.hash) for e in long]
        assert list(log.hashes()) == digests
        for after, upto in ((0, 1), (511, 513), (700, None), (0, MANY + 5), (3, 3), (MANY, None)):
            assert list(log.hashes(after=after, upto=upto)) == digests[after:upto]

    def test_hashes_that_are_appended_while_one_reads_are_read_too(self, log: EventLog, pen: Pen) -> None:
        put(log, *pen.drafts(3))
        coming = log.hashes()
        assert next(coming) == bytes.fromhex(log.at([1])[0].hash)
        put(log, pen.draft())
        assert len(list(coming)) in (2, 3)  # a page that was read before is not read again
        assert len(list(log.hashes())) == 4

    def test_a_subscriber_sees_each_event_once_and_in_order(
        self, log: EventLog, connect: Opener, pen: Pen
    ) -> None:
        put(log, *pen.drafts(4))
        with closing(connect()) as other:
            coming = other.subscribe(after=1, poll_s=0.001)
            assert positions(islice(coming, 3)) == [2, 3, 4]
            put(log, *pen.drafts(2))
            put(log, pen.draft())
            assert positions(islice(coming, 3)) == [5, 6, 7]

    def test_a_whole_log_verifies(self, log: EventLog, long: list[Envelope]) -> None:
        log.put_map("a.jsonl", log.put_blob(b"text", kind="evidence").encode())
        result = log.verify()
        assert (result.events, result.head, result.problems) == (MANY, Head(MANY, long[-1].hash), ())

    def test_an_empty_log_verifies(self, log: EventLog) -> None:
        assert log.verify().problems == ()
