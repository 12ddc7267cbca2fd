"""What every backend keeps about the tables beside the events."""

from __future__ import annotations

import hashlib
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from events.store.envelope import EventDraft
from events.store.protocol import StoredDocument, StoredEpisode
from events.types.registry_events import EvidenceErased, SignalRaised
from tests.contract.drafts import put
from tests.contract.event_log_contract import LogContract
from tests.registries import raised_signal

if TYPE_CHECKING:
    from events.store.sql_log import EventLog
    from tests.contract.drafts import Pen
    from tests.contract.event_log_contract import Opener


def versions(*numbers: int, key: str = "sql") -> list[StoredDocument]:
    return [StoredDocument("version", key, number, f"{key}@{number}".encode()) for number in numbers]


def raised(*evidence: str) -> SignalRaised:
    return raised_signal(fingerprint="f1", count=1, episodes=1, severity=0.4, evidence=evidence)


class TablesContract(LogContract):
    """Promises about blobs, documents, episodes and maps."""

    def test_a_blob_is_kept_once_under_its_hash(self, log: EventLog) -> None:
        body = bytes(range(256))
        name = log.put_blob(body, kind="file")
        assert name == hashlib.sha256(body).hexdigest()
        assert log.put_blob(body, kind="evidence") == name
        assert (log.get_blob(name), log.get_blob("0" * 64)) == (body, None)
        assert log.get_blob(log.put_blob(b"", kind="file")) == b""

    def test_several_blobs_are_read_at_once_without_those_that_are_not_there(self, log: EventLog) -> None:
        names = [log.put_blob(body, kind="file") for body in (b"one", b"two", b"")]
        assert log.get_blobs([*names[1:], "0" * 64, names[1]]) == {names[1]: b"two", names[2]: b""}
        assert log.get_blobs([]) == {}

    def test_blobs_are_listed_by_the_kind_they_were_first_kept_as(self, log: EventLog) -> None:
        prompts = [log.put_blob(body, kind="prompt") for body in (b"one", b"two")]
        reply = log.put_blob(b"three", kind="reply")
        log.put_blob(b"three", kind="prompt")
        assert log.blob_kinds() == {**dict.fromkeys(prompts, "prompt"), reply: "reply"}
        assert list(log.blob_kinds()) == sorted([*prompts, reply])
        log.erase_blob(reply)
        assert reply not in log.blob_kinds()

    def test_a_blob_of_a_kind_that_verification_would_name_is_not_kept(self, log: EventLog) -> None:
        with pytest.raises(ValueError, match="'promt' is no kind"):
            log.put_blob(b"text", kind="promt")
        assert log.blob_kinds() == {}

    def test_evidence_that_went_without_an_event_that_erased_it_is_named_with_its_signal(
        self, log: EventLog
    ) -> None:
        names = [log.put_blob(body, kind="evidence") for body in (b"told", b"lost")]
        put(log, EventDraft("registry", raised(*names), "id-1", "now", "miner:x"))
        assert log.verify().problems == ()
        for name in names:
            log.erase_blob(name)
        put(
            log,
            EventDraft("registry", EvidenceErased(evidence=names[0], reason="asked"), "id-2", "now", "person:a"),
        )
        (problem,) = log.verify().problems
        assert (problem.position, problem.what) == (1, f"evidence {names[1]} is gone, and no event erased it")

    def test_evidence_that_is_there_although_an_event_erased_it_is_named(self, log: EventLog) -> None:
        name = log.put_blob(b"text", kind="evidence")
        put(log, EventDraft("registry", raised(name), "id-1", "now", "miner:x"))
        put(log, EventDraft("registry", EvidenceErased(evidence=name, reason="asked"), "id-2", "now", "person:a"))
        (problem,) = log.verify().problems
        assert problem.what == f"evidence {name} was erased, and is there"
        log.erase_blob(name)
        assert log.verify().problems == ()

    def test_a_document_is_the_last_of_its_sequence_or_the_last_at_a_point(self, log: EventLog) -> None:
        log.put_documents([*versions(1, 2, 5), *versions(9, key="other")])
        documents = [log.document("version", "sql", at=at) for at in (None, 4, 5, 0)]
        assert documents == [*versions(5), *versions(2), *versions(5), None]
        assert log.document("version", "nobody") is None

    def test_documents_are_listed_by_key_and_sequence_within_bounds(self, log: EventLog) -> None:
        log.put_documents([*versions(3, 1, 2), *versions(2, 0, key="git"), StoredDocument("other", "sql", 1, b"")])
        every = [*versions(0, 2, key="git"), *versions(1, 2, 3)]
        assert log.documents("version") == every
        assert log.documents("version", newest_first=True) == every[::-1]
        assert log.documents("version", "sql", after=1, upto=2) == versions(2)
        assert log.documents("version", "sql", limit=1, newest_first=True) == versions(3)
        assert log.documents("version", after=0, limit=2) == [*versions(2, key="git"), *versions(1)]
        assert log.documents("nothing") == []

    def test_documents_are_read_at_exactly_the_places_that_are_named(self, log: EventLog) -> None:
        log.put_documents([*versions(1, 2, 3), *versions(2, key="git"), StoredDocument("other", "sql", 1, b"")])
        places = [("sql", 3), ("git", 2), ("git", 3), ("sql", 1), ("nobody", 1)]
        assert log.documents_at("version", places) == [*versions(2, key="git"), *versions(1, 3)]
        assert log.documents_at("version", []) == []

    def test_documents_are_listed_of_the_keys_that_are_named(self, log: EventLog) -> None:
        log.put_documents([*versions(1, 2, 3), *versions(2, key="git"), *versions(1, key="third")])
        log.put_documents([StoredDocument("other", "sql", 1, b"")])
        assert log.documents_of("version", ["sql", "git", "nobody"]) == [
            *versions(2, key="git"),
            *versions(1, 2, 3),
        ]
        assert log.documents_of("version", {"sql", "third"}, upto=1) == [*versions(1), *versions(1, key="third")]
        assert log.documents_of("version", []) == []

    def test_a_document_is_replaced_at_its_place(self, log: EventLog) -> None:
        log.put_documents(versions(1, 2))
        log.put_documents([StoredDocument("version", "sql", 2, b"\x00new")])
        assert log.documents("version", "sql") == [*versions(1), StoredDocument("version", "sql", 2, b"\x00new")]

    def test_dropping_the_documents_leaves_all_else(self, log: EventLog, pen: Pen) -> None:
        put(log, pen.draft())
        log.put_documents(versions(1))
        name = log.put_blob(b"text", kind="file")
        log.put_episodes([StoredEpisode("e1", "a.jsonl", b"{}")])
        log.put_map("a.jsonl", b"10")
        log.drop_documents()
        assert log.documents("version") == []
        assert (log.head().position, log.get_blob(name), len(list(log.episodes()))) == (1, b"text", 1)
        assert log.maps() == {"a.jsonl": b"10"}
        assert (log.get_map("a.jsonl"), log.get_map("b.jsonl")) == (b"10", None)

    def test_an_episode_is_kept_as_it_was_first_read(self, log: EventLog) -> None:
        first, second = StoredEpisode("e1", "a.jsonl", b"short"), StoredEpisode("e2", "a.jsonl", b"{}")
        assert log.put_episodes([first]) == 1
        assert log.put_episodes([StoredEpisode("e1", "a.jsonl", b"longer"), second, second]) == 1
        assert list(log.episodes()) == [first, second]

    def test_episodes_are_read_in_the_order_of_their_ids(self, log: EventLog) -> None:
        every = [StoredEpisode(f"e{n:04d}", "a.jsonl", b"%d" % n) for n in range(1_300)]
        assert log.put_episodes(every[::-1]) == 1_300
        assert list(log.episodes()) == every
        assert log.episode_sources() == {f"e{n:04d}": "a.jsonl" for n in range(1_300)}

    def test_an_episode_goes_only_once_a_longer_reading_of_it_is_kept(self, log: EventLog) -> None:
        short, longer, other = (StoredEpisode(name, "a.jsonl", b"{}") for name in ("short", "longer", "other"))
        log.put_episodes([short, longer, other])
        assert log.drop_episodes({"short": "longer", "other": "nowhere", "longer": "longer", "new": "other"}) == 1
        assert list(log.episodes()) == [longer, other]
        assert log.drop_episodes({}) == 0
        assert log.put_episodes([short]) == 1
        assert log.verify().problems == ()

    def test_dropped_episodes_come_back_with_what_else_was_undone(self, log: EventLog) -> None:
        both = [StoredEpisode(name, "a.jsonl", b"{}") for name in ("longer", "short")]
        log.put_episodes(both)

        def failing() -> None:
            with log.transaction():
                log.drop_episodes({"short": "longer"})
                raise RuntimeError

        with pytest.raises(RuntimeError):
            failing()
        assert list(log.episodes()) == both

    def test_a_map_is_replaced(self, log: EventLog, connect: Opener) -> None:
        for body in (b"10", b"20"):
            log.put_map("a.jsonl", body)
        log.put_map("b.jsonl", b"5")
        with closing(connect()) as other:
            assert other.maps() == {"a.jsonl": b"20", "b.jsonl": b"5"}
        assert log.verify().problems == ()
