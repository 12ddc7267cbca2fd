"""No reader, built in or plugged in, gives a number that overflows later, whatever numbers its log holds."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from strategies.episodes.episode_records import decode, encode
from strategies.logs.scan import scan, scan_on
from strategies.signals.detect import detect
from tests import plugged
from tests.agent_sessions import SESSIONS
from tests.sample_logs import SAMPLES, Sample
from tests.trace_exports import TRACES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from strategies.episodes.episode import EpisodeRecord
    from strategies.files.log_records import Span

NUMBER = re.compile(rb'(?<=[:\[,\s"])-?\d+(?:\.\d+)?(?=[,}\]\s"\\])')
HOSTILE = (
    *(b"1" + b"0" * 22, b"-1" + b"0" * 22, b"18446744073709551616", b"9223372036854775808", b"1" + b"0" * 5000),
    *(b"1e308", b"-1e308", b"1e999", b"NaN", b"Infinity", b"-1", b'"nan"', b"253402300800000000000"),
)
MOST = 2**53


NAME = re.compile(rb"[\w.]+(?=[^\w]*$)")


def hostile_numbers(body: bytes) -> Iterator[tuple[re.Match[bytes], bytes]]:
    """Yield each number of a log with what may stand there instead.

    The first after a name meets all of it; those after the same name, which are read by the same code, take turns.
    """
    after: Counter[bytes] = Counter()
    for place in NUMBER.finditer(body):
        name = (NAME.findall(body[max(place.start() - 60, 0) : place.start()]) or [b""])[-1]
        met, after[name] = after[name], after[name] + 1
        yield from ((place, hostile) for hostile in (HOSTILE if not met else (HOSTILE[met % len(HOSTILE)],)))


def check(records: Sequence[EpisodeRecord]) -> None:
    """Look at every number, store each record and read it back, and look for signals."""
    for record in records:
        assert decode(encode(record)) == record
        assert record.outcome is None or 0 <= record.outcome.value <= 1
        for step in record.steps:
            assert -1e15 <= (step.duration_ms or 0) <= 1e15
            assert all(0 <= number < MOST for number in (step.turn, *_numbers(step.span)))
            assert 0 <= max(step.same_call, step.same_result, step.same_target) < len(record.steps)
    detect(records)


def _numbers(span: Span) -> tuple[int, int, int]:
    return span.byte_start, span.byte_end, span.line


@pytest.mark.parametrize(
    "sample", SAMPLES + SESSIONS + TRACES, ids=lambda sample: f"{sample.format}-{sample.name}"
)
def test_no_number_of_a_log_overflows(tmp_path: Path, sample: Sample) -> None:
    path = tmp_path / sample.name
    for place, hostile in hostile_numbers(sample.body):
        path.write_bytes(sample.body[: place.start()] + hostile + sample.body[place.end() :])
        logs_scan = scan_on([path], {}, log_format=sample.format)
        check(logs_scan.records)
        assert not any("broke:" in broken.message for broken in logs_scan.broken)


EPISODES = """
Episode(id="1", source=log.source, format="hostile", steps=(step(turn=10**22),))
Episode(id="2", source=log.source, format="hostile", steps=(step(turn=-1),))
Episode(id="3", source=log.source, format="hostile", steps=(step(turn=1.5),))
Episode(id="4", source=log.source, format="hostile", steps=(step(duration_ms=float("nan")),))
Episode(id="5", source=log.source, format="hostile", steps=(step(duration_ms=float("inf")),))
Episode(id="6", source=log.source, format="hostile", steps=(step(duration_ms=1e300),))
Episode(id="7", source=log.source, format="hostile", steps=(step(index=7),))
Episode(id="8", source=log.source, format="hostile", steps=(step(span=Span(0, 2**70, 1)),))
Episode(id="9", source=log.source, format="hostile", steps=(step(text="\\ud800"),))
Episode(id="10", source=log.source, format="hostile", steps=(step(error_text=None),))
Episode(id="11", source=log.source, format="hostile", outcome=EpisodeOutcome(float("nan"), "tests"))
Episode(id="12", source=log.source, format="hostile", outcome=EpisodeOutcome(2, "tests"))
Episode(id="13", source=log.source, format="hostile", labels={1: 2})
msgspec.structs.replace(record, steps=(record.steps[0], msgspec.structs.replace(record.steps[0], same_call=9)))
msgspec.structs.replace(record, steps=(msgspec.structs.replace(record.steps[0], turn=2**63),))
None
"an episode"
10**400
"""
PLUGIN = (
    """
import msgspec
from strategies.episodes.episode import Episode, EpisodeOutcome, Step
from strategies.episodes.episode_records import record_of
from strategies.files.log_records import Span

def step(**given):
    fixed = dict(index=0, turn=0, kind="call", actor="agent", tool="x", span=Span(0, 4, 1))
    return Step(**{**fixed, **given})

class Hostile:
    name = "hostile"
    def sniff(self, head, source):
        return head.startswith(b"OURS")
    def read(self, log, tally):
        good = Episode(id="good", source=log.source, format=self.name, steps=(step(),))
        record = record_of(good)
        yield good
"""
    + textwrap.indent("".join(f"yield {line}\n" for line in EPISODES.split("\n") if line), " " * 8)
    + """
        yield msgspec.structs.replace(record, id="not its hash", name="the last")

class Counting(Hostile):
    def read(self, log, tally):
        yield from ()
        tally.records = 10**22

class Leaving(Hostile):
    def read(self, log, tally):
        yield from ()
        raise SystemExit(0)
"""
)


@pytest.mark.parametrize("reader", ["Hostile", "Counting", "Leaving"])
def test_a_plug_in_gives_nothing_that_overflows_and_its_good_episodes_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: str
) -> None:
    path = tmp_path / "x.log"
    path.write_text("OURS")
    monkeypatch.setattr(plugged, "PLUGIN", PLUGIN)
    with plugged.plugged(tmp_path, monkeypatch, {"hostile": f"plugged_readers:{reader}"}):
        logs_scan = scan([path], on_broken="list")
    check(logs_scan.records)
    if reader == "Hostile":
        assert sorted(record.name for record in logs_scan.records) == ["good", "the last"]
        assert "not its hash" not in {record.id for record in logs_scan.records}
        assert len(logs_scan.malformed) == EPISODES.count("\n") - 1
        assert not logs_scan.broken
    else:
        (broken,) = logs_scan.broken
        assert "the reader 'hostile' broke" in broken.message


def test_a_record_stored_before_there_were_bounds_is_read_with_the_nearest_numbers(tmp_path: Path) -> None:
    path = tmp_path / SAMPLES[0].name
    path.write_bytes(SAMPLES[0].body)
    (record,) = scan([path]).records[:1]
    step = replace(record.steps[0], turn=2**60, duration_ms=float("inf"))
    record = replace(record, steps=(step,))
    (read,) = decode(encode(record)).steps
    assert (read.turn, read.duration_ms) == (MOST - 1, 1e15)
