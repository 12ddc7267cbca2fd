"""Coverage-guided fuzzing of every reader: `python tests/fuzz_readers.py -max_total_time=60`.

The promise is that of test_reader_properties: whatever the bytes, a reader counts, or names the file unreadable,
and every place that it reports holds the bytes that it stands for. Needs atheris; arguments are libFuzzer's.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import atheris

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

with atheris.instrument_imports(include=["strategies"]):
    from strategies.files.log_file import LogFile
    from strategies.files.reread import read_places
    from strategies.logs.formats_table import READERS
    from strategies.logs.scan import scan, scan_on

from tests.agent_sessions import SESSIONS
from tests.sample_logs import SAMPLES
from tests.trace_exports import TRACES

_FOLDER = TemporaryDirectory()
_PATH = Path(_FOLDER.name, "some.log")
_FORMATS = [reader.name for reader in READERS]


def read_as_a_format(given: bytes) -> None:
    """Scan the bytes as the format that the first of them chooses, whole, and in two readings."""
    log_format, body = _FORMATS[given[0] % len(_FORMATS)] if given else _FORMATS[0], given[1:]
    _PATH.write_bytes(body)
    logs_scan = scan([_PATH], log_format=log_format, on_broken="list")
    places = [(record.source, step.span) for record in logs_scan.records for step in record.steps]
    plain = b"".join(LogFile(_PATH).chunks())
    for (_, span), (raw, _) in zip(places, read_places(places), strict=True):
        if raw != plain[span.byte_start : span.byte_end]:
            raise AssertionError(f"{log_format}: {span} does not hold its record")
    _PATH.write_bytes(body[: len(body) // 2])
    stored = scan_on([_PATH], {}, log_format=log_format).offsets
    _PATH.write_bytes(body)
    scan_on([_PATH], stored, log_format=log_format)


def main() -> None:
    """Fuzz until libFuzzer's limits are met; the sample logs are where it begins."""
    corpus = Path(_FOLDER.name, "corpus")
    corpus.mkdir()
    for number, sample in enumerate(SAMPLES + SESSIONS + TRACES):
        known = bytes([_FORMATS.index(sample.format)]) if sample.format in _FORMATS else b"\0"
        (corpus / str(number)).write_bytes(known + sample.body)
    atheris.Setup([*sys.argv, str(corpus)], read_as_a_format)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
