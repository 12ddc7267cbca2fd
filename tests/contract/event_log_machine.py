"""A log against a model of it: appends, retries, crashes and rollbacks by two writers, in any order."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from events.errors import ConflictError
from events.store.envelope import GENESIS
from events.store.protocol import StoredDocument
from tests.contract.drafts import Pen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.store.envelope import Envelope, EventDraft
    from events.store.sql_log import EventLog

STREAMS = ("registry", "gene:a", "gene:b")
TEXT = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), min_size=1, max_size=20)
BATCH = st.lists(st.tuples(st.sampled_from(STREAMS), TEXT), min_size=1, max_size=4)


class Batch(NamedTuple):
    """An acknowledged append."""

    drafts: list[EventDraft]
    expected: dict[str, int]
    envelopes: tuple[Envelope, ...]


def project(envelopes: Sequence[Envelope]) -> list[StoredDocument]:
    """Count the events of each stream, one document a stream."""
    return [StoredDocument("count", e.stream, 0, b"%d" % e.version) for e in envelopes]


class EventLogMachine(RuleBasedStateMachine):
    """A backend's machine inherits this one and says how to open a fresh log and how to open it again."""

    log: EventLog
    """Whose turn it is."""

    other: EventLog

    def fresh(self) -> EventLog:
        """Open a log that nobody has written to."""
        raise NotImplementedError

    def reopened(self) -> EventLog:
        """Open the same log once more."""
        raise NotImplementedError

    @initialize()
    def start(self) -> None:
        self.pen = Pen()
        self.log = self.fresh()
        self.other = self.reopened()
        self.batches: list[Batch] = []
        self.versions = dict.fromkeys(STREAMS, 0)

    def _write(self, contents: list[tuple[str, str]]) -> tuple[list[EventDraft], dict[str, int]]:
        drafts = [self.pen.draft(stream, text) for stream, text in contents]
        return drafts, {stream: self.versions[stream] for stream, _ in contents}

    def _append(self, contents: list[tuple[str, str]]) -> None:
        drafts, expected = self._write(contents)
        receipt = self.log.append(drafts, expected=expected, project=project)
        assert not receipt.repeated
        assert [e.payload for e in receipt.envelopes] == [
            e.payload for e in self.log.at(range(*self._span(drafts)))
        ]
        for stream, _ in contents:
            self.versions[stream] += 1
        self.batches.append(Batch(drafts, expected, receipt.envelopes))

    def _span(self, drafts: list[EventDraft]) -> tuple[int, int]:
        last = sum(len(batch.drafts) for batch in self.batches)
        return last + 1, last + 1 + len(drafts)

    @rule(contents=BATCH)
    def append(self, contents: list[tuple[str, str]]) -> None:
        self._append(contents)

    @rule(contents=st.lists(BATCH, min_size=1, max_size=3))
    def append_several_in_one_transaction(self, contents: list[list[tuple[str, str]]]) -> None:
        with self.log.transaction():
            for batch in contents:
                self._append(batch)

    @rule(contents=BATCH, late=st.sampled_from([-1, 1, 5]))
    def append_with_a_wrong_version(self, contents: list[tuple[str, str]], late: int) -> None:
        drafts, expected = self._write(contents)
        wrong = {stream: version + late for stream, version in expected.items()}
        with pytest.raises(ConflictError):
            self.log.append(drafts, expected=wrong, project=project)

    @rule(contents=BATCH)
    def crash_while_projecting(self, contents: list[tuple[str, str]]) -> None:
        drafts, expected = self._write(contents)
        with pytest.raises(ZeroDivisionError):
            self.log.append(drafts, expected=expected, project=lambda envelopes: [envelopes[0 // 0]])  # type: ignore[list-item] # never returns

    @rule(contents=BATCH)
    def roll_back_after_an_append(self, contents: list[tuple[str, str]]) -> None:
        drafts, expected = self._write(contents)

        def fail() -> None:
            with self.log.transaction():
                self.log.append(drafts, expected=expected, project=project)
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fail()

    @precondition(lambda self: self.batches)
    @rule(choice=st.integers(min_value=0))
    def retry(self, choice: int) -> None:
        batch = self.batches[choice % len(self.batches)]
        receipt = self.log.append(batch.drafts, expected=batch.expected, project=project)
        assert (receipt.envelopes, receipt.repeated) == (batch.envelopes, True)

    @precondition(lambda self: self.batches)
    @rule(choice=st.integers(min_value=0))
    def send_a_known_event_with_a_new_one(self, choice: int) -> None:
        batch = self.batches[choice % len(self.batches)]
        drafts, expected = self._write([("registry", "new")])
        versions = expected | {draft.stream: self.versions[draft.stream] for draft in batch.drafts}
        with pytest.raises(ConflictError):
            self.log.append([*drafts, *batch.drafts], expected=versions, project=project)

    @rule()
    def let_the_other_writer_go_on(self) -> None:
        self.log, self.other = self.other, self.log

    @rule()
    def open_it_again(self) -> None:
        self.log.close()
        self.log = self.reopened()

    @invariant()
    def the_log_is_what_was_acknowledged(self) -> None:
        envelopes = [envelope for batch in self.batches for envelope in batch.envelopes]
        assert list(self.log.read()) == envelopes
        assert [e.position for e in envelopes] == list(range(1, len(envelopes) + 1))
        assert self.log.head().hash == (envelopes[-1].hash if envelopes else GENESIS)

    @invariant()
    def counters_and_documents_agree_with_the_events(self) -> None:
        assert self.log.stream_versions(STREAMS) == self.versions
        counts = {document.key: int(document.body) for document in self.log.documents("count")}
        assert counts == {stream: version for stream, version in self.versions.items() if version}

    def teardown(self) -> None:
        """Verify what is left, then let go of it."""
        if hasattr(self, "other"):
            assert self.log.verify().problems == ()
            self.log.close()
            self.other.close()
