"""The cheap checks on a candidate's text before anything is measured: what refuses it, what a person must see."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from events.errors import EditError, NotFoundError
from events.types.audit_events import MOST_ITERATIONS
from events.types.candidate_events import AUDITOR
from registry.decide.birth import as_born, require_sections
from registry.decide.promote import edited
from registry.evidence.redaction import redact
from registry.skill_md.instructions import length_advice
from registry.skill_md.invisible_chars import hidden_characters
from registry.skill_md.render import encoding_of, skill_text
from registry.skill_md.rules import CHARACTERS_PER_TOKEN, check_skill
from registry.skill_md.skill_files import is_knowledge
from strategies.gate.file_findings import findings_in_changes, is_text, lines_of, notices

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from events.types.candidate_events import CandidateProposed
    from events.types.parts import Edit, NewGene
    from registry.state.capsule import Capsule
    from strategies.gate.file_findings import FileChange
    from strategies.policy.presets import Preset

KNOWLEDGE_PACKER: Final = "knowledge"
"""The proposer of what `germline knowledge add` packs."""
TRUST_REGION_FLOOR: Final = 800
"""Characters that may always come: a one-paragraph skill must be able to grow. Of a file no more ever may."""
GONE_FLOOR: Final = 200
"""Characters of a skill that may always go or be replaced: two or three lines (a guess)."""
SIZE_WARNINGS_TOKENS: Final = (2_000, 5_000)
"""Sizes to warn at."""
LEAST_WORDS: Final = 3
"""Words from which a repeated line is a repeated statement, and no bracket or fence (a guess)."""

_LIKE_CODE: Final = frozenset({"assigned-secret", "assigned-token", "secret-option"})
"""Rules of redaction that take `KEY = os.environ["KEY"]` for a secret: a person tells."""

_INVERSION: Final = re.compile(
    r"\b(?:do not|don't|never|ignore|disregard|forget)\b.{0,40}\b(?:any|all|every|everything|none)\b"
    r".{0,40}\b(?:following|above|below|previous|preceding|these|those|instructions?|rules?|steps?)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class LintFinding:
    """One thing that lint noticed: `refuse` ends the candidate, `review` asks a person, `warn` only tells.

    `about` names the rule in one or two words.
    """

    severity: Literal["refuse", "review", "warn"]
    what: str
    about: str = "text"


@dataclass(frozen=True)
class Limits:
    """What a preset allows one candidate: a number of edits, and a share of the base's characters.

    With `files_may_go` a file that is removed whole is not held against the share, with `knowledge_is_free` none
    of a skill's knowledge is: it is a copy of sources that a person named, and as large as those.
    """

    edits: int
    trust_region: float
    files_may_go: bool = False
    knowledge_is_free: bool = False


def limits_of(preset: Preset, proposer: str = "") -> Limits:
    """Give what a preset allows one candidate; an audit's may be as large as all its drafts, which were run.

    It may also take away whole files beside SKILL.md; packed knowledge is as large as its sources.
    """
    edits, region = preset.edit_budget.start, preset.trust_region
    if proposer == KNOWLEDGE_PACKER:
        return Limits(edits, region, knowledge_is_free=True)
    if proposer != AUDITOR:
        return Limits(edits, region)
    return Limits(edits * MOST_ITERATIONS, region * MOST_ITERATIONS, files_may_go=True)


def lint(
    capsule: Capsule,
    edits: Sequence[Edit],
    limits: Limits,
    *,
    born: NewGene | None = None,
    unclaimed: Sequence[str] = (),
    by: str = "",
    files: Sequence[FileChange] = (),
) -> list[LintFinding]:
    """Check a candidate's edits against its base, without running anything.

    What instructs an agent, in its lines, claims and files, is looked at in injection.py.
    Shapes: `unclaimed` are the new lines that no claim covers; only where no runs of an agent judge them. `by` is
    the proposer.
    """
    try:
        after = edited(capsule, tuple(edits), born, by=by)
        require_sections(capsule, after)
    except EditError as refusal:
        return [LintFinding("refuse", refusal.message, refusal.rule or "edit")]
    except NotFoundError as refusal:
        return [LintFinding("refuse", refusal.message, "no match")]
    base, text = skill_text(capsule), skill_text(after)
    gene_lines = born.lines if born else ()
    new_lines = [line for line in (*gene_lines, *(line for edit in edits for line in edit.text)) if line.strip()]
    changed = changed_characters(capsule, edits) + sum(map(len, gene_lines))
    return [
        *_too_much(base, len(edits) + (born is not None), changed, limits),
        *_too_much_gone(capsule, len(base), edits, changed, limits),
        *_too_much_in_files(capsule, len(base), changed, files, limits),
        *_bad_files(files),
        *_bad_lines(base, text, new_lines),
        *_bad_format(capsule, base, text),
        *_inversions(new_lines),
        *_uncovered(unclaimed),
        *(() if capsule.is_instructions else _size(base, text)),
    ]


def findings_on(
    base: Capsule,
    proposed: CandidateProposed,
    limits: Limits,
    *,
    unclaimed: Sequence[str] = (),
    files: Sequence[FileChange] = (),
) -> list[LintFinding]:
    """Check the text of a candidate against its base; a skill of its own has no base to be held to."""
    if proposed.skill is None:
        return lint(
            base,
            proposed.edits,
            limits,
            born=proposed.born,
            unclaimed=unclaimed,
            by=proposed.proposer,
            files=files,
        )
    try:
        text = skill_text(as_born(proposed.capsule, proposed.skill))
    except EditError as refusal:
        return [LintFinding("refuse", refusal.message, refusal.rule)]
    lines = [line for line in proposed.new_lines if line.strip()]
    return [
        *_bad_lines("", text, lines),
        *_bad_format(base, "", text),
        *_inversions(lines),
        *_uncovered(unclaimed),
        *_size("", text),
    ]


def _uncovered(unclaimed: Sequence[str]) -> Iterator[LintFinding]:
    for line in unclaimed:
        if line.strip():
            yield LintFinding("review", f"no claim covers {line.strip()!r}", "claim")


def changed_characters(capsule: Capsule, edits: Sequence[Edit]) -> int:
    """Count the characters that edits change: the larger of what each takes away and what it brings."""
    return sum(
        max(sum(gone), sum(map(len, edit.text)))
        for edit, gone in zip(edits, _lengths_gone(capsule, edits), strict=True)
    )


def _lengths_gone(capsule: Capsule, edits: Sequence[Edit]) -> list[list[int]]:
    """Measure, for each edit, the lines that it takes away or replaces."""
    lengths = {(gene.id, line.id): len(line.text) for gene in capsule.genes for line in gene.lines}
    return [
        [lengths[edit.gene, line] for line in edit.target] if edit.op in {"replace", "delete"} else []
        for edit in edits
    ]


def _too_much(base: str, edits: int, changed: int, limits: Limits) -> Iterator[LintFinding]:
    if edits > limits.edits:
        yield LintFinding("refuse", f"{edits} edits, the preset allows {limits.edits}", "edit budget")
    allowed = max(int(limits.trust_region * len(base)), TRUST_REGION_FLOOR)
    if changed > allowed:
        what = f"{changed} characters change, the trust region allows {allowed}"
        yield LintFinding("refuse", what, "trust region")


def _too_much_gone(
    capsule: Capsule, base: int, edits: Sequence[Edit], changed: int, limits: Limits
) -> Iterator[LintFinding]:
    """Hold what goes against the share: a small skill may grow by 800 characters, not lose most of its own.

    One line may always go, however long, and so may as much as a few lines have.
    """
    gone = [length for lengths in _lengths_gone(capsule, edits) for length in lengths]
    allowed = max(int(limits.trust_region * base), GONE_FLOOR, *gone)
    if allowed < sum(gone) and changed <= TRUST_REGION_FLOOR:
        what = f"{sum(gone)} characters go or are replaced, the trust region allows {allowed} of {base}"
        yield LintFinding("refuse", what, "trust region")


def _too_much_in_files(
    capsule: Capsule, body: int, changed: int, files: Sequence[FileChange], limits: Limits
) -> Iterator[LintFinding]:
    """Hold each file against itself, and files and body together against the whole folder.

    Of a file that was there the share binds, and 800 characters where that is less; one line may always change.
    """
    held = [
        file
        for file in files
        if (file.after or not limits.files_may_go) and not (limits.knowledge_is_free and is_knowledge(file.path))
    ]
    for file in held:
        share, most = int(limits.trust_region * len(file.before)), _changed_in(file)
        allowed = max(min(share, TRUST_REGION_FLOOR), _longest_line(file))
        if file.before and most > allowed:
            what = f"{most} characters of {file.path} change, the trust region allows {allowed}"
            yield LintFinding("refuse", what, "trust region")
            return
    changed += sum(map(_changed_in, held))
    whole = body + sum(file.entry.size_bytes for file in capsule.files)
    allowed = max(int(limits.trust_region * whole), TRUST_REGION_FLOOR)
    if held and changed > allowed:
        what = f"{changed} characters change with files, the trust region allows {allowed} of {whole}"
        yield LintFinding("refuse", what, "trust region")


def _longest_line(file: FileChange) -> int:
    """Measure the longest line that a text gains or loses: changing one line is never too much."""
    if not (is_text(file.before) and is_text(file.after)):
        return 0
    gone, come = _lines_changed(file)
    return max(map(len, gone | come), default=0)


def _changed_in(file: FileChange) -> int:
    """Count the characters of a file that change: the larger of what goes and what comes."""
    if not (is_text(file.before) and is_text(file.after)):
        return max(len(file.before), len(file.after))
    return max(sum(len(line) * times for line, times in side.items()) for side in _lines_changed(file))


def _lines_changed(file: FileChange) -> tuple[Counter[str], Counter[str]]:
    """Count the lines that a text loses, and those that it gains."""
    before, after = (
        Counter(content.decode(errors="replace").split("\n")) for content in (file.before, file.after)
    )
    return before - after, after - before


def _bad_files(files: Sequence[FileChange]) -> Iterator[LintFinding]:
    """Refuse new lines of files that hide something or give it away; what scripts reach is for a person."""
    for file in files:
        if not is_text(file.after):
            continue
        for line in lines_of(file.after) - lines_of(file.before):
            if hidden := hidden_characters(line.removeprefix("\ufeff")):
                yield LintFinding("refuse", f"hidden characters {hidden[0].name} in {file.path}", "hidden")
            for rule in {redaction.rule for redaction in redact(line)[1]}:
                severity: Literal["refuse", "review"] = "review" if rule in _LIKE_CODE else "refuse"
                yield LintFinding(severity, f"a new line of {file.path} holds what looks like a secret", "secret")
    for notice in notices(findings_in_changes(files)):
        yield LintFinding("review", notice, "files")


def _bad_lines(base: str, text: str, new_lines: Sequence[str]) -> Iterator[LintFinding]:
    for line in new_lines:
        shown = line.strip()[:80]
        if hidden := hidden_characters(line):
            what = f"hidden characters {', '.join(character.name for character in hidden[:5])} in {shown!r}"
            yield LintFinding("refuse", what, "hidden")
        if redact(line)[1]:
            yield LintFinding("refuse", "a new line holds what looks like a secret", "secret")
    before, after = _counted(base), _counted(text)
    for line, count in (after - before).items():
        if after[line] > 1 and len(line.split()) >= LEAST_WORDS:
            what = f"the line would stand there {before[line] + count} times: {line[:80]!r}"
            yield LintFinding("refuse", what, "duplicate")


def _bad_format(capsule: Capsule, base: str, text: str) -> Iterator[LintFinding]:
    """Refuse what breaks a rule of the format; what the base broke before is a person's to mend.

    Instructions have no format, and advice: a warning where they begin to go against it.
    """
    if capsule.is_instructions:
        if not length_advice(capsule.name, base):
            yield from (LintFinding("warn", it.message, "size") for it in length_advice(capsule.name, text))
        return
    encoding = encoding_of(capsule)
    before = {breach.rule for breach in check_skill(base, capsule.name, encoding=encoding)}
    for breach in check_skill(text, capsule.name, encoding=encoding):
        inherited = breach.rule in before
        what = f"the SKILL.md breaks the rule {breach.rule!r}: {breach.message}"
        message = f"{what}; {breach.mend}" if inherited else what
        yield LintFinding("review" if inherited else "refuse", message, "format")


def unclaimed_lines(proposed: CandidateProposed) -> list[str]:
    """List the new lines of a candidate that no claim of their own covers; headings state nothing.

    Where the candidate says which lines its claims are of, the others are uncovered; else claims go with lines in
    their order, one each. What a skill says of itself in its front matter is none of them.
    """
    if proposed.skill is not None:
        return [line for section in proposed.skill.sections for line in _beside(section.lines, section.claimed)]
    if proposed.born is not None and proposed.born.claimed:
        return [*_beside(proposed.born.lines, proposed.born.claimed), *_stating(_of_edits(proposed))]
    return _stating(proposed.new_lines)[len(proposed.claims) :]


def _of_edits(proposed: CandidateProposed) -> list[str]:
    return [line for edit in proposed.edits for line in edit.text]


def _beside(lines: Sequence[str], claimed: Sequence[int]) -> list[str]:
    """List the lines of a section that state something, but for those of these numbers."""
    return _stating([line for at, line in enumerate(lines, start=1) if at not in claimed])


def _stating(lines: Sequence[str]) -> list[str]:
    stripped = (line.strip() for line in lines)
    return [line for line in stripped if line and not line.startswith("#")]


def _inversions(new_lines: Sequence[str]) -> Iterator[LintFinding]:
    for line in new_lines:
        if _INVERSION.search(line):
            yield LintFinding("review", f"negates a whole scope: {line.strip()[:80]!r}", "inversion")


def _size(base: str, text: str) -> Iterator[LintFinding]:
    for tokens in SIZE_WARNINGS_TOKENS:
        if len(base) < tokens * CHARACTERS_PER_TOKEN <= len(text):
            yield LintFinding("warn", f"the skill grows past {tokens} tokens", "size")


def _counted(text: str) -> Counter[str]:
    """Count the lines of a text, without regard to case and spacing."""
    return Counter(" ".join(line.split()).casefold() for line in text.splitlines())
