"""Where learned lines go: the gene that already answers the signal or its tool, else the preamble."""

from __future__ import annotations

from typing import TYPE_CHECKING

from events.parts import Edit
from registry.claimed import claims_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from registry.capsule import Capsule
    from registry.gene import Gene


def home_of(capsule: Capsule, fingerprint: str, action: str) -> Gene | None:
    """Find the gene that answers a signal: by fingerprint, by tool, else the preamble, else the first gene.

    None only where the capsule has no gene at all. `action` is the class that failed, "" if not known.
    """
    tool = action.partition(":")[0]
    by_signal = (g for g in capsule.genes if any(t.fingerprint == fingerprint for t in g.triggers))
    by_tool = (g for g in capsule.genes if tool and any(t.action.partition(":")[0] == tool for t in g.triggers))
    preamble = (g for g in capsule.genes if not g.title)
    return next((gene for found in (by_signal, by_tool, preamble, capsule.genes) for gene in found), None)


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
