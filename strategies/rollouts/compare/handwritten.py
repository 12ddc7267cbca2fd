"""Candidates that a person or another tool wrote: a rewritten skill, as edits of the live version."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.errors import CheckFailedError, NotFoundError, RefusedError, StorageError
from events.types.candidate_events import CandidateProposed
from registry.actions.publish import keep_files
from registry.decide.adopt import rewrite_of
from registry.decide.commands import Propose
from registry.skill_md.folder import SkillFile, SkillFolder, decode, read_skill
from registry.skill_md.navigation_index import reindexed
from registry.skill_md.render import skill_text
from registry.skill_md.skill_files import MAX_SKILL_BYTES
from registry.skill_md.text import cut
from strategies.gate.file_findings import file_changes
from strategies.gate.lint import limits_of, lint
from strategies.interchange.proposed_texts import proposed_text
from strategies.policy.canonical_json import digest
from strategies.rollouts.compare.settle import rollout_candidate_id

if TYPE_CHECKING:
    from pathlib import Path

    from events.store.protocol import Receipt
    from events.types.parts import Strategy
    from registry.registry import Registry
    from registry.skill_md.folder import Encoding
    from registry.state.capsule import Capsule
    from strategies.policy.presets import Preset

BY_HAND: Final = "by-hand"
"""The proposer, and the fingerprint, of what a person wrote: it answers no signal."""


def propose_rewrite(  # noqa: PLR0913 - all that a proposal says of itself
    registry: Registry,
    skill: str,
    path: Path,
    *,
    reason: str,
    strategy: Strategy,
    preset: Preset,
    tags: tuple[str, ...] = (),
    proposer: str = BY_HAND,
) -> Receipt:
    """Propose what a rewritten SKILL.md, or a rewritten copy of the whole folder, makes of a skill.

    It carries no claim, so runs of an agent or a person decide on it; on the tasks with its `tags` first.
    Raises: RefusedError where nothing differs, the base is stale, or something differs that no candidate changes;
    EditError for a protected line; CheckFailedError where lint refuses its text; ConflictError where the same was
    proposed before, with these tags or already measured. Nothing is written then.
    """
    capsule = registry.capsule(skill)
    rewritten = _read(capsule, path)
    edits, files, born = rewrite_of(capsule, rewritten)
    limits = limits_of(preset)
    unkept = {file.entry.blob: file.content for file in rewritten.files}
    changes = file_changes(registry.log, capsule, files, unkept=unkept)
    findings = lint(capsule, edits, limits, born=born, files=changes)
    refused = [finding.what for finding in findings if finding.severity == "refuse"]
    if refused:
        raise CheckFailedError(
            f"{path} is refused under preset {preset.name}: {'; '.join(refused)}",
            hint="propose it in smaller steps, or see germline preset list",
        )
    proposed = CandidateProposed(
        candidate="",
        capsule=capsule.name,
        base_version=capsule.version,
        strategy=strategy,
        preset=preset.name,
        proposer=proposer,
        fingerprint=proposer,
        edits=edits,
        claims=(),
        triggers=(),
        reason=reason,
        evaluator="",
        files=files,
        born=born,
        tags=tags,
    )
    proposed = proposed.model_copy(update={"candidate": _candidate_id(registry, capsule, proposed)})
    with registry.log.transaction():
        if files:
            keep_files(registry.log, rewritten)
        return registry.execute(Propose(proposed))


def _candidate_id(registry: Registry, capsule: Capsule, proposed: CandidateProposed) -> str:
    """Name a proposal by what it changes, and also by its tags where it corrects those of one not measured yet.

    What was measured keeps its name whatever the tags: it is not tried again under another one.
    """
    name = rollout_candidate_id(capsule, proposed, "")
    known = registry.candidate(name)
    if known is None or known.verdict or known.scored or set(known.proposed.tags) == set(proposed.tags):
        return name
    return digest([name, *sorted(proposed.tags)])


def _read(capsule: Capsule, path: Path) -> SkillFolder:
    """Read what a person or another tool rewrote; a lone SKILL.md leaves the files beside it as they are."""
    proposed = proposed_text(path, capsule.name, skill_text(capsule))
    if proposed is not None:
        return _of_text(capsule, path, *decode(proposed.encode(), path))
    if path.is_dir():
        skill = read_skill(path)
        if skill.name != capsule.name:
            raise RefusedError(
                f"{path} names itself {skill.name}, not {capsule.name}",
                hint=f"germline candidate propose {skill.name} --from {path} --reason TEXT",
            )
        return reindexed(skill, (file.entry for file in capsule.files))
    try:
        with path.open("rb") as stream:
            raw = stream.read(MAX_SKILL_BYTES + 1)
    except FileNotFoundError:
        raise NotFoundError(f"there is no file {path}", hint="name a rewritten SKILL.md, or its folder") from None
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}", hint="check its permissions") from error
    if len(raw) > MAX_SKILL_BYTES:
        raise RefusedError(
            f"{path} is larger than {MAX_SKILL_BYTES:,} bytes", hint="keep large material beside it"
        )
    return _of_text(capsule, path, *decode(raw, path))


def _of_text(capsule: Capsule, path: Path, text: str, encoding: Encoding) -> SkillFolder:
    pieces = cut(text)
    return SkillFolder(
        name=capsule.name,
        source=str(path),
        encoding=encoding,
        mode=capsule.mode,
        front=pieces.front,
        sections=pieces.sections,
        files=tuple(SkillFile(file.entry, b"") for file in capsule.files),
        warnings=(),
    )
