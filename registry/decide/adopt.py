"""Adoption: the edits that a person made to the projected files, as events with before and after."""

from __future__ import annotations

from dataclasses import replace
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final, NamedTuple

from events.errors import RefusedError, SkillFormatError
from events.types.capsule_events import (
    MERGED,
    CapsuleDescribed,
    CapsuleVersioned,
    FileChanged,
    HandEditAdopted,
)
from events.types.gene_events import GeneBorn, GeneMoved, GeneMutated, GeneRetired
from events.types.parts import FileEdit, NewGene, Pin
from events.types.score import Unmeasured
from registry.skill_md.navigation_index import has_index
from registry.skill_md.render import encoding_of, label, skill_text, stamped_version
from registry.skill_md.rules import require_valid
from registry.skill_md.skill_files import main_file
from registry.skill_md.text import stamp
from registry.state.edits import align, check_protected
from registry.state.line_claims import lost_claims

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.types.frozen import Frozen
    from events.types.parts import Edit
    from events.types.score import Measured
    from registry.skill_md.folder import SkillFolder
    from registry.skill_md.text import Section
    from registry.state.capsule import Capsule
    from registry.state.gene import Gene

_SHOWN_CHARS: Final = 12
_SHOWN_SESSIONS: Final = 3
_BY_HAND: Final = Unmeasured(reason="edited by hand: nothing measured yet")
_INDEXED: Final = Unmeasured(reason="another navigation index: nothing measured yet")


def adopt(
    capsule: Capsule, skill: SkillFolder, *, keep_claims: bool, sessions: Sequence[str] = ()
) -> list[Frozen]:
    """List the events that make the capsule say what the files on disk say.

    Sections are matched by title, lines inside them by patience diff. A changed line that
    carries a claim drops it, unless `keep_claims`; a removed one always does. The summary of the version names the
    `sessions` that wrote the edit.

    Raises: RefusedError where nothing differs, or another version than the live one was edited;
    SkillFormatError where the edited skill is not valid; EditError where a protected line was edited.
    """
    _require_live_base(capsule, skill)
    described: list[Frozen] = []
    genes: list[Frozen] = []
    pins = tuple(Pin(gene=gene.id, version=gene.version) for gene in capsule.genes)
    files = _file_changes(capsule, skill)
    in_body = (skill.text, skill.encoding) != (skill_text(capsule), encoding_of(capsule))
    if in_body:
        described = _front_changes(capsule, skill.front)
        genes, pins = _gene_changes(capsule, skill.sections, keep_claims=keep_claims)
    elif not files:
        raise _nothing_to_adopt(capsule, skill)
    paths = (*((main_file(capsule.name),) if in_body else ()), *(change.path for change in files))
    cause = _cause(capsule)
    _require_projectable(capsule, skill)
    adopted = HandEditAdopted(
        **cause,
        capsule=capsule.name,
        base_version=capsule.version,
        files=paths,
        dropped_claims=sum(_dropped(change) for change in genes),
    )
    version = CapsuleVersioned(
        **cause,
        capsule=capsule.name,
        version=capsule.version + 1,
        genes=pins,
        cause="adoption",
        summary=f"hand edit of {', '.join(paths)}{_written_by(sessions)}",
        stamped=not capsule.is_instructions,
    )
    return [adopted, *described, *genes, *files, version]


def _written_by(sessions: Sequence[str]) -> str:
    """Name the sessions that wrote an edit; the first ones, where there are many."""
    if not sessions:
        return ""
    named = ", ".join(session[:_SHOWN_CHARS] for session in sessions[:_SHOWN_SESSIONS])
    more = f" and {len(sessions) - _SHOWN_SESSIONS} more" if sessions[_SHOWN_SESSIONS:] else ""
    return f", written by session{'s' if sessions[1:] else ''} {named}{more}"


def reindex(capsule: Capsule, skill: SkillFolder) -> list[Frozen]:
    """List the events that put another navigation index into a skill, or take it out; `skill` is the live version.

    No claim is dropped: its lines stay. Raises: as `adopt`.
    """
    summary = "navigation index" if has_index(skill.text) else "no navigation index"
    return _overridden(adopt(capsule, skill, keep_claims=True), _INDEXED, summary)


def merge(capsule: Capsule, skill: SkillFolder, summary: str) -> list[Frozen]:
    """List the events that make a skill say what a version of another registry says; raises as `adopt`."""
    return _overridden(adopt(capsule, skill, keep_claims=False), MERGED, summary)


def _overridden(adopted: list[Frozen], after: Measured, summary: str) -> list[Frozen]:
    """Turn the events of a hand edit into those of another change that nobody measured yet."""
    _, *changes, version = adopted
    return [
        *(change.model_copy(update={"after": after}) for change in changes),
        version.model_copy(update={"after": after, "cause": "override", "summary": summary}),
    ]


def _cause(capsule: Capsule) -> dict[str, Measured]:
    """Give what every event of an adoption carries: what was measured before, and that nothing is yet."""
    return {"before": capsule.score, "after": _BY_HAND}


class Rewrite(NamedTuple):
    """What a person's rewritten copy of a skill makes of the live version, as a candidate holds it."""

    edits: tuple[Edit, ...]
    files: tuple[FileEdit, ...]
    born: NewGene | None


def rewrite_of(capsule: Capsule, skill: SkillFolder) -> Rewrite:
    """Derive what makes the live version say what a rewritten copy of it says.

    Raises: RefusedError where nothing differs, the copy is of another version, or something differs that no
    candidate changes; EditError where a protected line differs.
    """
    copied = stamped_version("".join(skill.front), capsule.name)
    imported = stamped_version("".join(line.text for line in capsule.front), capsule.name)
    of_live = {None, capsule.version} if capsule.stamped else {None, capsule.version, imported}
    if copied not in of_live:  # until it is stamped here, what was exported elsewhere keeps its own stamp
        raise RefusedError(
            f"stale base: version {copied} of {capsule.name} was rewritten, version {capsule.version} is live",
            hint=f"germline show {capsule.name}, and make the change again",
        )
    changes, _ = _gene_changes(capsule, skill.sections, keep_claims=False)
    edits = [
        edit
        for change in changes
        if isinstance(change, GeneMutated) and change.title is None
        for edit in change.edits
    ]
    births = [change for change in changes if isinstance(change, GeneBorn) and change.after_gene]
    kept = [change for change in changes if not isinstance(change, GeneMutated) or change.title is not None]
    front = skill.front if copied is None else _unstamped(capsule, skill.front)
    if kept != births[:1] or front != tuple(line.text for line in capsule.front):
        what = "front matter differs" if kept == births[:1] else "other sections came, went or moved"
        raise RefusedError(
            "a candidate changes lines of sections, brings at most one section, and changes files beside; of "
            f"{capsule.name} {what}",
            hint=f"make that change in {capsule.source}, then germline adopt {capsule.name}",
        )
    files = tuple(
        FileEdit(path=file_change.path, entry=file_change.entry) for file_change in _file_changes(capsule, skill)
    )
    if not edits and not files and not births:
        raise RefusedError(f"the copy says what {capsule.name}@{capsule.version} says: nothing to propose")
    return Rewrite(tuple(edits), files, _new_gene(births[0]) if births else None)


def _new_gene(birth: GeneBorn) -> NewGene:
    return NewGene(gene=birth.gene, title=birth.title, lines=birth.lines, after_gene=birth.after_gene or "")


def _require_live_base(capsule: Capsule, skill: SkillFolder) -> None:
    """Refuse edits of an earlier version: taking them in would undo what came since.

    From version 2 on the stamp tells; without it there is no telling.
    """
    if not capsule.stamped:
        return
    edited = stamped_version("".join(skill.front), capsule.name)
    if edited is None or not stamp(skill.front, label(capsule)).replaces:
        raise RefusedError(
            f"the germline stamp of {capsule.name} is gone, which tells the version that was edited",
            hint=f'was it {label(capsule)}? then write `germline: "{label(capsule)}"` below `metadata:` again; '
            f"else set your edit aside, run `germline project {capsule.name} --discard`, and edit again",
        )
    if edited != capsule.version:
        raise RefusedError(
            f"version {edited} of {capsule.name} was edited, but version {capsule.version} is live",
            hint=f"set your edit aside, run `germline project {capsule.name} --discard`, and edit again",
        )


def _front_changes(capsule: Capsule, front: tuple[str, ...]) -> list[Frozen]:
    edits = align(capsule.front, _unstamped(capsule, front), "")
    return [CapsuleDescribed(**_cause(capsule), capsule=capsule.name, edits=edits)] if edits else []


def _unstamped(capsule: Capsule, front: tuple[str, ...]) -> tuple[str, ...]:
    """Take the stamp out of edited front matter, and put back what it replaced."""
    if not capsule.stamped:
        return front
    imported = tuple(line.text for line in capsule.front)
    own, there = stamp(imported, label(capsule)), stamp(front, label(capsule))
    above, below = front[: there.at], front[there.at + there.replaces :]
    if above[-1:] == own.lines[:-1] and not below[0][0].isspace():
        above = above[:-1]  # the stamp had brought `metadata:` with it, and nothing else moved in
    return above + imported[own.at : own.at + own.replaces] + below


def _nothing_to_adopt(capsule: Capsule, skill: SkillFolder) -> RefusedError:
    if skill.mode != capsule.mode:
        return RefusedError(
            f"only the permissions of {main_file(capsule.name)} differ, which are never adopted",
            hint=f"germline project {capsule.name} --discard",
        )
    return RefusedError(f"the files of {capsule.name} are as projected: nothing to adopt", hint="germline status")


def _require_projectable(capsule: Capsule, skill: SkillFolder) -> None:
    """Refuse what could not be written out again: a skill with the new version's stamp, others as read."""
    if capsule.is_instructions:
        if skill.encoding != capsule.encoding:
            had = "had a byte order mark" if capsule.encoding == "utf-8-sig" else "had no byte order mark"
            raise SkillFormatError(
                f"{capsule.name} {had} when it was imported, which no later version changes",
                rule="encoding",
                hint=f"save it as it was, then: germline adopt {capsule.name}",
            )
        return
    place = stamp(skill.front, f"{capsule.name}@{capsule.version + 1}")
    front = skill.front[: place.at] + place.lines + skill.front[place.at + place.replaces :]
    require_valid(replace(skill, front=front).text, capsule.name, encoding=skill.encoding)


def _gene_changes(
    capsule: Capsule, sections: tuple[Section, ...], *, keep_claims: bool
) -> tuple[list[Frozen], tuple[Pin, ...]]:
    """List what happened to the genes, and the genes that there are afterwards, in their order."""
    matched, stayed = _matched(capsule.genes, sections)
    kept = {gene.id for gene in matched.values()}
    changes: list[Frozen] = [_retired(capsule, gene) for gene in capsule.genes if gene.id not in kept]
    pins: list[Pin] = []
    known = len(capsule.genes) + len(capsule.gone)
    for at, section in enumerate(sections):
        after = pins[-1].gene if pins else None
        gene = matched.get(at)
        if gene is None:
            known += 1
            name, version = f"{capsule.name}.{known}", 1
            changes.append(_born(capsule, name, section, after))
        else:
            edits = align(gene.lines, section.lines, gene.id)
            name, version = gene.id, gene.version + bool(edits)
            if edits:
                changes.append(_mutated(capsule, gene, section.title, edits, keep_claims=keep_claims))
        if at not in stayed and (gene is not None or after is None):
            changes.append(_moved(capsule, name, after))
        pins.append(Pin(gene=name, version=version))
    return changes, tuple(pins)


def _matched(genes: Sequence[Gene], sections: Sequence[Section]) -> tuple[dict[int, Gene], set[int]]:
    """Find the gene that each section was, by the section's place, and the places whose gene did not move.

    Equal titles in order come first, then equal titles wherever they went, then renamed ones: where a run of
    titles became another, they pair up in order as far as they reach.
    """
    matcher = SequenceMatcher(None, [g.title for g in genes], [s.title for s in sections], autojunk=False)
    codes = matcher.get_opcodes()
    matched = {j1 + k: genes[i1 + k] for tag, i1, i2, j1, _ in codes if tag == "equal" for k in range(i2 - i1)}
    stayed = set(matched)
    left = [gene for gene in genes if gene not in matched.values()]
    for at, section in enumerate(sections):
        same = next((gene for gene in left if gene.title == section.title), None)
        if at not in matched and same is not None:
            matched[at] = same
            left.remove(same)
    for tag, i1, i2, j1, j2 in codes:
        if tag == "replace":
            renamed = [gene for gene in genes[i1:i2] if gene in left]
            free = [at for at in range(j1, j2) if at not in matched]
            matched.update(zip(free, renamed, strict=False))
            stayed.update(free[: len(renamed)])
    return matched, stayed


def _born(capsule: Capsule, name: str, section: Section, after: str | None) -> GeneBorn:
    return GeneBorn(
        **_cause(capsule),
        gene=name,
        capsule=capsule.name,
        title=section.title,
        lines=section.lines,
        after_gene=after,
    )


def _moved(capsule: Capsule, name: str, after: str | None) -> GeneMoved:
    return GeneMoved(**_cause(capsule), gene=name, capsule=capsule.name, after_gene=after)


def _retired(capsule: Capsule, gene: Gene) -> GeneRetired:
    check_protected(gene, align(gene.lines, (), gene.id))
    return GeneRetired(
        **_cause(capsule),
        gene=gene.id,
        capsule=capsule.name,
        reason="section removed by hand",
    )


def _mutated(
    capsule: Capsule, gene: Gene, title: str, edits: tuple[Edit, ...], *, keep_claims: bool
) -> GeneMutated:
    check_protected(gene, edits)
    rewritten, removed = lost_claims(gene, edits)
    return GeneMutated(
        **_cause(capsule),
        gene=gene.id,
        capsule=capsule.name,
        version=gene.version + 1,
        edits=edits,
        title=title if title != gene.title else None,
        claims_dropped=rewritten + removed,
        claims_added=rewritten if keep_claims else (),  # a kept claim goes with its line to the new event
    )


def _dropped(change: Frozen) -> int:
    return len(change.claims_dropped) - len(change.claims_added) if isinstance(change, GeneMutated) else 0


def _file_changes(capsule: Capsule, skill: SkillFolder) -> list[FileChanged]:
    cause = _cause(capsule)
    old = {file.entry.path: file.entry for file in capsule.files}
    new = {file.entry.path: file.entry for file in skill.files}
    return [
        FileChanged(**cause, capsule=capsule.name, path=path, entry=new.get(path))
        for path in sorted(old.keys() | new.keys())
        if old.get(path) != new.get(path)
    ]
