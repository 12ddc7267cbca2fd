"""The moves of an audit: each target of a route becomes edits, with its reason; what does not fit stays."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from events.errors import EditError, NotFoundError
from events.types.candidate_events import AUDITOR
from events.types.parts import Edit
from registry.decide.promote import edited
from strategies.audit.audit_types import DraftEdit
from strategies.audit.edit_routing import LeftAlone
from strategies.audit.evaluators.line_rewrites import MOVE_CONSTRAINT
from strategies.audit.evaluators.passage_terms import FENCES, content_words
from strategies.propose.placement import appended

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from registry.state.capsule import Capsule
    from registry.state.gene import Gene
    from strategies.audit.edit_routing import EditRoute, EditTarget

_ITEM: Final = re.compile(r"\s*(?:[-*+]|\d+[.)])\s")


class DraftMoves(NamedTuple):
    """The edits of a draft, and the targets that could not be touched: protected lines, lines that are gone."""

    edits: tuple[DraftEdit, ...]
    left: tuple[LeftAlone, ...]


def draft_edits(route: EditRoute, capsule: Capsule, files: Mapping[str, str]) -> DraftMoves:
    """Turn a route into edits of a draft; `files` are the texts of the files beside SKILL.md.

    Edits are made one after the other, each on what the earlier ones left.
    """
    made, left = list[DraftEdit](), list[LeftAlone]()
    draft = capsule
    for target in route.targets:
        if target.passage is not None and not target.passage.gene:
            continue
        try:
            edits = tuple(_edits(target, draft))
            draft = edited(draft, edits, by=AUDITOR)
        except (EditError, NotFoundError) as error:
            left.append(LeftAlone(quote=_quote(target), action=target.action, why=error.message))
            continue
        made.append(_drafted(target, edits))
    made += _tidied(route, draft)
    made += _in_files(route, files)
    return DraftMoves(tuple(made), tuple(left))


def _edits(target: EditTarget, draft: Capsule) -> Iterator[Edit]:
    """Give the edits of one target in a gene."""
    passage = target.passage
    if passage is None:
        gene = _home(draft, target)
        is_list = any(_ITEM.match(line.text) for line in gene.lines[-2:])
        yield appended(draft, gene, [f"- {target.replacement}" if is_list else target.replacement])
        return
    gene = _gene(draft, passage.gene)
    text = next((line.text for line in gene.lines if line.id == passage.line), "")
    bare = text.rstrip("\r\n")
    if bare != passage.text.rstrip("\r\n"):
        raise EditError(f"line {passage.line} of {gene.title!r} is no longer {passage.text.strip()[:80]!r}")
    own = {"gene": passage.gene, "target": (passage.line,)}
    if target.move == MOVE_CONSTRAINT:
        home, _, line = target.section.rpartition(":")
        yield Edit(op="delete", **own)
        yield Edit(op="insert_after", gene=home, target=(int(line),), text=(text,))
    elif new := _rewritten(target, bare):
        yield Edit(op="replace", **own, text=(f"{new}{text[len(bare) :]}",))
    else:
        yield Edit(op="delete", **own)


def _rewritten(target: EditTarget, line: str) -> str:
    """Give the line as it becomes, "" where nothing of it is left that says something."""
    if target.action == "swap" and target.passage is not None:
        return line.replace(target.passage.text.strip(), target.replacement, 1)
    rest = f"{line[: target.start].rstrip()} {line[target.end :].lstrip()}".rstrip()
    return rest if re.search(r"\w", _ITEM.sub("", rest, count=1)) else ""


def _home(draft: Capsule, target: EditTarget) -> Gene:
    """Find the section that a gap belongs to: the one that is named, else the one that speaks most of the same.

    A section of which an earlier draft left nothing has no heading either: a line there would be another's.
    """
    named = [gene for gene in draft.genes if target.section and gene.title == target.section]
    words = content_words(target.replacement)
    open_genes = [gene for gene in draft.genes if gene.is_open(by=AUDITOR)]

    def shared(gene: Gene) -> int:
        return len(words & content_words(" ".join((gene.title, *(line.text for line in gene.lines)))))

    home = max(
        (*named, *open_genes[::-1]),
        key=lambda gene: (bool(gene.lines), gene in named, shared(gene)),
        default=None,
    )
    if home is None:
        raise EditError("the skill has no section that is open to edits")
    return home


def _gene(draft: Capsule, name: str) -> Gene:
    gene = draft.gene(name)
    if gene is None:
        raise NotFoundError(f"{draft.name} has no section {name}")
    return gene


def _tidied(route: EditRoute, draft: Capsule) -> Iterator[DraftEdit]:
    """Take away what is left of sections and fences of which no line is left that says anything."""
    by_gene: dict[str, EditTarget] = {}
    for target in route.targets:
        if target.passage is not None and target.passage.gene and target.action != "swap":
            by_gene.setdefault(target.passage.gene, target)
    for name, target in sorted(by_gene.items()):
        lines = _gene(draft, name).lines
        texts = [line.text.strip() for line in lines]
        is_empty = bool(texts) and not any(
            t and not t.startswith(("#", *FENCES)) and set(t) - set("=-") for t in texts
        )
        spare = range(len(lines)) if is_empty and texts[0].startswith("##") else _empty_fences(texts)
        edits = tuple(Edit(op="delete", gene=name, target=(lines[at].id,)) for at in spare)
        if not edits:
            continue
        try:
            edited(draft, edits, by=AUDITOR)
        except EditError:
            continue  # a protected heading stays
        taken = " ".join(texts[at] for at in spare if texts[at])
        yield _drafted(target, edits).model_copy(update={"quote": taken})


def _empty_fences(texts: Sequence[str]) -> list[int]:
    """List the lines of fences with nothing between them."""
    spare, opened = list[int](), -1
    for at, text in enumerate(texts):
        if not text.startswith(FENCES):
            continue
        if opened < 0:
            opened = at
            continue
        if not any(texts[opened + 1 : at]):
            spare += range(opened, at + 1)
        opened = -1
    return spare


def _in_files(route: EditRoute, files: Mapping[str, str]) -> Iterator[DraftEdit]:
    """Rewrite files beside SKILL.md; one of which nothing is left that says something, or that runs, goes."""
    by_file: dict[str, list[EditTarget]] = {}
    for target in route.targets:
        if target.passage is not None and not target.passage.gene:
            by_file.setdefault(target.passage.file, []).append(target)
    for path, targets in sorted(by_file.items()):
        if path not in files:
            continue
        lines: list[str | None] = list(files[path].splitlines(keepends=True))
        for target in targets:
            at = target.passage.line - 1 if target.passage else 0
            line = lines[at] if at < len(lines) else None
            if line is not None:
                bare = line.rstrip("\r\n")
                new = _rewritten(target, bare)
                lines[at] = f"{new}{line[len(bare) :]}" if new else None
        text = "".join(line for line in lines if line is not None)
        says = any(line.strip() and not line.startswith(("#", *FENCES)) for line in text.splitlines())
        yield _drafted(targets[0], (), {path: text if says and _is_whole(path, text) else None})


def _is_whole(path: str, text: str) -> bool:
    """Tell whether what is left of a file can be read as what it is; only Python is looked at."""
    try:
        if path.endswith(".py"):
            ast.parse(text)
    except (SyntaxError, ValueError):  # ValueError for a null byte
        return False
    return True


def _drafted(
    target: EditTarget, edits: tuple[Edit, ...], files: Mapping[str, str | None] | None = None
) -> DraftEdit:
    return DraftEdit(
        move=target.move,
        action=target.action,
        evaluator=target.evaluators[0],
        task=target.tasks[0],
        reason=target.reason,
        quote=_quote(target),
        edits=edits,
        files=dict(files or {}),
    )


def _quote(target: EditTarget) -> str:
    return "" if target.passage is None else target.passage.text.strip()
