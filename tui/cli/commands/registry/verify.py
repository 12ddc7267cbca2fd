"""Verification: does the registry hold what it promises, and what was once seen of it?"""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.errors import CheckFailedError, CorruptLogError, UsageError
from events.integrity.sidecar import sidecar_of
from events.store.protocol import Head, Integrity, Problem
from tui.cli.output.facts import say_folded
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson
from tui.documents.checkpoints import ComparedFile, ProblemRow, VerifyDocument
from tui.session.open_registry import beside_of, find_registry, open_log, tell_wait
from tui.text.numbers import count

if TYPE_CHECKING:
    from events.integrity.checkpoint_file import StoredCheckpoints
    from events.store.sql_log import EventLog
    from tui.cli.output.invocation import Invocation
    from tui.session.open_registry import Where

_Against = Annotated[
    Path | None, typer.Option("--against", metavar="FILE", help="Compare with checkpoints kept in a file.")
]
_Key = Annotated[
    str, typer.Option("--key", metavar="PUBLIC", help="The public key that must have signed, or its file.")
]
_Event = Annotated[str, typer.Option("--event", metavar="ID", help="Prove that an event is in the log.")]
_Proof = Annotated[
    Path | None, typer.Option("--proof", metavar="FILE", help="Check such a proof; needs no registry.")
]
_Attestation = Annotated[
    Path | None, typer.Option("--attestation", metavar="FILE", help="Check an attestation; needs no registry.")
]
_Files = Annotated[
    Path | None, typer.Option("--files", metavar="DIR", help="The skill's folder, to compare with an attestation.")
]


def verify(  # noqa: PLR0913 - the options of the command are its contract
    ctx: typer.Context,
    *,
    against: _Against = None,
    key: _Key = "",
    event: _Event = "",
    proof: _Proof = None,
    attestation: _Attestation = None,
    files: _Files = None,
    as_json: AsJson = False,
) -> None:
    """Check every event, link and stored content of the registry.

    What is kept of the folded events is compared with a fold of them. Ends with exit code 3 where anything does
    not hold, and names the position. What was kept of it in the sidecar beside it is compared too; --against names
    checkpoints that were kept elsewhere.
    """
    call = invocation(ctx)
    _require_sense(event, proof, attestation, files, key, against)
    if not (event or proof or attestation):
        _verify_log(call, against, key, as_json=as_json)
        return
    from tui.cli.commands.registry import verify_proof  # noqa: PLC0415 - for those who ask for proofs

    if event:
        verify_proof.prove(call, event, against, as_json=as_json)
    elif proof:
        verify_proof.check(call, proof, against, key, as_json=as_json)
    elif attestation:
        verify_proof.check_attested(call, attestation, verify_proof.Means(against, key, files), as_json=as_json)


def _require_sense(
    event: str, proof: Path | None, attestation: Path | None, files: Path | None, key: str, against: Path | None
) -> None:
    if sum(map(bool, (event, proof, attestation))) > 1:
        raise UsageError("--event, --proof and --attestation are three questions", hint="ask one at a time")
    if files and not attestation:
        raise UsageError("--files is compared with an attestation", hint="germline verify --attestation FILE")
    if key and not (against or proof or attestation):
        raise UsageError("--key checks what somebody signed", hint="germline verify --against FILE --key PUBLIC")


@dataclass(frozen=True, slots=True)
class _Compared:
    """A file of checkpoints, and where the log contradicts it; `key` is the id of the one that signed all."""

    file: Path
    kept: StoredCheckpoints
    problems: tuple[Problem, ...]
    key: str = ""

    def row(self) -> ComparedFile:
        """Describe it for scripts."""
        checkpoints = self.kept.checkpoints
        return ComparedFile(
            file=str(self.file),
            ok=not self.problems,
            checkpoints=len(checkpoints),
            newest=max((checkpoint.size for checkpoint in checkpoints), default=0),
            torn=self.kept.torn,
            key=self.key or None,
        )


def _verify_log(call: Invocation, against: Path | None, key: str, *, as_json: bool) -> None:
    path = find_registry(call.registry)
    integrity, beside, elsewhere = verified(path, against, key)
    compared = [comparison for comparison in (beside, elsewhere) if comparison]
    problems = problems_of(integrity, *compared)
    if as_json:
        document = VerifyDocument(
            ok=not problems,
            events=integrity.events,
            head=integrity.head.hash,
            problems=tuple(map(ProblemRow.model_validate, problems)),
            sidecar=beside.row() if beside else None,
            against=elsewhere.row() if elsewhere else None,
        )
        call.answer(document)
        if problems:
            raise typer.Exit(CheckFailedError.exit_code)
        return
    for problem in problems:
        where = f"event {problem.position}" if problem.position else "registry"
        call.say(f"{call.paint('✗', 'bad')} {where:<12} {problem.what}")
    if problems:
        raise CheckFailedError(
            f"{path} does not hold what it promises: {count(len(problems), 'problem')}",
            hint=_hint(str(path), integrity, beside),
        )
    call.say(
        f"{call.paint('✓', 'good')} {count(integrity.events, 'event')}, unbroken up to {integrity.head.hash[:16]}"
    )
    for comparison in compared:
        _tell(call, comparison)
    if not compared:
        call.note("note       no checkpoint was kept: events cut off at the end would not show")


def problems_of(integrity: Integrity, *compared: _Compared | None) -> tuple[Problem, ...]:
    """List what does not hold, in the registry itself and beside what was kept of it, each once."""
    beside = (problem for comparison in compared if comparison for problem in comparison.problems)
    return tuple(dict.fromkeys((*integrity.problems, *beside)))


def verified(path: Where, against: Path | None, key: str) -> tuple[Integrity, _Compared | None, _Compared | None]:
    """Verify; a file that cannot even be opened as a registry is one problem.

    Checkpoints are read before the log: one that is kept meanwhile would name events that are not seen yet.
    """
    from events.integrity.checkpoint_file import read_kept, read_sidecar  # noqa: PLC0415 - for the one command that verifies
    from registry.projection.document_check import document_problems  # noqa: PLC0415 - the same

    sidecar = sidecar_of(beside_of(path))
    beside = read_sidecar(sidecar)
    elsewhere = read_kept(against.expanduser()) if against else None
    try:
        log = open_log(path, read_only=True)
    except CorruptLogError as error:
        return Integrity(0, Head(0, ""), (Problem(error.position, error.message),)), None, None
    try:
        integrity = log.verify()
        if not integrity.problems:
            tell_wait(log, "what is kept beside the events is compared with them")
            integrity = integrity._replace(problems=tuple(document_problems(log)))
        return (
            integrity,
            _compare(log, sidecar, beside) if beside else None,
            _compare(log, against, elsewhere, key, roots=True) if against and elsewhere else None,
        )
    finally:
        log.close()


def _compare(
    log: EventLog, file: Path, kept: StoredCheckpoints, key: str = "", *, roots: bool = False
) -> _Compared:
    """Compare a log with the checkpoints of a file, and these with the key that must have signed them."""
    from events.integrity.checkpoint import check_against, check_signatures  # noqa: PLC0415 - as above

    problems = [*kept.problems]
    signer = ""
    if key:
        from events.integrity.signatures import read_public_key  # noqa: PLC0415 - for those who sign

        public = read_public_key(key, Path(key).expanduser())
        signer = public.id
        problems += check_signatures(kept.checkpoints, public)
    return _Compared(file, kept, (*problems, *check_against(log, kept.checkpoints, roots=roots)), signer)


def _tell(call: Invocation, comparison: _Compared) -> None:
    """Say what was compared, and what of it was left out."""
    checkpoints = comparison.kept.checkpoints
    if checkpoints:
        newest = max(checkpoints, key=lambda checkpoint: checkpoint.size)
        many = count(len(checkpoints), "checkpoint")
        last = f"{'the last ' if len(checkpoints) > 1 else ''}of {count(newest.size, 'event')}, {newest.at}"
        signed = f", signed by key {comparison.key}" if comparison.key else ""
        say_folded(call, "✓ ", f"{many} in {comparison.file.name}, {last}{signed}", tone="good")
        if not comparison.key and any(checkpoint.signature for checkpoint in checkpoints):
            call.note("note       a signature was not checked: --key PUBLIC")
    if comparison.kept.torn:
        call.note(f"note       the last line of {comparison.file} is torn, as a crash leaves it, and was left out")


def _hint(path: str, integrity: Integrity, beside: _Compared | None) -> str:
    """Say what to do; where only the sidecar contradicts the log, it may be an older copy put back on purpose."""
    from registry.projection.document_check import KIND, refold  # noqa: PLC0415 - as above

    if integrity.problems and all(problem.kind == KIND for problem in integrity.problems):
        return refold(path)
    if beside and beside.problems and not integrity.problems:
        aside = f"mv {beside.file} {beside.file}.old"
        return f"go back to a copy that verifies: germline restore FILE; to go on from what is there: {aside}"
    return "germline doctor --repair --dry-run   or   germline restore FILE"


COMMANDS: Final = {"verify": verify}
