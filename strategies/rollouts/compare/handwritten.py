"""Candidates that a person or another tool wrote: a skill rewritten, as edits of the live version, or new."""

from __future__ import annotations

from typing import TYPE_CHECKING

from events.errors import CheckFailedError, RefusedError
from events.types.candidate_events import BY_HAND, CandidateProposed
from events.types.parts import NewSection, NewSkill
from registry.actions.publish import keep_files
from registry.decide.adopt import rewrite_of
from registry.decide.commands import Propose
from registry.decide.promote import require_birth
from registry.skill_md.folder import SkillFile, SkillFolder, decode, read_skill
from registry.skill_md.front_matter import read_front
from registry.skill_md.navigation_index import reindexed
from registry.skill_md.render import skill_text
from registry.skill_md.skill_files import MAX_SKILL_BYTES, SKILL_FILE, walk
from registry.skill_md.text import cut
from registry.state.capsule import unborn
from strategies.files.whole_file import read_up_to
from strategies.gate.file_findings import file_changes
from strategies.gate.lint import findings_on, limits_of, lint
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


def propose_rewrite(  # noqa: PLR0913 - all that a proposal says of itself
    registry: Registry,
    skill: str,
    rewritten: Path | SkillFolder,
    *,
    reason: str,
    strategy: Strategy,
    preset: Preset,
    tags: tuple[str, ...] = (),
    proposer: str = BY_HAND,
) -> Receipt:
    """Propose what a rewritten SKILL.md, or a rewritten copy of the whole folder, makes of a skill.

    `rewritten` is where it lies, or the copy itself. It carries no claim, so runs of an agent or a person decide
    on it; on the tasks with its `tags` first.
    Raises: RefusedError where nothing differs, the base is stale, or something differs that no candidate changes;
    EditError for a protected line; CheckFailedError where lint refuses its text; ConflictError where the same was
    proposed before, with these tags or already measured. Nothing is written then.
    """
    capsule = registry.capsule(skill)
    copy = rewritten if isinstance(rewritten, SkillFolder) else _read(capsule, rewritten)
    edits, files, born = rewrite_of(capsule, copy)
    limits = limits_of(preset, proposer)
    unkept = {file.entry.blob: file.content for file in copy.files}
    changes = file_changes(registry.log, capsule, files, unkept=unkept)
    findings = lint(capsule, edits, limits, born=born, files=changes)
    refused = [finding.what for finding in findings if finding.severity == "refuse"]
    if refused:
        raise CheckFailedError(
            f"{copy.source} is refused under preset {preset.name}: {'; '.join(refused)}",
            hint="propose it in smaller steps, or see germline preset list",
        )
    plain = _by_hand(capsule.name, capsule.version, reason=reason, strategy=strategy, preset=preset)
    changed = {"edits": edits, "files": files, "born": born, "tags": tags}
    proposed = plain.model_copy(update={**changed, "proposer": proposer, "fingerprint": proposer})
    proposed = proposed.model_copy(update={"candidate": _candidate_id(registry, capsule, proposed)})
    with registry.log.transaction():
        if files:
            keep_files(registry.log, copy)
        return registry.execute(Propose(proposed))


def propose_draft(
    registry: Registry, skill: str, path: Path, folder: str, *, reason: str, strategy: Strategy, preset: Preset
) -> Receipt:
    """Propose a skill that the registry does not hold yet, to be written below `folder` once it passes.

    Nothing is projected before runs or a person let it through. Its text is one SKILL.md.
    Raises: NotFoundError where the file names another skill, for then the name is mistyped; RefusedError for a
    folder with other files; SkillFormatError where it is no valid skill; CheckFailedError where lint refuses it;
    ConflictError for what was proposed before.
    """
    if not path.exists():
        registry.capsule(skill)  # which says what names there are
    pieces = cut(_text_in(path / SKILL_FILE if path.is_dir() else path)[0])
    named = next((entry.value for entry in read_front(pieces.front[1:-1], 2).entries if entry.key == "name"), "")
    if named != skill:
        registry.capsule(skill)
    if path.is_dir() and [file for file in walk(path) if file.path != SKILL_FILE]:
        raise RefusedError(
            f"{path} holds more than SKILL.md, and a draft is one text",
            hint=f"germline candidate propose {skill} --from {path / SKILL_FILE} --reason TEXT",
        )
    sections = tuple(NewSection(title=section.title, lines=section.lines) for section in pieces.sections)
    drafted = NewSkill(source=f"{folder}/{skill}", front=pieces.front, sections=sections)
    require_birth(skill, drafted)
    proposed = _by_hand(skill, 0, reason=reason, strategy=strategy, preset=preset).model_copy(
        update={"skill": drafted}
    )
    base = unborn(skill, drafted)
    findings = findings_on(base, proposed, limits_of(preset))
    if refused := [finding.what for finding in findings if finding.severity == "refuse"]:
        raise CheckFailedError(
            f"{path} cannot be a skill: {'; '.join(refused)}", hint="mend it, and propose it again"
        )
    proposed = proposed.model_copy(update={"candidate": rollout_candidate_id(base, proposed, "")})
    return registry.execute(Propose(proposed))


def _by_hand(skill: str, version: int, *, reason: str, strategy: Strategy, preset: Preset) -> CandidateProposed:
    """Give what a person proposes before it says what changes: no claim, no signal, no evaluator."""
    return CandidateProposed(
        candidate="",
        capsule=skill,
        base_version=version,
        strategy=strategy,
        preset=preset.name,
        proposer=BY_HAND,
        fingerprint=BY_HAND,
        edits=(),
        claims=(),
        triggers=(),
        reason=reason,
        evaluator="",
    )


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
    return _of_text(capsule, path, *_text_in(path))


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


def _text_in(path: Path) -> tuple[str, Encoding]:
    """Read a SKILL.md that a person wrote, and how it is encoded."""
    raw = read_up_to(path, MAX_SKILL_BYTES, hint="name a rewritten SKILL.md, or its folder")
    if len(raw) > MAX_SKILL_BYTES:
        raise RefusedError(
            f"{path} is larger than {MAX_SKILL_BYTES:,} bytes", hint="keep large material beside it"
        )
    return decode(raw, path)
