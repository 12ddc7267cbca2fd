"""Where learned lines go: the gene that already answers the signal or its tool, else the preamble."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from events.types.parts import Edit, NewGene
from registry.decide.birth import next_gene
from registry.state.line_claims import claims_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from registry.state.capsule import Capsule
    from registry.state.gene import Gene
    from strategies.propose.proposal import Copied


def home_of(capsule: Capsule, fingerprint: str, action: str) -> Gene | None:
    """Find the gene that learned lines go to: one that answers the signal, else the preamble, else the first one.

    None only where the capsule has no gene at all. `action` is the class that failed, "" if not known.
    """
    preamble = (gene for gene in capsule.genes if not gene.title)
    return answering(capsule, fingerprint, action) or next(chain(preamble, capsule.genes), None)


def answering(capsule: Capsule, fingerprint: str, action: str) -> Gene | None:
    """Find the gene that answers a signal, by its fingerprint or by its tool; None where there is none."""
    tool = action.partition(":")[0]
    by_signal = (g for g in capsule.genes if any(t.fingerprint == fingerprint for t in g.triggers))
    by_tool = (g for g in capsule.genes if tool and any(t.action.partition(":")[0] == tool for t in g.triggers))
    return next(chain(by_signal, by_tool), None)


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
        lines=tuple(f"{line}\n" for line in text),
        after_gene=behind.id,
        derived_from=copied.gene or None,
        keeper=copied.keeper,
    )
    ends = not behind.lines or behind.lines[-1].text.endswith("\n")
    return gene, () if ends else (Edit(op="append", gene=behind.id, text=("\n",)),)


def placed_first(gene: Gene, lines: Sequence[str]) -> Edit:
    """Put whole lines before the first line of a gene that carries a claim, else behind all of its lines.

    A claim in the very first line has nothing to stand behind: there the new lines go to the end as well.
    """
    claimed = next((place for place, line in enumerate(gene.lines) if claims_of(gene, line)), 0)
    if not claimed:
        return appended(gene, lines)
    before = gene.lines[claimed - 1].id
    return Edit(op="insert_after", gene=gene.id, target=(before,), text=tuple(f"{line}\n" for line in lines))


def appended(gene: Gene, lines: Sequence[str]) -> Edit:
    """Append whole lines to a gene, keeping Markdown blocks apart.

    A blank line goes before them where the gene ends in something that is no plain text (a list, a table,
    a quote), and after them where the gene ends in a blank one, which keeps the next heading at its distance.
    Shapes: lines without endings.
    """
    last = gene.lines[-1].text.strip() if gene.lines else ""
    before = ["\n"] if last and not last[0].isalpha() else []
    after = ["\n"] if gene.lines and not last else []
    return Edit(op="append", gene=gene.id, text=(*before, *(f"{line}\n" for line in lines), *after))
