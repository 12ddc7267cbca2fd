from __future__ import annotations

import base64
import json
import shutil
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from events.integrity.sidecar import sidecar_of
from events.sqlite.log import SqliteLog
from registry.actions.publish import publish
from registry.decide.commands import MoveAlias
from tests.rewriting import cut_tail, rewrite_from
from tests.terminal import Terminal
from tui.session.open_registry import open_registry

if TYPE_CHECKING:
    from pathlib import Path

    from tests.terminal import Beginning


@pytest.fixture(scope="module")
def evolved(learned_once: Beginning, own_folder: Path) -> Path:
    """A registry with a learned line, a checkpoint of each kind, a key, a proof and an attestation."""
    folder = shutil.copytree(learned_once.again().folder, own_folder / "evolved")
    germline = Terminal(folder)
    germline.does("checkpoint", "--new-key", "key")
    germline.does("checkpoint", "-o", "bare.json")
    germline.does("checkpoint", "--sign", "key", "-o", "signed.json")
    germline.does("export", "--attest", "sql-analyst@2", "--sign", "key", "-o", "attested.json")
    proof = germline.does("verify", "--event", "5", "--against", "signed.json", "--json").out
    (folder / "proof.json").write_text(proof)
    return folder


@pytest.fixture
def germline(evolved: Path, tmp_path: Path) -> Terminal:
    """A copy of the registry, which a test may damage; its skill is projected to where the original lies."""
    return Terminal(shutil.copytree(evolved, tmp_path / "there"))


def database(germline: Terminal) -> Path:
    return germline.folder / ".germline" / "registry.db"


def problem_kinds(germline: Terminal, *words: str) -> list[str]:
    """Verify, and return the kinds of what does not hold, in the JSON that scripts read."""
    answer = germline("verify", *words, "--json")
    assert answer.code == (0 if answer.json["ok"] else 3)
    assert answer.json["schema"] == "germline/verify/1"
    kinds = [problem["kind"] for problem in answer.json["problems"]]
    assert bool(kinds) != answer.json["ok"]
    return kinds


def test_every_writing_command_leaves_a_checkpoint_that_plain_verify_compares(germline: Terminal) -> None:
    first = germline.does("verify", "--json").json
    assert first["sidecar"]["checkpoints"] >= 3
    assert (first["sidecar"]["newest"], first["sidecar"]["ok"], first["against"]) == (first["events"], True, None)
    germline.does("alias", "set", "sql-analyst", "stable", "1")
    again = germline.does("verify", "--json").json
    assert again["events"] > first["events"]
    assert again["sidecar"]["newest"] == again["events"]


def test_what_only_reads_or_rehearses_leaves_none(germline: Terminal) -> None:
    before = sidecar_of(database(germline)).read_bytes()
    germline.does("status")
    germline.does("alias", "set", "sql-analyst", "stable", "1", "--dry-run")
    assert sidecar_of(database(germline)).read_bytes() == before


def test_what_went_wrong_first_is_told_where_the_checkpoint_cannot_be_kept_either(germline: Terminal) -> None:
    sidecar = sidecar_of(database(germline))
    sidecar.unlink()
    sidecar.mkdir()
    failed = germline("revert", "sql-analyst", "--to", "99", "--reason", "r")
    assert (failed.code, "no version 99" in failed.err) == (2, True)
    assert "no checkpoint" in germline("preset", "use", "harden", "--reason", "r").err


def test_a_cut_tail_is_caught_by_default_and_by_a_checkpoint_kept_elsewhere(germline: Terminal) -> None:
    cut_tail(database(germline), after=germline.events() - 1)
    answer = germline("verify")
    assert (answer.code, "its end was cut off" in answer.out) == (3, True)
    assert answer.hint.startswith("go back to a copy that verifies")
    assert problem_kinds(germline) == ["cut"]
    sidecar_of(database(germline)).unlink()
    assert problem_kinds(germline) == [], "which is why a checkpoint is kept elsewhere"
    assert "no checkpoint was kept" in germline.does("verify").err
    assert problem_kinds(germline, "--against", "bare.json") == ["cut"]


def test_events_lost_with_the_database_log_are_missed_at_once_and_nothing_is_written_before_a_decision(
    germline: Terminal,
) -> None:
    path = database(germline)
    before = germline.events()
    with closing(SqliteLog.open(path)) as log:  # as long as others have it open, SQLite leaves its log beside it
        assert log.head().position == before
        for number in range(5):
            germline.does("alias", "set", "sql-analyst", f"a{number}", "1")
        without_log = path.read_bytes()
    path.with_name(f"{path.name}-wal").unlink(missing_ok=True)
    path.write_bytes(without_log)
    warned = f"warning    the log ends at event {before}, and had {before + 5} on "
    assert germline.does("status").err.startswith(warned)
    assert germline.does("-q", "log", "--json").err == ""
    for words in (("alias", "set", "sql-analyst", "b", "1"), ("preset", "use", "harden", "--reason", "r")):
        for dry in ((), ("--dry-run",)):
            refused = germline(*words, *dry)
            assert (refused.code, refused.hint) == (3, "germline verify says how to go on"), words
    assert germline("verify", "--json").json["events"] == before
    assert germline("doctor").code == 3
    germline.does("doctor", "--repair", "--yes")  # which says what is lost, and keeps it aside
    assert germline.does("alias", "set", "sql-analyst", "b", "1").err == ""
    assert problem_kinds(germline) == []


@pytest.mark.parametrize("last", ["", "torn", '{"size":1e999,"head":"x"}', '{"size":-1,"head":"x"}', "[]"])
def test_a_last_line_that_is_damaged_is_passed_over(germline: Terminal, last: str) -> None:
    sidecar = sidecar_of(database(germline))
    whole = sidecar.read_bytes()
    sidecar.write_bytes(whole + last.encode())
    assert germline.does("status").err == ""
    germline.does("alias", "set", "sql-analyst", "b", "1")
    sidecar.write_bytes(whole + last.encode())
    cut_tail(database(germline), after=germline.events() - 2)
    assert "its end was cut off" in germline.does("status").err


def test_a_registry_that_is_gone_is_not_begun_again_beside_its_checkpoints(germline: Terminal) -> None:
    database(germline).unlink()
    for words in (("init",), ("status",)):
        refused = germline(*words)
        assert (refused.code, refused.hint.startswith("germline restore FILE ")) == (2, True), words
    sidecar_of(database(germline)).unlink()
    germline.does("init")


def test_a_log_that_is_damaged_itself_is_to_be_repaired_whatever_its_sidecar_says(germline: Terminal) -> None:
    cut_tail(database(germline), after=germline.events() - 1)
    with closing(sqlite3.connect(database(germline))) as connection:
        connection.execute("DROP TRIGGER events_refuse_update")
        connection.execute("UPDATE events SET actor = 'person:mallory' WHERE position = 2")
        connection.commit()
    answer = germline("verify")
    assert (answer.code, "its end was cut off" in answer.out) == (3, True)
    assert answer.hint.startswith("germline doctor --repair")


def test_a_history_rewritten_as_a_whole_is_caught(germline: Terminal) -> None:
    rewrite_from(database(germline), 4)
    assert problem_kinds(germline) == ["forked"], "the sidecar knows that the beginning is the same"
    sidecar_of(database(germline)).unlink()
    assert problem_kinds(germline) == []
    assert problem_kinds(germline, "--against", "signed.json", "--key", "key.pub") == ["rewritten"]
    rewrite_from(database(germline), 1)
    assert problem_kinds(germline, "--against", "bare.json") == ["registry"]


def test_another_registry_is_named(germline: Terminal, tmp_path: Path) -> None:
    other = Terminal(tmp_path).with_skill()
    assert problem_kinds(other, "--against", str(germline.folder / "bare.json")) == ["registry"]


def test_a_signature_is_checked_and_a_swapped_one_named(germline: Terminal) -> None:
    verified = germline.does("verify", "--against", "signed.json", "--key", "key.pub")
    public = (germline.folder / "key.pub").read_text().strip()
    key = germline.does("verify", "--against", "signed.json", "--key", public, "--json").json["against"]["key"]
    assert f"signed by key {key}" in " ".join(verified.out.split())
    assert "not checked: --key" in germline.does("verify", "--against", "signed.json").err
    germline.does("checkpoint", "--new-key", "other")
    assert problem_kinds(germline, "--against", "signed.json", "--key", "other.pub") == ["signature"]
    assert problem_kinds(germline, "--against", "bare.json", "--key", "key.pub") == ["signature"]
    germline.does("alias", "set", "sql-analyst", "stable", "1")
    newer = germline.does("checkpoint", "--sign", "key", "--json").json
    older = json.loads((germline.folder / "signed.json").read_text())
    germline.write("swapped.json", json.dumps({**newer, "signature": older["signature"]}))
    assert problem_kinds(germline, "--against", "swapped.json", "--key", "key.pub") == ["signature"]


def test_a_damaged_sidecar_is_named_and_a_torn_one_only_told(germline: Terminal) -> None:
    sidecar = sidecar_of(database(germline))
    whole = sidecar.read_bytes()
    sidecar.write_bytes(whole + whole[:60])
    assert "is torn" in germline.does("verify").err
    assert germline.does("verify", "--json").json["sidecar"]["torn"] is True
    sidecar.write_bytes(whole.replace(b'"size"', b'"sise"', 1))
    assert problem_kinds(germline) == ["checkpoint"]


def test_many_checkpoints_may_be_kept_in_one_file(germline: Terminal) -> None:
    lines = germline.does("checkpoint").out
    germline.does("alias", "set", "sql-analyst", "stable", "1")
    germline.write("many.jsonl", lines + germline.does("checkpoint").out)
    assert germline.does("verify", "--against", "many.jsonl", "--json").json["against"]["checkpoints"] == 2
    cut_tail(database(germline), after=germline.events() - 1)
    assert problem_kinds(germline, "--against", "many.jsonl") == ["cut", "cut"], "by the file, and by the sidecar"


def test_a_checkpoint_or_key_is_never_overwritten(germline: Terminal) -> None:
    before = {name: (germline.folder / name).read_bytes() for name in ("bare.json", "key", "key.pub")}
    assert germline("checkpoint", "-o", "bare.json").code == 2
    assert germline("checkpoint", "--new-key", "key").code == 2
    assert germline("export", "--attest", "sql-analyst", "-o", "bare.json").code == 2
    assert before == {name: (germline.folder / name).read_bytes() for name in before}


def test_growth_is_proven_to_whoever_has_only_the_older_checkpoint(germline: Terminal, tmp_path: Path) -> None:
    germline.does("alias", "set", "sql-analyst", "stable", "1")
    germline.does("checkpoint", "--since", "bare.json", "--sign", "key", "-o", "grown.json")
    away = Terminal(tmp_path)
    for name in ("grown.json", "bare.json", "key.pub"):
        shutil.copy(germline.folder / name, tmp_path / name)
    output = away.does("verify", "--proof", "grown.json", "--against", "bare.json", "--key", "key.pub").out
    assert "is the beginning of the" in output
    rewrite_from(database(germline), 4)
    assert germline("checkpoint", "--since", "bare.json").code == 3


def test_a_proof_is_checked_where_there_is_no_registry(germline: Terminal, tmp_path: Path) -> None:
    away = Terminal(tmp_path)
    for name in ("proof.json", "signed.json", "bare.json", "key.pub"):
        shutil.copy(germline.folder / name, tmp_path / name)
    verified = away.does("verify", "--proof", "proof.json", "--against", "signed.json", "--key", "key.pub")
    assert verified.out.startswith("✓ event 5 is among the ")
    assert verified.err == ""
    assert "it agrees with itself" in away.does("verify", "--proof", "proof.json").err
    fields = json.loads((tmp_path / "proof.json").read_text())
    fields["event"]["actor"] = "person:mallory"
    away.write("forged.json", json.dumps(fields))
    assert problem_kinds(away, "--proof", "forged.json") == ["event"]
    event = fields["event"]["event_id"]
    assert germline.does("verify", "--event", event, "--json").json["event"]["position"] == 5
    assert f"root       {fields['checkpoint']['root']}" in germline.does("verify", "--event", "5").out


def test_an_attestation_says_where_every_line_comes_from(germline: Terminal) -> None:
    verified = germline.does(
        "verify", "--attestation", "attested.json", "--key", "key.pub", "--against", "signed.json",
        "--files", "skills/sql-analyst",
    )  # fmt: skip
    assert verified.out.startswith("✓ sql-analyst@2: ")
    assert verified.err == ""
    statement = opened(germline.folder / "attested.json")
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert statement["predicateType"] == "tag:germline,2026:skill-provenance/1"
    assert [subject["name"] for subject in statement["subject"]] == ["sql-analyst/SKILL.md"]
    predicate = statement["predicate"]
    types = {event["type"] for event in predicate["events"]}
    assert {"CandidateProposed", "CandidateScored", "CandidatePromoted", "SignalRaised", "GeneMutated"} <= types
    assert {"CapsuleImported", "CapsuleVersioned", "EvaluatorRegistered"} <= types
    assert set(map(int, predicate["lines"])) <= {event["position"] for event in predicate["events"]}
    (signal,) = predicate["signals"]
    assert all(len(piece["hmac"]) == 64 for piece in signal["evidence"])
    assert signal["evidence"]
    assert predicate["candidates"][0]["after"]["evaluator"] in predicate["evaluators"]


def opened(path: Path) -> Any:  # noqa: ANN401 - tests look into whatever shape a command promises
    envelope = json.loads(path.read_text())
    assert envelope["payloadType"] == "application/vnd.in-toto+json"
    return json.loads(base64.b64decode(envelope["payload"]))


def forged(path: Path, change: str) -> str:
    """Change a statement, and put it back under the signature it had."""
    envelope, statement = json.loads(path.read_text()), opened(path)
    predicate = statement["predicate"]
    if change == "file":
        statement["subject"][0]["digest"]["sha256"] = "0" * 64
    elif change == "score":
        predicate["candidates"][0]["after"]["value"] = 0.99
    elif change == "event":
        predicate["events"][0]["hash"] = "0" * 64
    elif change == "left out":
        predicate["events"] = predicate["events"][1:]
    body = json.dumps(statement).encode()
    return json.dumps({**envelope, "payload": base64.b64encode(body).decode()})


@pytest.mark.parametrize(
    ("change", "kinds"),
    [("file", ["signature"]), ("score", ["signature"]), ("event", ["event", "signature"])],
)
def test_a_tampered_attestation_is_refused(germline: Terminal, change: str, kinds: list[str]) -> None:
    germline.write("forged.json", forged(germline.folder / "attested.json", change))
    assert problem_kinds(germline, "--attestation", "forged.json", "--key", "key.pub") == kinds


def test_an_attestation_that_nobody_vouches_for_is_still_checked_against_itself(germline: Terminal) -> None:
    assert "it agrees with itself" in germline.does("verify", "--attestation", "attested.json").err
    germline.write("forged.json", forged(germline.folder / "attested.json", "left out"))
    assert problem_kinds(germline, "--attestation", "forged.json") == ["event"]
    germline.write("skills/sql-analyst/SKILL.md", "other text")
    assert problem_kinds(germline, "--attestation", "attested.json", "--files", "skills/sql-analyst") == ["file"]
    assert problem_kinds(germline, "--attestation", "attested.json", "--files", "skills") == ["file"]
    germline.does("alias", "set", "sql-analyst", "stable", "1")
    germline.does("checkpoint", "-o", "later.json")
    assert problem_kinds(germline, "--attestation", "attested.json", "--against", "later.json") == ["checkpoint"]


def test_erased_evidence_is_attested_as_erased(germline: Terminal) -> None:
    pieces = opened(germline.folder / "attested.json")["predicate"]["signals"][0]["evidence"]
    germline.does("evidence", "erase", pieces[0]["id"], "--reason", "asked for")
    attested = germline.does("export", "--attest", "sql-analyst@2", "--json").json
    envelope = attested["attestation"]
    again = json.loads(base64.b64decode(envelope["payload"]))["predicate"]["signals"][0]["evidence"]
    (gone,) = [piece for piece in again if piece["id"] == pieces[0]["id"]]
    assert gone["hmac"] == ""
    assert gone["erased"].endswith(": asked for")
    assert (attested["schema"], attested["key"], envelope["signatures"]) == ("germline/export-attest/1", None, [])


@pytest.mark.parametrize(
    "words",
    [
        ("verify", "--event", "1", "--proof", "proof.json"),
        ("verify", "--files", "skills"),
        ("verify", "--key", "key.pub"),
        ("verify", "--against", "key"),
        ("verify", "--against", "none.json"),
        ("verify", "--event", "9999"),
        ("verify", "--event", "0"),
        ("verify", "--event", "no-such-event"),
        ("verify", "--proof", "bare.json"),
        ("verify", "--proof", "key"),
        ("verify", "--attestation", "bare.json"),
        ("verify", "--attestation", "skills"),
        ("verify", "--against", "signed.json", "--key", "key"),
        ("checkpoint", "--sign", "key.pub"),
        ("checkpoint", "--sign", "bare.json"),
        ("checkpoint", "--since", "proof.json"),
        ("checkpoint", "--new-key", "k", "-o", "x"),
        ("export",),
        ("export", "--attest", "no-such-skill"),
        ("export", "--attest", "sql-analyst@9"),
        ("export", "--attest", "sql-analyst", "review"),
        ("export", "--sign", "key", "review"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(germline: Terminal, words: tuple[str, ...]) -> None:
    answer = germline(*words)
    assert (answer.code, answer.out) == (2, "")
    assert answer.hint
    assert "Traceback" not in answer.err


def test_a_projection_is_witnessed_while_the_registry_stays_open(tmp_path: Path) -> None:
    germline = Terminal(tmp_path).with_skill()
    sidecar = sidecar_of(database(germline))
    with open_registry(database(germline)) as registry:
        before = sidecar.read_bytes()
        registry.execute(MoveAlias("sql-analyst", "stable", 1, "a test"))
        assert sidecar.read_bytes() == before, "an append alone costs no more than it did"
        publish(registry, "sql-analyst")
        assert len(sidecar.read_bytes().splitlines()) == len(before.splitlines()) + 1
