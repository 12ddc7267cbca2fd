from __future__ import annotations

import base64
import fcntl
import json
import os
import shutil
from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from events.errors import CorruptLogError, NotFoundError, StorageError, UsageError
from events.integrity.checkpoint import (
    Checkpoint,
    check_against,
    check_signatures,
    read_checkpoint,
    take_checkpoint,
)
from events.integrity.checkpoint_file import (
    StoredCheckpoints,
    keep_checkpoint,
    read_kept,
    read_sidecar,
)
from events.integrity.merkle import root_of
from events.integrity.proofs import Proof, check_proof, prove_events, prove_growth, read_proof
from events.integrity.sidecar import sidecar_of
from events.integrity.signatures import Signature, encoded, read_public_key, read_secret_key, write_new_key
from events.sqlite.log import SqliteLog
from tests.contract.drafts import Pen, put
from tests.rewriting import cut_tail, rewrite_from

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from events.store.sql_log import EventLog

AT = "2026-11-22T08:00:00.000000Z"
LATER = "2026-11-23T08:00:00.000000Z"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "registry.db"


@pytest.fixture
def pen() -> Pen:
    return Pen()


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed log of 20 events."""
    path = tmp_path_factory.mktemp("pristine") / "registry.db"
    with closing(SqliteLog.open(path, create=True)) as log:
        put(log, *Pen("first").drafts(20))
    return path


@pytest.fixture
def log(pristine: Path, path: Path) -> Iterator[SqliteLog]:
    """A log of 20 events."""
    shutil.copy(pristine, path)
    with closing(SqliteLog.open(path)) as log:
        yield log


def kinds(log: EventLog, *checkpoints: Checkpoint) -> list[tuple[str, int]]:
    return [(problem.kind, problem.position) for problem in check_against(log, checkpoints)]


def at_size(log: EventLog, size: int) -> Checkpoint:
    """The checkpoint that would have been taken when the log had that many events."""
    leaves = list(log.hashes(upto=size))
    return Checkpoint(leaves[0].hex(), size, root_of(leaves).hex(), leaves[-1].hex(), AT)


# -- checkpoints against a log -------------------------------------------------------------------------


def test_a_checkpoint_says_what_the_log_holds(log: SqliteLog) -> None:
    taken = take_checkpoint(log, at=AT)
    events = list(log.read())
    assert (taken.registry, taken.size, taken.head) == (events[0].hash, 20, events[-1].hash)
    assert taken.root == root_of(bytes.fromhex(event.hash) for event in events).hex()
    assert read_checkpoint(json.loads(json.dumps(taken.fields()))) == taken


def test_a_log_that_only_grew_contradicts_no_checkpoint(log: SqliteLog, pen: Pen) -> None:
    kept = [at_size(log, size) for size in (1, 7, 8, 20)]
    put(log, *pen.drafts(5))
    assert kinds(log, *kept) == []


def test_a_log_without_events_has_no_checkpoint(tmp_path: Path) -> None:
    with closing(SqliteLog.open(tmp_path / "empty.db", create=True)) as log:
        with pytest.raises(UsageError, match="no event"):
            take_checkpoint(log, at=AT)
        assert keep_checkpoint(log, tmp_path / "kept", at=AT) is None


def test_a_cut_tail_is_named_by_its_first_missing_event(log: SqliteLog, path: Path) -> None:
    kept = [at_size(log, size) for size in (9, 15, 20)]
    cut_tail(path, after=12)
    assert not log.verify().problems, "which is why there are checkpoints"
    assert kinds(log, *kept) == [("cut", 13)]


def test_a_log_that_lost_all_its_events_is_cut(log: SqliteLog, path: Path) -> None:
    kept = at_size(log, 20)
    cut_tail(path, after=0)
    assert kinds(log, kept) == [("cut", 1)]


@pytest.mark.parametrize("position", [2, 11, 20])
def test_a_history_rewritten_as_a_whole_is_named(log: SqliteLog, path: Path, position: int) -> None:
    kept = at_size(log, 20)
    rewrite_from(path, position)
    assert not log.verify().problems, "which is why there are checkpoints"
    assert kinds(log, kept) == [("rewritten", 20)]


def test_a_fork_is_named_with_the_last_event_that_is_known_to_be_shared(log: SqliteLog, path: Path) -> None:
    kept = [at_size(log, size) for size in (5, 10, 15, 20)]
    rewrite_from(path, 12)
    (problem,) = check_against(log, kept)
    assert (problem.kind, problem.position) == ("forked", 15)
    assert "after event 10" in problem.what


def test_a_tail_that_was_cut_and_grew_again_is_a_fork(log: SqliteLog, path: Path) -> None:
    kept = [at_size(log, size) for size in (5, 20)]
    cut_tail(path, after=10)
    with closing(SqliteLog.open(path)) as other:
        put(other, *Pen("other").drafts(30))
        assert kinds(other, *kept) == [("forked", 20)]


def test_another_registry_is_named_and_so_is_one_rewritten_from_its_first_event(
    log: SqliteLog, path: Path, tmp_path: Path
) -> None:
    kept = at_size(log, 20)
    with closing(SqliteLog.open(tmp_path / "other.db", create=True)) as other:
        put(other, *Pen("other").drafts(20))
        assert kinds(other, kept) == [("registry", 1)]
    rewrite_from(path, 1)
    assert kinds(log, kept) == [("registry", 1)]


def test_a_root_that_was_altered_is_named_where_the_head_still_fits(log: SqliteLog) -> None:
    kept = replace(at_size(log, 13), root="0" * 64)
    assert kinds(log, kept) == [("root", 13)]
    assert check_against(log, [kept], roots=False) == ()


def test_a_log_that_cannot_be_read_is_a_finding(log: SqliteLog, path: Path) -> None:
    kept = at_size(log, 20)
    with closing(SqliteLog.open(path)):
        rewrite_from(path, 20)
    from tests.rewriting import without_triggers

    with without_triggers(path) as connection:
        connection.execute("DELETE FROM events WHERE position = 1")
    assert kinds(log, kept) == [("", 1)]
    with without_triggers(path) as connection:
        connection.execute("UPDATE events SET hash = 'none', position = 1 WHERE position = 2")
    assert kinds(log, kept) == [("", 1)]


@pytest.mark.parametrize(
    "fields",
    [
        {"schema": "germline/verify/1"},
        {"size": 0},
        {"size": "20"},
        {"size": True},
        {"root": "zz"},
        {"head": None},
        {"registry": "A" * 64},
        {"at": "\x1b[31mnow"},
        {"signature": "none"},
        {"signature": {"algorithm": "none", "key": "0" * 16, "value": ""}},
        {"signature": {"algorithm": "ed25519", "key": "\n", "value": ""}},
    ],
)
def test_what_is_no_checkpoint_is_refused(log: SqliteLog, fields: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        read_checkpoint({**at_size(log, 20).fields(), **fields})


# -- signatures ----------------------------------------------------------------------------------------


def test_a_signature_holds_until_anything_it_covers_changes(log: SqliteLog, tmp_path: Path) -> None:
    public = write_new_key(tmp_path / "key", bytes(range(32)))
    signed = at_size(log, 20).signed_with(read_secret_key(tmp_path / "key"))
    assert check_signatures([signed], public) == ()
    assert read_checkpoint(signed.fields()) == signed
    altered = (
        replace(signed, registry="0" * 64),
        replace(signed, size=19),
        replace(signed, root="0" * 64),
        replace(signed, head="0" * 64),
        replace(signed, at=LATER),
    )
    for checkpoint in altered:
        (problem,) = check_signatures([checkpoint], public)
        assert (problem.kind, "altered" in problem.what) == ("signature", True)


def test_what_is_signed_is_the_encoding_that_dsse_writes_down() -> None:
    """The example of its protocol.md: any tool that knows DSSE checks our signatures."""
    encoding = encoded("http://example.com/HelloWorld", b"hello world")
    assert encoding == b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"


def test_a_signature_made_by_hand_over_the_written_statement_holds(tmp_path: Path) -> None:
    """The bytes that are signed are a format: what was signed once must verify for ever."""
    from nacl.signing import SigningKey

    public = write_new_key(tmp_path / "key", bytes(32))
    bare = Checkpoint("a" * 64, 7, "b" * 64, "c" * 64, AT)
    body = (
        f'{{"schema":"germline/checkpoint/1","registry":"{"a" * 64}","size":7,"root":"{"b" * 64}",'
        f'"head":"{"c" * 64}","at":"{AT}"}}'
    )
    kind = "application/vnd.germline.checkpoint+json"
    by_hand = SigningKey(bytes(32)).sign(f"DSSEv1 {len(kind)} {kind} {len(body)} {body}".encode()).signature
    signed = replace(bare, signature=Signature(public.id, base64.b64encode(by_hand).decode()))
    assert check_signatures([signed], public) == ()
    assert bare.signed_with(read_secret_key(tmp_path / "key")) == signed


def test_a_signature_of_another_or_of_nobody_is_named(log: SqliteLog, tmp_path: Path) -> None:
    public = write_new_key(tmp_path / "key", bytes(32))
    other = write_new_key(tmp_path / "other", bytes(range(32)))
    bare = at_size(log, 20)
    signed = bare.signed_with(read_secret_key(tmp_path / "other"))
    (by_nobody,) = check_signatures([bare], public)
    (by_other,) = check_signatures([signed], public)
    assert "is not signed" in by_nobody.what
    assert other.id in by_other.what
    assert signed.signature is not None
    swapped = replace(signed, signature=replace(signed.signature, key=public.id))
    assert "altered" in check_signatures([swapped], public)[0].what
    broken = replace(signed, signature=replace(signed.signature, value="not base64"))
    assert "altered" in check_signatures([broken], other)[0].what


def test_a_key_is_for_its_owner_alone_and_never_overwritten(tmp_path: Path) -> None:
    public = write_new_key(tmp_path / "key", bytes(32))
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600
    assert read_public_key(str(public), tmp_path) == public
    assert read_public_key("key.pub", tmp_path / "key.pub") == public
    assert "AAAA" not in repr(read_secret_key(tmp_path / "key"))
    before = (tmp_path / "key").read_bytes()
    with pytest.raises(UsageError, match="never overwritten"):
        write_new_key(tmp_path / "key", bytes(range(32)))
    (tmp_path / "key").rename(tmp_path / "moved")
    with pytest.raises(UsageError, match=r"key\.pub is there already"):
        write_new_key(tmp_path / "key", bytes(range(32)))
    assert (tmp_path / "moved").read_bytes() == before
    for mode in (0o640, 0o604, 0o602):
        (tmp_path / "moved").chmod(mode)
        with pytest.raises(UsageError, match="by others"):
            read_secret_key(tmp_path / "moved")


@pytest.mark.parametrize("name", ["key", "key.pub"])
def test_a_key_is_not_written_where_a_link_leads_nowhere(tmp_path: Path, name: str) -> None:
    (tmp_path / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="is there already"):
        write_new_key(tmp_path / "key", bytes(32))
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("written", [0, 1])
def test_a_key_that_cannot_be_written_whole_leaves_neither_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: int
) -> None:
    syncs: list[int] = []

    def fill_the_disk(handle: int) -> None:
        syncs.append(handle)
        if len(syncs) > written:
            raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fill_the_disk)
        with pytest.raises(StorageError, match="No space left"):
            write_new_key(tmp_path / "key", bytes(32))
    assert list(tmp_path.iterdir()) == []
    write_new_key(tmp_path / "key", bytes(32))


def test_what_is_no_key_is_refused_in_words(tmp_path: Path) -> None:
    write_new_key(tmp_path / "key", bytes(32))
    (tmp_path / "text").write_text("-----BEGIN OPENSSH PRIVATE KEY-----")
    with pytest.raises(UsageError, match="public key"):
        read_secret_key(tmp_path / "key.pub")
    with pytest.raises(UsageError, match="no Ed25519 key"):
        read_secret_key(tmp_path / "text")
    with pytest.raises(NotFoundError):
        read_secret_key(tmp_path / "none")
    with pytest.raises(UsageError, match="no Ed25519 public key"):
        read_public_key("ed25519:AAAA", tmp_path)
    with pytest.raises(NotFoundError):
        read_public_key("none", tmp_path / "none")


def test_without_pynacl_the_command_that_installs_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "nacl.signing", None)
    with pytest.raises(UsageError, match="PyNaCl") as caught:
        write_new_key(tmp_path / "key", bytes(32))
    assert caught.value.hint == "pip install 'pynacl<2,>=1.5'"
    assert list(tmp_path.iterdir()) == []


# -- the sidecar ---------------------------------------------------------------------------------------


def test_the_sidecar_gets_a_line_where_the_log_grew_and_none_where_it_did_not(
    log: SqliteLog, path: Path, pen: Pen
) -> None:
    sidecar = sidecar_of(path)
    for _ in range(3):
        kept = keep_checkpoint(log, sidecar, at=AT)
        assert kept == take_checkpoint(log, at=AT)
        assert keep_checkpoint(log, sidecar, at=LATER) is None
        put(log, *pen.drafts(700))
    read_back = read_kept(sidecar)
    assert [checkpoint.size for checkpoint in read_back.checkpoints] == [20, 720, 1420]
    assert kinds(log, *read_back.checkpoints) == []
    assert sidecar.stat().st_mode & 0o777 == 0o600


def test_the_next_line_costs_only_the_events_since_the_last(
    log: SqliteLog, path: Path, pen: Pen, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_checkpoint(log, sidecar_of(path), at=AT)
    put(log, *pen.drafts(3))
    asked = []
    hashes = SqliteLog.hashes

    def counted(self: SqliteLog, *, after: int = 0, upto: int | None = None) -> Iterator[bytes]:
        read_hashes = list(hashes(self, after=after, upto=upto))
        asked.append(len(read_hashes))
        return iter(read_hashes)

    monkeypatch.setattr(SqliteLog, "hashes", counted)
    keep_checkpoint(log, sidecar_of(path), at=AT)
    assert sorted(asked) == [1, 1, 3], "the last line's head, the registry's name, and what is new"


@pytest.mark.parametrize("left", [0, 1, 40, 300])
def test_a_torn_last_line_is_tolerated_told_and_makes_room(
    log: SqliteLog, path: Path, pen: Pen, left: int
) -> None:
    sidecar = sidecar_of(path)
    keep_checkpoint(log, sidecar, at=AT)
    whole = sidecar.read_bytes()
    sidecar.write_bytes(whole + whole[:left])
    kept = read_kept(sidecar)
    assert (len(kept.checkpoints), kept.problems, kept.torn) == (1, (), left > 0)
    put(log, pen.draft())
    keep_checkpoint(log, sidecar, at=LATER)
    kept = read_kept(sidecar)
    assert ([checkpoint.size for checkpoint in kept.checkpoints], kept.problems, kept.torn) == (
        [20, 21],
        (),
        False,
    )


def test_a_line_without_its_line_break_stays(log: SqliteLog, path: Path, pen: Pen) -> None:
    sidecar = sidecar_of(path)
    keep_checkpoint(log, sidecar, at=AT)
    sidecar.write_bytes(sidecar.read_bytes().rstrip(b"\n"))
    put(log, pen.draft())
    keep_checkpoint(log, sidecar, at=LATER)
    assert [checkpoint.size for checkpoint in read_kept(sidecar).checkpoints] == [20, 21]


def test_what_is_longer_than_any_line_is_not_removed(log: SqliteLog, path: Path) -> None:
    sidecar = sidecar_of(path)
    sidecar.write_bytes(b"x" * 70_000)
    keep_checkpoint(log, sidecar, at=AT)
    kept = read_kept(sidecar)
    assert ([checkpoint.size for checkpoint in kept.checkpoints], len(kept.problems)) == ([20], 1)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_bit_that_flips_in_the_sidecar_is_found_and_never_blamed_on_the_log(data: st.DataObject) -> None:
    text = SIDECAR
    at = data.draw(st.integers(0, len(text) - 1))
    bit = data.draw(st.integers(0, 7))
    kept = read_flipped(text, at, bit)
    if text[at : at + 1] == b"\n":
        assert len(kept) <= 2
    else:
        assert len(kept) == 1


def test_a_bit_that_flips_in_the_name_of_a_field_is_found() -> None:
    names = [SIDECAR.index(name) + at for name in (b'"sum"', b'"peaks"') for at in range(1, len(name) - 1)]
    kept = [len(read_flipped(SIDECAR, at, bit)) for at in names for bit in range(8)]
    assert set(kept) == {1}


def read_flipped(text: bytes, at: int, bit: int) -> list[Checkpoint]:
    from events.integrity.checkpoint_file import _read_line

    flipped = text[:at] + bytes([text[at] ^ 1 << bit]) + text[at + 1 :]
    return [read[0] for line in flipped.split(b"\n") if (read := _read_line(line))]


def make_sidecar() -> bytes:
    from events.integrity.checkpoint_file import _line
    from events.integrity.merkle import Frontier

    lines = []
    for size in (5, 6):
        frontier = Frontier()
        frontier.extend(bytes([at]) * 32 for at in range(size))
        checkpoint = Checkpoint("a" * 64, size, frontier.root().hex(), "b" * 64, AT)
        lines.append(_line(checkpoint, frontier))
    return b"".join(lines)


SIDECAR = make_sidecar()


def test_the_sum_of_a_line_is_worked_out_as_in_the_lines_that_are_kept_already() -> None:
    fields = json.loads(SIDECAR.splitlines()[0])
    checksum = fields.pop("sum")
    assert checksum == sha256(json.dumps(fields, separators=(",", ":")).encode()).hexdigest()[:16]


def test_a_line_whose_frontier_is_of_other_events_is_damage_though_its_sum_is_right(path: Path) -> None:
    """Else the next checkpoint would be counted on from a tree that never was."""
    from events.integrity.checkpoint_file import _line
    from events.integrity.merkle import Frontier

    frontier = Frontier()
    frontier.extend(bytes([at]) * 32 for at in range(5))
    sidecar_of(path).write_bytes(_line(Checkpoint("a" * 64, 5, "d" * 64, "b" * 64, AT), frontier))
    (problem,) = (read_sidecar(sidecar_of(path)) or StoredCheckpoints(())).problems
    assert problem.kind == "checkpoint"


def test_a_sidecar_of_which_nothing_can_be_read_is_a_finding_and_one_torn_at_once_is_none(path: Path) -> None:
    sidecar_of(path).write_bytes(b"noise\n")
    (problem,) = (read_sidecar(sidecar_of(path)) or StoredCheckpoints(())).problems
    assert problem.kind == "checkpoint"
    sidecar_of(path).write_bytes(SIDECAR[:50])
    assert read_sidecar(sidecar_of(path)) == StoredCheckpoints((), torn=True)
    sidecar_of(path).unlink()
    assert read_sidecar(sidecar_of(path)) is None


def test_damage_inside_the_sidecar_is_named_by_its_line(log: SqliteLog, path: Path, pen: Pen) -> None:
    sidecar = sidecar_of(path)
    for _ in range(3):
        keep_checkpoint(log, sidecar, at=AT)
        put(log, pen.draft())
    lines = sidecar.read_bytes().splitlines(keepends=True)
    sidecar.write_bytes(lines[0] + lines[1].replace(b'"size":21', b'"size":22') + lines[2])
    kept = read_kept(sidecar)
    assert [checkpoint.size for checkpoint in kept.checkpoints] == [20, 22]
    (problem,) = kept.problems
    assert (problem.kind, "line 2 of" in problem.what) == ("checkpoint", True)


def test_after_a_cut_the_sidecar_goes_on_and_forgets_nothing(log: SqliteLog, path: Path) -> None:
    keep_checkpoint(log, sidecar_of(path), at=AT)
    cut_tail(path, after=10)
    with closing(SqliteLog.open(path)) as other:
        put(other, *Pen("other").drafts(2))
        keep_checkpoint(other, sidecar_of(path), at=LATER)
        put(other, *Pen("another").drafts(20))
        keep_checkpoint(other, sidecar_of(path), at=LATER)
        kept = read_kept(sidecar_of(path)).checkpoints
        assert [checkpoint.size for checkpoint in kept] == [20, 12, 32]
        assert kinds(other, *kept) == [("forked", 20)]
        assert kinds(other, *kept[1:]) == []


def test_a_sidecar_that_cannot_be_written_says_that_the_events_are_kept(log: SqliteLog, path: Path) -> None:
    sidecar_of(path).mkdir()
    with pytest.raises(StorageError, match="the events are kept"):
        keep_checkpoint(log, sidecar_of(path), at=AT)


def test_a_sidecar_that_another_process_stays_in_is_given_up_and_the_events_are_kept(
    log: SqliteLog, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("events.integrity.checkpoint_file._PATIENCE_S", 0.0)
    sidecar = sidecar_of(path)
    keep_checkpoint(log, sidecar, at=AT)
    before = sidecar.read_bytes()
    with sidecar.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(StorageError, match="another process stays in"):
            keep_checkpoint(log, sidecar, at=AT)
    assert sidecar.read_bytes() == before


def test_a_full_disk_leaves_the_sidecar_as_it_was(
    log: SqliteLog, path: Path, pen: Pen, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_checkpoint(log, sidecar_of(path), at=AT)
    before = sidecar_of(path).read_bytes()
    put(log, pen.draft())

    def full(_file: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(StorageError, match="No space"):
            keep_checkpoint(log, sidecar_of(path), at=AT)
    assert sidecar_of(path).read_bytes() == before


def test_a_file_without_any_checkpoint_is_refused(tmp_path: Path) -> None:
    for text in ("", "{}", "[" * 100_000 + "\n", '{"schema": "germline/checkpoint/1"}\n'):
        (tmp_path / "file").write_text(text)
        with pytest.raises(UsageError, match="no checkpoint"):
            read_kept(tmp_path / "file")
    with pytest.raises(NotFoundError):
        read_kept(tmp_path / "none")


# -- proofs --------------------------------------------------------------------------------------------


def test_a_proof_holds_without_the_log_until_anything_in_it_changes(log: SqliteLog) -> None:
    taken = take_checkpoint(log, at=AT)
    envelope = log.at([7])[0]
    fields = Proof(taken, envelope, prove_events(log, [7], taken)[7]).fields()
    assert check_proof(read_proof(json.loads(json.dumps(fields))), [taken]) == []
    event = fields["event"]
    for name, value in event.items():
        other = value + 1 if isinstance(value, int) else f"0{value[1:]}" if value[:1] != "0" else f"1{value[1:]}"
        problems = check_proof(read_proof({**fields, "event": {**event, name: other}}), [taken])
        assert [problem.kind for problem in problems] == ["event"], name
    proof = [("0" if step[0] != "0" else "1") + step[1:] for step in fields["proof"]]
    assert check_proof(read_proof({**fields, "proof": proof}), [taken])
    assert check_proof(read_proof({**fields, "proof": proof[1:]}), [taken])


def test_a_proof_against_a_checkpoint_that_nobody_kept_is_named(log: SqliteLog) -> None:
    taken = take_checkpoint(log, at=AT)
    proof = Proof(taken, log.at([7])[0], prove_events(log, [7], taken)[7])
    assert check_proof(proof, []) == [], "it agrees with itself"
    (problem,) = check_proof(proof, [at_size(log, 19)])
    assert problem.kind == "checkpoint"


def test_growth_is_proven_without_either_log(log: SqliteLog, pen: Pen) -> None:
    earlier = at_size(log, 13)
    put(log, *pen.drafts(30))
    later = take_checkpoint(log, at=LATER)
    fields = Proof(later, growth=prove_growth(log, earlier, later)).fields()
    proof = read_proof(json.loads(json.dumps(fields)))
    assert check_proof(proof, [earlier]) == []
    assert [problem.kind for problem in check_proof(proof, [at_size(log, 14)])] == ["registry"]
    assert proof.growth is not None
    forged = replace(proof, growth=replace(proof.growth, root="0" * 64))
    assert {problem.kind for problem in check_proof(forged, [earlier])} == {"forked", "registry"}


def test_an_event_behind_the_checkpoint_has_no_proof(log: SqliteLog) -> None:
    with pytest.raises(NotFoundError, match="came after"):
        prove_events(log, [3, 20], at_size(log, 19))
    with pytest.raises(CorruptLogError):
        prove_events(log, [3], replace(at_size(log, 20), size=21))


@pytest.mark.parametrize(
    "fields",
    [
        {"schema": "germline/checkpoint/1"},
        {"checkpoint": {}},
        {"event": []},
        {"event": {"position": 7}},
        {"proof": "abc"},
        {"proof": ["zz"]},
        {"proof": [None]},
        {"since": {"size": -1, "root": "0" * 64, "proof": []}},
        {"since": {"size": 1, "root": None, "proof": []}},
    ],
)
def test_what_is_no_proof_is_refused(log: SqliteLog, fields: dict[str, object]) -> None:
    taken = take_checkpoint(log, at=AT)
    sound = Proof(taken, log.at([7])[0], prove_events(log, [7], taken)[7]).fields()
    with pytest.raises(UsageError):
        read_proof({**sound, **fields})
