"""A mapping: its paths, which files it claims, what it makes of records, and how it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from events.errors import UsageError
from strategies.logs.formats.mapped.json_paths import JsonPath
from strategies.logs.formats.mapped.log_mapping import LogMapping
from strategies.logs.formats.mapped.mappings_in_use import IN_USE
from strategies.logs.scan import scan, scan_on
from strategies.logs.transcripts import read_transcripts
from tests.mapped_logs import CALLS, EVALS, FLAT, MAPPINGS, RUNS
from tests.sample_logs import jsonl

if TYPE_CHECKING:
    from strategies.logs.scan import Scan

DEEP = {"a": {"b": [{"c": 1}, {"c": 2}, {}]}, "x.y": {"z": 3}, "n": None}


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("a.b.0.c", [1]),
        ("a.b.-2.c", [2]),
        ("a.b[].c", [1, 2]),
        ("a.b.[].c", [1, 2]),
        ("x.y.z", [3]),
        ("a.b.7.c", []),
        ("a.q", []),
        ("n", []),
        ("", [DEEP]),
    ],
)
def test_a_path_leads_to_what_it_says(path: str, values: list[object]) -> None:
    assert JsonPath(path).values(DEEP) == values


@pytest.mark.parametrize("path", ["a..b", ".a", "a.", "a[][]", ".".join("a" * 33)])
def test_what_is_no_path_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="a path"):
        JsonPath(path)


@pytest.mark.parametrize(
    ("glob", "file", "claims"),
    [
        ("logs/*.json", "logs/a.json", True),
        ("logs/*.json", "logs/a.json.gz", True),
        ("logs/*.json", "logs/deep/a.json", False),
        ("logs/**/*.json", "logs/a.json", True),
        ("**/x-?.json", "a/b/x-1.json", True),
        ("logs/**", "logs/a/b", True),
        ("logs", "logs/a.json", False),
        ("**/**/**/**/a/**/**/b", "a/" * 40 + "c", False),
    ],
)
def test_a_glob_claims_files_from_the_folder_of_its_settings_on(
    tmp_path: Path, glob: str, file: str, *, claims: bool
) -> None:
    mapping = LogMapping.from_mapping("x", {"glob": glob, "text": "t"}, tmp_path)
    assert mapping.claims(tmp_path.resolve() / file) is claims
    assert not mapping.claims(Path("/elsewhere") / file) or glob.startswith("/")


@pytest.mark.parametrize(
    ("table", "what", "hint"),
    [
        ({"glob": "*", "stepz": "a"}, "sets stepz", "did you mean step"),
        ({"text": "a"}, "has no glob", "glob ="),
        ({"glob": "*", "step": {"tool": "name"}}, "sets step to a table", 'steps = "events", tool ='),
        ({"glob": "*", "steps": "e", "step": {"tool": "n"}}, "sets step to a table", "beside it"),
        ({"glob": "*", "steps": "e", "step": "f", "text": "t"}, "sets step twice", "docs/mapping.md"),
        ({"glob": "*", "text": "a..b"}, "sets text to 'a..b': a path is", "--explain"),
        ({"glob": "*", "text": 7}, "sets text to 7", "docs/mapping.md"),
        ({"glob": "*", "task": "t"}, "does not say where steps are", "tool ="),
        ({"glob": "*", "format": "chat", "task": "t"}, "sets format and task", "format says already"),
        ({"glob": "*/../x", "text": "t"}, "sets glob", "no .. behind a wildcard"),
        ({"glob": "*", "text": "t", "source": "me"}, "sets source to 'me'", "docs/mapping.md"),
        ({"glob": "*", "text": "t", "name": "y"}, "sets name", "that of its table"),
    ],
)
def test_a_mapping_that_cannot_be_names_the_key_and_what_helps(
    tmp_path: Path, table: dict[str, object], what: str, hint: str
) -> None:
    with pytest.raises(UsageError) as caught:
        LogMapping.from_mapping("evals", table, tmp_path)
    assert caught.value.message.startswith("[logs.evals]")
    assert what in caught.value.message
    assert hint in caught.value.hint


def read(folder: Path, name: str, *records: object, **keys: object) -> Scan:
    (folder / name).write_bytes(jsonl(*records))
    mapping = LogMapping.from_mapping("m", {"glob": "*", **keys}, folder)
    return scan([folder / name], mappings=(mapping,))


@pytest.mark.parametrize(
    ("given", "success", "value"),
    [
        ("passed", [], 1),
        ("FAILED", [], 0),
        (True, [], 1),
        (0.25, [], 0.25),
        ("green", ["green"], 1),
        ("red", ["green"], 0),
        (3, [3, 4], 1),
        ("amber", [], None),
        (7, [], None),
    ],
)
def test_an_outcome_is_read_by_the_values_of_the_mapping_or_by_the_usual_words(
    tmp_path: Path, given: object, success: list[object], value: float | None
) -> None:
    logs_scan = read(tmp_path, "a.jsonl", {"say": "x", "end": given}, text="say", outcome="end", success=success)
    outcome = logs_scan.records[0].outcome
    assert (outcome.value if outcome else None) == value
    assert bool(logs_scan.unknown) == (value is None)


def test_the_usual_fields_tell_the_outcome_where_the_mapping_names_none(tmp_path: Path) -> None:
    logs_scan = read(tmp_path, "a.jsonl", {"say": "x", "resolved": False}, text="say", source="ci")
    assert logs_scan.records[0].outcome is not None
    assert (logs_scan.records[0].outcome.value, logs_scan.records[0].outcome.source) == (0, "ci")


@pytest.mark.parametrize(
    ("error", "failure", "failed"),
    [
        (None, [], False),
        (False, [], False),
        (0, [], False),
        (2, [], True),
        ("", [], False),
        ("ok", [], False),
        ("no such table", [], True),
        ({"message": "no such table"}, [], True),
        ("E7", ["E7"], True),
        ("E8", ["E7"], False),
    ],
)
def test_a_call_failed_where_its_error_says_so(
    tmp_path: Path, error: object, failure: list[object], *, failed: bool
) -> None:
    record = {"do": "sql", "back": "1 row", "err": error}
    logs_scan = read(tmp_path, "a.jsonl", record, tool="do", result="back", error="err", failure=failure)
    assert [step.error for step in logs_scan.records[0].steps] == [failed]


def test_messages_calls_and_their_results_are_paired_across_steps(tmp_path: Path) -> None:
    messages = [
        {"role": "user", "body": "count them"},
        {"role": "assistant", "calls": [{"n": "ls", "a": "x", "i": "1"}, {"n": "wc", "a": "y", "i": "2"}]},
        {"role": "tool", "for": "2", "body": "Error: no file"},
        {"role": "tool", "for": "1", "body": "fine"},
        {"role": "critic", "body": "hm"},
    ]
    keys = {"steps": "m", "role": "role", "text": "body", "tool": "calls[].n", "argument": "calls[].a"}
    logs_scan = read(tmp_path, "a.jsonl", {"m": messages}, **keys)
    steps = logs_scan.records[0].steps
    assert [(step.action, step.error) for step in steps] == [("", False), ("ls", True), ("wc", False)]
    assert logs_scan.unknown == {"role critic, which answers no call": 1}


def test_a_file_that_gives_nothing_is_named_with_its_first_record_and_what_that_holds(tmp_path: Path) -> None:
    logs_scan = read(tmp_path, "a.jsonl", {"trace": [1], "id": 2}, text="say", steps="steps")
    (file,) = logs_scan.empty
    assert file.why_empty == "line 1 does not fit: nothing at steps = 'steps'; its keys: trace, id"
    (tmp_path / "evals.json").write_text(json.dumps({"runs": RUNS}))
    (file,) = scan([tmp_path / "evals.json"], mappings=MAPPINGS).empty
    assert "nothing at records = 'results'; its keys: runs" in file.why_empty


def test_of_a_file_of_episodes_the_new_lines_are_read_and_of_any_other_the_whole(tmp_path: Path) -> None:
    for name, table in (("runs.jsonl", {**EVALS, "records": "", "episode": ""}), ("calls.jsonl", FLAT)):
        file = tmp_path / name
        mapping = LogMapping.from_mapping("m", {**table, "glob": name}, tmp_path)
        lines = jsonl(*RUNS) if name == "runs.jsonl" else jsonl(*({"job": str(n), "cmd": "x"} for n in range(3)))
        first, rest = lines.split(b"\n", 1)
        file.write_bytes(first + b"\n")
        before = scan_on([file], {}, mappings=(mapping,))
        file.write_bytes(lines)
        after = scan_on([file], before.offsets, mappings=(mapping,))
        assert after.text_bytes == len(rest if name == "runs.jsonl" else lines)
        known = {record.id for record in (*before.records, *after.records)}
        assert known == {record.id for record in scan([file], mappings=(mapping,)).records}


@pytest.mark.parametrize("table", [{**EVALS, "records": "", "episode": ""}, FLAT])
def test_half_a_line_waits_while_a_file_is_watched(tmp_path: Path, table: dict[str, object]) -> None:
    mapping = LogMapping.from_mapping("m", {**table, "glob": "*"}, tmp_path)
    file, body = tmp_path / "a.jsonl", jsonl(*RUNS) if "steps" in table else jsonl(*CALLS)
    file.write_bytes(body[:-30])
    half = scan_on([file], {}, live=True, mappings=(mapping,))
    assert (half.malformed, half.broken) == ((), ())
    file.write_bytes(body)
    whole = scan_on([file], half.offsets, live=True, mappings=(mapping,))
    expected = scan([file], mappings=(mapping,)).records
    assert {record.id for record in expected} <= {record.id for record in (*half.records, *whole.records)}


def test_a_mapping_that_changed_reads_its_files_again_and_one_that_went_leaves_them_to_the_readers(
    tmp_path: Path,
) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(jsonl({"say": "x", "do": "y"}))

    def look(stored: dict[str, bytes], **keys: object) -> Scan:
        mappings = (LogMapping.from_mapping("m", {"glob": "*", **keys}, tmp_path),) if keys else ()
        return scan_on([file], stored, mappings=mappings)

    stored = dict(look({}, text="nothing").offsets)
    assert look(stored, text="nothing").unchanged == (str(file),)
    again = look(stored, text="say")
    assert (len(again.records), again.unchanged) == (1, ())
    gone = look(dict(again.offsets))
    assert (gone.unchanged, [broken.message for broken in gone.broken]) == (
        (),
        [f"{file}: not a log of a known format"],
    )


def test_the_texts_of_an_episode_are_read_again_by_its_mapping(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "evals.json").write_text(json.dumps({"results": RUNS}))
    records = scan([tmp_path], mappings=MAPPINGS).records
    for mapping in MAPPINGS:
        monkeypatch.setitem(IN_USE, mapping.name, mapping)
    assert len(records) == len(RUNS)
    for transcript in read_transcripts(records, frozenset()):
        assert transcript is not None
        assert transcript.task == "How many orders?"
        assert [step.error_text for step in transcript.steps if step.error] == ["no such table: é"]
