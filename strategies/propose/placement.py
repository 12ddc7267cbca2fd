"""Where learned lines go: the gene that answers the signal or its tool, else a preamble, else the first section.

In instructions, whose text is a person's own, it is the section that speaks of the tool, else the last one; there
lines take the marks of its list and its line ending, and not a byte beside them changes.
"""

from __future__ import annotations

import re
from itertools import chain, count
from typing import TYPE_CHECKING, Final, NamedTuple

from events.types.parts import Edit, NewGene
from registry.decide.birth import next_gene
from registry.state.line_claims import claims_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from events.types.claims import Claim
    from registry.state.capsule import Capsule
    from registry.state.gene import Gene
    from registry.state.line import SkillLine
    from strategies.propose.proposal import Copied

_ITEM: Final = re.compile(r"( {0,3})([-*+]|(\d{1,9})([.)]))([ \t]+)(?=\S)")
_WORD: Final = re.compile(r"[a-z0-9]+")
_FENCES: Final = ("```", "~~~")
_TITLE_WEIGHT: Final = 3
"""What a word of the tool counts in a title, against one in the text below (a guess)."""


def home_of(capsule: Capsule, fingerprint: str, action: str, claims: Iterable[Claim] = ()) -> Gene | None:
    """Find the gene of learned lines: one that answers the signal, else a preamble, else the first section.

    A preamble without text counts as none: lines there would be above the title. Instructions: else the section
    that names the most of the actions, also of the claims, else the last one.
    None only where the capsule has no gene at all. `action` is the class that failed, "" if not known.
    """
    if capsule.is_instructions:
        named = [getattr(claim, field, None) or "" for claim in claims for field in ("action", "do", "avoid")]
        return answering(capsule, fingerprint, action) or _speaking_of(capsule, " ".join((action, *named)))
    preamble = (gene for gene in capsule.genes if not gene.title and any(line.text.strip() for line in gene.lines))
    titled = (gene for gene in capsule.genes if gene.title)
    return answering(capsule, fingerprint, action) or next(chain(preamble, titled, capsule.genes), None)


def answering(capsule: Capsule, fingerprint: str, action: str) -> Gene | None:
    """Find the gene that answers a signal, by its fingerprint or by its tool; None where there is none."""
    tool = action.partition(":")[0]
    by_signal = (g for g in capsule.genes if any(t.fingerprint == fingerprint for t in g.triggers))
    by_tool = (g for g in capsule.genes if tool and any(t.action.partition(":")[0] == tool for t in g.triggers))
    return next(chain(by_signal, by_tool), None)


def _speaking_of(capsule: Capsule, actions: str) -> Gene | None:
    """Find the section that names the most words of action classes; the last one where none does."""
    asked = set(_WORD.findall(actions.lower()))

    def named(gene: Gene) -> int:
        text = " ".join(line.text for line in gene.lines if not line.text.lstrip().startswith(_FENCES)).lower()
        of_title = asked.intersection(_WORD.findall(gene.title.lower()))
        return len(asked.intersection(_WORD.findall(text))) + _TITLE_WEIGHT * len(of_title)

    titled = [gene for gene in capsule.genes if gene.title] or list(capsule.genes)
    best = max(titled, key=named, default=None)
    return best if best is not None and named(best) else next(reversed(titled), None)


def newborn(
    capsule: Capsule, behind: Gene, copied: Copied, lines: Sequence[str]
) -> tuple[NewGene, tuple[Edit, ...]]:
    """Give a new gene with these lines behind another, and the edit that other one needs, if any.

    A file may end without a newline: its last line is ended first, so that a heading can follow.
    Shapes: lines without endings.
    """
    is_last = behind == capsule.genes[-1]
    text = [f"## {copied.title}", "", *lines, *(() if is_last else ("",))]
    gene = NewGene(
        gene=next_gene(capsule),
        title=copied.title,
        lines=tuple(f"{line}{line_ending(behind)}" for line in text),
        after_gene=behind.id,
        derived_from=copied.gene or None,
        keeper=copied.keeper,
    )
    ends = not behind.lines or behind.lines[-1].text.endswith("\n")
    return gene, () if ends else (Edit(op="append", gene=behind.id, text=(line_ending(behind),)),)


def line_ending(gene: Gene) -> str:
    """Give the ending of the last line of a gene that has one."""
    last = next((line.text for line in reversed(gene.lines) if line.text.endswith("\n")), "\n")
    return "\r\n" if last.endswith("\r\n") else "\n"


def placed_first(capsule: Capsule, gene: Gene, lines: Sequence[str]) -> Edit:
    """Put whole lines before the first line of a gene that carries a claim, else behind all of its lines.

    A claim in the very first line has nothing to stand behind: there the new lines go to the end as well.
    """
    claimed = first_claimed(gene)
    if not claimed:
        return appended(capsule, gene, lines)
    before, mark = gene.lines[claimed - 1].id, _ITEM.match(gene.lines[claimed].text)
    style = _ListStyle.of(mark) if capsule.is_instructions and mark else _ListStyle()
    text = tuple(f"{line}{line_ending(gene)}" for line in style.marked(lines))
    return Edit(op="insert_after", gene=gene.id, target=(before,), text=text)


def first_claimed(gene: Gene) -> int:
    """Give the place of the first line of a gene that carries a claim; 0 also where it is the very first."""
    return next((place for place, line in enumerate(gene.lines) if claims_of(gene, line)), 0)


class _ListStyle(NamedTuple):
    """How the items of a list begin; of numbered items also the number of the last one, else 0."""

    mark: str = ""
    gap: str = ""
    number: int = 0

    @classmethod
    def of(cls, item: re.Match[str]) -> _ListStyle:
        indent, mark, number, behind, gap = item.groups()
        return cls(indent + (behind if number else mark), gap, int(number or 0))

    def marked(self, lines: Sequence[str]) -> list[str]:
        if self.number:
            indent, behind = self.mark[:-1], self.mark[-1]
            numbers = count(self.number + 1)
            return [f"{indent}{next(numbers)}{behind}{self.gap}{line}" for line in lines]
        return [line if _ITEM.match(line) else f"{self.mark}{self.gap}{line}" for line in lines]


def _continued(gene: Gene, last: int) -> _ListStyle | None:
    """Read how the list goes on that a gene ends in; None where it ends in something else."""
    outermost = None
    for line in reversed(gene.lines[: last + 1]):
        item = _ITEM.match(line.text)
        if item and (outermost is None or len(item[1]) < len(outermost[1])):
            outermost = item
        if (item and not item[1]) or not (item or (line.text.strip() and line.text[0].isspace())):
            break
    return _ListStyle.of(outermost) if outermost else None


def _style_of(capsule: Capsule) -> _ListStyle:
    """Read how a file marks the items of its lists without numbers, as it does last."""
    items = (_ITEM.match(line.text) for gene in reversed(capsule.genes) for line in reversed(gene.lines))
    return next((_ListStyle.of(item) for item in items if item and not item[1] and not item[3]), _ListStyle())


def _within(capsule: Capsule, gene: Gene, lines: Sequence[str]) -> Edit:
    """Put whole lines behind the last line of a section that is not blank, as items where lists are used."""
    last = max((at for at, line in enumerate(gene.lines) if line.text.strip()), default=len(gene.lines) - 1)
    behind: SkillLine = gene.lines[last]
    ending, list_style = line_ending(gene), _continued(gene, last)
    marked = (list_style or _style_of(capsule)).marked(lines)
    text = [f"{line}{ending}" for line in ([] if list_style else [""]) + marked]
    if not behind.text.endswith("\n"):  # a file without a last newline stays one
        text[-1] = text[-1].removesuffix(ending)
    return Edit(op="insert_after", gene=gene.id, target=(behind.id,), text=tuple(text))


def appended(capsule: Capsule, gene: Gene, lines: Sequence[str]) -> Edit:
    """Append whole lines to a gene, keeping Markdown blocks apart.

    A blank line goes before them where the gene ends in something that is no plain text (a list that they do not
    go on with, a table, a quote), and after them where the gene ends in a blank one, which keeps the next heading
    at its distance.
    Shapes: lines without endings.
    """
    if capsule.is_instructions and gene.lines:
        return _within(capsule, gene, lines)
    last = gene.lines[-1].text.strip() if gene.lines else ""
    goes_on = bool(lines and _ITEM.match(last) and _ITEM.match(lines[0]))
    before = ["\n"] if last and not last[0].isalpha() and not goes_on else []
    after = ["\n"] if gene.lines and not last else []
    return Edit(op="append", gene=gene.id, text=(*before, *(f"{line}\n" for line in lines), *after))
