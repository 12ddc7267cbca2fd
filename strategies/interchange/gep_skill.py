"""Genes of Evolver as a skill: a section for each gene, and beside it what is known of where it comes from."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from events.errors import CheckFailedError, RefusedError, UsageError
from events.types.claims import Trigger
from events.types.parts import FileEntry
from registry.evidence.redaction import redact
from registry.skill_md.folder import SkillFile, SkillFolder
from registry.skill_md.invisible_chars import hidden_characters
from registry.skill_md.rules import require_valid
from registry.skill_md.text import cut
from registry.state.capsule import NEW_FILE_MODE, is_skill_name
from strategies.gate.injection import unlike_report
from strategies.gate.injection_rules import instructing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from strategies.interchange.gep import GepFile, GepGene, GepRecord

PROVENANCE: Final = "references/gep.json"
"""What was read, beside SKILL.md: records of use, and checks that wait to be made anchors; never run."""
KIND: Final = "gep"
"""The kind of the triggers: they name signals of Evolver, which are none of ours."""
_DESCRIPTION_CHARS: Final = 900
"""Under the 1,024 that the specification of skills allows."""
_PREFIX: Final = re.compile(r"^(gene|gep|distilled)[_-]")
_SHELL: Final = re.compile(r"[|&;<>$`*?(){}~]")
_WHEN: Final = 6
"""Signals that stand in for preconditions where a gene states none."""


@dataclass(frozen=True, slots=True)
class GepSkill:
    """A skill made of genes, the triggers of each of its sections, and what a person should know before it counts.

    `doubts` are lines that instruct rather than advise; `unsealed` the genes whose asset id is not their hash.
    """

    folder: SkillFolder
    triggers: tuple[tuple[Trigger, ...], ...]
    checks: int
    records: int
    doubts: tuple[str, ...]
    unsealed: tuple[str, ...]


def named_after(path: Path) -> str:
    """Name a skill after a file; raises UsageError where that gives no name."""
    stem = re.sub(r"[^a-z0-9]+", "-", path.stem.lower()).strip("-")
    name = f"gep-{stem}"[:64].strip("-") if not stem.startswith("gep") else stem[:64].strip("-")
    if not stem or not is_skill_name(name):
        raise UsageError(f"{path} gives the skill no name", hint="--skill NAME")
    return name


def gep_skill(name: str, place: Path, file: GepFile, sources: Sequence[tuple[str, str]]) -> GepSkill:
    """Make a skill of genes, and of the records that name them.

    Shapes: `sources` are the files with their SHA-256. Raises: CheckFailedError for hidden characters and secrets;
    RefusedError for genes that share an id; SkillFormatError for a name that is none.
    """
    genes = file.genes
    if len({gene.id for gene in genes}) < len(genes):
        raise RefusedError("two genes share an id: which of them is meant is not known", hint="import them apart")
    _refuse_unsafe(file)
    text = _text(name, genes)
    require_valid(text, name)
    pieces = cut(text)
    known = {gene.id for gene in genes} | {gene.asset_id for gene in genes if gene.asset_id}
    records = [record for record in file.records if known.intersection(record.genes)]
    kept = _provenance(genes, records, sources)
    entry = FileEntry(
        path=PROVENANCE, blob=hashlib.sha256(kept).hexdigest(), mode=NEW_FILE_MODE, size_bytes=len(kept)
    )
    folder = SkillFolder(
        name=name,
        source=str(place),
        encoding="utf-8",
        mode=NEW_FILE_MODE,
        front=pieces.front,
        sections=pieces.sections,
        files=(SkillFile(entry, kept),),
        warnings=(),
    )
    behind = len(pieces.sections) - len(genes)  # the preamble comes before the genes
    triggers = ((),) * behind + tuple(_triggers(gene) for gene in genes)
    doubts = [f"{', '.join(what)}: {line}" for line in _lines(genes) if (what := unlike_report(line))]
    doubts += [f"{', '.join(what)}: {kept}" for kept in _kept_texts(file) if (what := instructing(kept))]
    unsealed = tuple(gene.id for gene in genes if gene.asset_id and not gene.sealed)
    return GepSkill(
        folder, triggers, sum(len(gene.checks) for gene in genes), len(records), tuple(doubts), unsealed
    )


def _refuse_unsafe(file: GepFile) -> None:
    """Refuse what hides from a reader, or gives a secret away, anywhere in what would be kept."""
    for text in (*_lines(file.genes), *_kept_texts(file)):
        if hidden := hidden_characters(text):
            names = ", ".join(character.name for character in hidden[:3])
            raise CheckFailedError(
                f"hidden characters in what was to be imported: {names}, in {ascii(text)[:80]}",
                hint="look at the file with: cat -A FILE",
            )
        if redact(text)[1]:
            raise CheckFailedError(
                "what was to be imported holds what looks like a secret", hint="take it out of the file"
            )


def _kept_texts(file: GepFile) -> Iterator[str]:
    for gene in file.genes:
        yield from (gene.id, gene.category, gene.asset_id, *gene.signals, *gene.checks)
    for record in file.records:
        yield from (record.id, record.summary, record.status, record.at, *record.genes)


def _lines(genes: Sequence[GepGene]) -> Iterator[str]:
    for gene in genes:
        yield from (gene.summary, *gene.preconditions, *gene.steps, *gene.avoid)


def _text(name: str, genes: Sequence[GepGene]) -> str:
    text = "; ".join(dict.fromkeys(_title(gene) for gene in genes))
    description = json.dumps(
        f"Steps taken over from Evolver, not measured yet: {text}."[:_DESCRIPTION_CHARS], ensure_ascii=False
    )
    sections = "\n".join(_section(gene) for gene in genes)
    return f"---\nname: {name}\ndescription: {description}\n---\n\n{sections}"


def _section(gene: GepGene) -> str:
    """Write a gene as a section: what it is, when it applies, its steps, what to avoid."""
    when = gene.preconditions or tuple(dict.fromkeys(_first(signal) for signal in gene.signals))[:_WHEN]
    rows = [f"## {_title(gene)}", ""]
    if gene.summary:
        rows += [gene.summary, ""]
    if when:
        rows += [f"Use it when: {'; '.join(when)}.", ""]
    rows += [f"- {step}" for step in gene.steps]
    rows += [f"- Avoid: {advice}" for advice in gene.avoid]
    return "\n".join(rows) + "\n"


def _title(gene: GepGene) -> str:
    """Make a heading of an id: `gene_gep_repair_from_errors` is "Repair from errors"."""
    text = gene.id
    while (shorter := _PREFIX.sub("", text)) != text:
        text = shorter
    words = " ".join(re.sub(r"[^\w:.-]+|_|-", " ", text).split())[:80] or "Gene"
    return words[0].upper() + words[1:]


def _first(pattern: str) -> str:
    """Take the first of the spellings that a signal of Evolver lists: `error|错误|異常`."""
    return pattern.partition("|")[0]


def _triggers(gene: GepGene) -> tuple[Trigger, ...]:
    return tuple(Trigger(fingerprint=f"{KIND}:{signal}", kind=KIND, template=signal) for signal in gene.signals)


def _argv(check: str) -> list[str]:
    """Write a check as the argv of an anchor (rollouts.md); one that needs a shell goes to a shell."""
    try:
        words = shlex.split(check)
    except ValueError:
        words = []
    return words if words and not _SHELL.search(check) else ["sh", "-c", check]


def _provenance(
    genes: Sequence[GepGene], records: Sequence[GepRecord], sources: Sequence[tuple[str, str]]
) -> bytes:
    """Write down what was read, what was left out, and which checks wait to be made anchors."""
    report = {
        "schema": "germline/gep/1",
        "sources": [{"file": file, "sha256": digest} for file, digest in sources],
        "left_out": "scores, confidence and streaks: nothing was measured for them",
        "genes": [
            {
                "id": gene.id,
                "category": gene.category,
                "asset_id": gene.asset_id or None,
                "asset_id_holds": gene.sealed if gene.asset_id else None,
                "signals_match": gene.signals,
                "proposed_anchors": [{"kind": "command", "argv": _argv(check)} for check in gene.checks],
            }
            for gene in genes
        ],
        "records": [
            {
                "type": record.kind,
                "id": record.id,
                "genes": record.genes,
                "summary": record.summary,
                "said": record.status,
                "at": record.at,
            }
            for record in records
        ],
    }
    return f"{json.dumps(report, ensure_ascii=False, indent=1)}\n".encode()
