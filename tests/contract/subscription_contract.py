"""What subscribers rely on, on every backend: each event taken in once, in order, whatever comes in between."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from events.errors import BusyError
from events.store.protocol import StoredDocument
from events.store.subscriptions import VIEW, catch_up, taken_in, with_appends
from tests.contract.drafts import Pen, put
from tests.contract.event_log_contract import LogContract

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from events.store.envelope import Envelope, EventDraft
    from events.store.sql_log import EventLog
    from tests.contract.event_log_contract import Opener

WRITERS, EACH = 8, 25
NAME: Final = "counter"


class Killed(BaseException):
    """Stands in for a kill: what was not committed is gone."""


class Counting:
    """Counts the events of each stream: folding one twice, or not at all, gives another number."""

    def __init__(self, log: EventLog, *, dies: str = "") -> None:
        self.log = log
        self.dies = dies

    def __call__(self, envelopes: Iterable[Envelope]) -> list[StoredDocument]:
        counts: dict[str, int] = {}
        for envelope in envelopes:
            if envelope.stream not in counts:
                document = self.log.document("count", envelope.stream)
                counts[envelope.stream] = int(document.body) if document else 0
            counts[envelope.stream] += 1
        made = [StoredDocument("count", stream, 0, b"%d" % count) for stream, count in counts.items()]
        if self.dies == "before a document is written":
            raise Killed
        if self.dies == "when half of the documents are written":
            self.log.put_documents(made[:1])
            raise Killed
        return made


def counted(log: EventLog) -> dict[str, bytes]:
    return {document.key: document.body for document in log.documents("count")}


def kill_before_commit(log: EventLog) -> None:
    """Do all the work, and be killed right before it is committed."""
    with log.transaction():
        catch_up(log, NAME, Counting(log))
        raise Killed


KILLS: Final[dict[str, Callable[[EventLog], object]]] = {
    **{
        when: partial(lambda when, log: catch_up(log, NAME, Counting(log, dies=when)), when)
        for when in ("before a document is written", "when half of the documents are written")
    },
    "right before the commit": kill_before_commit,
}
STREAMS = st.sampled_from(["registry", "gene:a", "gene:b"])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append with it"), st.lists(STREAMS, max_size=3)),
        st.tuples(st.just("append without it"), st.lists(STREAMS, max_size=3)),
        st.tuples(st.just("append and be killed"), st.lists(STREAMS, min_size=1, max_size=3)),
        st.tuples(st.just("catch up"), st.just([])),
        st.tuples(st.just("throw the documents away"), st.just([])),
        st.tuples(st.sampled_from(sorted(KILLS)), st.just([])),
    ),
    max_size=12,
)


def take(log: EventLog, pen: Pen, step: str, streams: list[str]) -> None:
    drafts = [pen.draft(stream) for stream in streams]
    expected = log.stream_versions(sorted(set(streams)))
    if step == "append with it":
        log.append(drafts, expected=expected, project=with_appends(log, NAME, Counting(log)))
    elif step == "append without it":
        log.append(drafts, expected=expected)
    elif step == "append and be killed":
        dying = Counting(log, dies="when half of the documents are written")
        with pytest.raises(Killed):
            log.append(drafts, expected=expected, project=with_appends(log, NAME, dying))
    elif step == "catch up":
        catch_up(log, NAME, Counting(log), page=2)
    elif step == "throw the documents away":
        log.drop_documents()
    elif log.head().position > taken_in(log, NAME) or step == "right before the commit":
        with pytest.raises(Killed):
            KILLS[step](log)


class SubscriptionContract(LogContract):
    """Promises to those who fold events, and to those who follow them."""

    @settings(
        max_examples=25,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
    )
    @given(steps=STEPS)
    def test_any_order_of_appends_runs_and_kills_gives_what_one_fold_gives(
        self, log: EventLog, pen: Pen, steps: list[tuple[str, list[str]]]
    ) -> None:
        for step, streams in steps:
            take(log, pen, step, streams)
        catch_up(log, NAME, Counting(log))
        assert taken_in(log, NAME) == log.head().position
        once = Counter(envelope.stream for envelope in log.read())
        assert counted(log) == {stream: b"%d" % count for stream, count in once.items()}

    @pytest.mark.parametrize("when", sorted(KILLS))
    def test_a_subscriber_that_is_killed_goes_on_where_it_was(
        self, log: EventLog, connect: Opener, pen: Pen, when: str
    ) -> None:
        put(log, *pen.drafts(3), pen.draft("gene:a"))
        catch_up(log, NAME, Counting(log))
        put(log, *pen.drafts(2), pen.draft("gene:a"))
        with pytest.raises(Killed):
            KILLS[when](log)
        with closing(connect()) as other:
            assert (taken_in(other, NAME), counted(other)) == (4, {"gene:a": b"1", "registry": b"3"})
            assert catch_up(other, NAME, Counting(other)) == 3
            assert catch_up(other, NAME, Counting(other)) == 0
            assert (taken_in(other, NAME), counted(other)) == (7, {"gene:a": b"2", "registry": b"5"})

    def test_subscribers_go_each_at_their_own_pace(self, log: EventLog, pen: Pen) -> None:
        put(log, *pen.drafts(3))
        catch_up(log, "early", Counting(log))
        put(log, *pen.drafts(2))
        assert catch_up(log, "late", lambda some: [StoredDocument("late", "n", 0, b"%d" % len(list(some)))]) == 5
        assert [(document.key, document.body) for document in log.documents(VIEW)] == [
            ("early", b"3"),
            ("late", b"5"),
        ]

    def test_a_reader_that_follows_eight_writers_sees_each_event_once_and_in_order(
        self, log: EventLog, connect: Opener
    ) -> None:
        with ThreadPoolExecutor(WRITERS) as writers:
            done = [writers.submit(append_some, connect, f"w{n}", EACH) for n in range(WRITERS)]
            seen = list(islice(log.subscribe(poll_s=0.001), WRITERS * EACH))
            for writer in done:
                writer.result(timeout=60)
        assert [envelope.position for envelope in seen] == list(range(1, WRITERS * EACH + 1))
        assert seen == list(log.read())
        for number in range(WRITERS):
            own = [envelope.event_id for envelope in seen if envelope.event_id.startswith(f"w{number}-")]
            assert own == [f"w{number}-{turn:06d}" for turn in range(1, EACH + 1)]


def append_some(connect: Opener, name: str, count: int) -> None:
    """Append one event after the other, in turn to a stream of one's own and to one that all share."""
    pen = Pen(name)
    with closing(connect()) as log:
        for turn in range(count):
            draft = pen.draft("registry" if turn % 2 else f"gene:{name}")
            while not appended(log, draft):
                pass


def appended(log: EventLog, draft: EventDraft) -> bool:
    """Append an event, unless the others kept the log busy for too long."""
    try:
        with log.transaction():
            put(log, draft)
    except BusyError:
        return False
    return True
