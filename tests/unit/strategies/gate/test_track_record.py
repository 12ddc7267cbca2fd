"""Track records: what the episodes under a version came to."""

from __future__ import annotations

import msgspec

from events.types.claims import AfterError
from strategies.episodes.episode import EpisodeOutcome
from strategies.gate.track_record import TrackRecord, track_record
from tests.worlds import NO_TABLE, call, episode

CLAIM = AfterError(template=NO_TABLE, do="sql:SHOW")


def test_a_track_record_counts_ends_and_obedience() -> None:
    failed = call("sql:SELECT", NO_TABLE)
    obeyed = episode([failed, call("sql:SHOW")], outcome=1.0)
    disobeyed = episode([failed, call("sql:SELECT")], outcome=0.5)
    never = episode([call("sql:SELECT")], outcome=None)
    guessed = msgspec.structs.replace(never, outcome=EpisodeOutcome(1.0, "heuristic"))
    record = track_record((CLAIM,), [obeyed, disobeyed, never, guessed])
    assert record == TrackRecord(episodes=4, ended=2, mean=0.75, exposed=2, obeyed=1)


def test_a_version_that_never_ran_has_an_empty_record() -> None:
    assert track_record((CLAIM,), []) == TrackRecord(episodes=0, ended=0, mean=None, exposed=0, obeyed=0)
