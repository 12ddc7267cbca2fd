"""The fold: what each event does to a capsule, and what no whole log ever shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from events.errors import CorruptLogError
from events.store.envelope import Envelope
from events.types.capsule_events import CapsuleReverted, CapsuleVersioned, KeptGene
from events.types.gene_events import GeneMoved, GeneMutated, GeneRetired
from events.types.parts import Edit, Pin
from events.types.score import Unmeasured
from registry.decide.commands import Protect, Release
from registry.projection.fold import apply, changes_capsule
from registry.state.edits import check_protected
from tests.registries import NAME, learn

if TYPE_CHECKING:
    from events.types.frozen import Frozen
    from registry.registry import Registry
    from registry.state.capsule import Capsule

pytestmark = pytest.mark.usefixtures("place")
NOTHING = {"before": Unmeasured(reason="a test"), "after": Unmeasured(reason="a test")}


def folded(capsule: Capsule | None, event: Frozen) -> Capsule:
    """Fold an event as if it stood at position 99."""
    stamp = ("2026-11-01T12:00:00.000000Z", "person:ada", "", "", "", "")
    return apply(capsule, event, Envelope(99, "id", "stream", 1, type(event).__name__, 1, *stamp, b""))


def mutation(gene: str) -> GeneMutated:
    edit = Edit(op="append", gene=gene, text=("More.\n",))
    return GeneMutated(**NOTHING, gene=gene, capsule=NAME, version=2, edits=(edit,))


def test_an_event_of_a_capsule_that_was_never_imported_means_a_corrupt_log() -> None:
    with pytest.raises(CorruptLogError, match="never imported") as caught:
        folded(None, mutation(f"{NAME}.1"))
    assert caught.value.position == 99


def test_an_event_of_a_gene_that_is_not_there_means_a_corrupt_log(registry: Registry) -> None:
    with pytest.raises(CorruptLogError, match=r"gene sql-analyst\.9"):
        folded(registry.capsule(NAME), mutation(f"{NAME}.9"))


def test_a_version_that_pins_other_genes_means_a_corrupt_log(registry: Registry) -> None:
    event = CapsuleVersioned(
        **NOTHING,
        capsule=NAME,
        version=2,
        genes=(Pin(gene=f"{NAME}.1", version=7),),
        cause="override",
        summary="",
        stamped=True,
    )
    with pytest.raises(CorruptLogError, match="pins genes"):
        folded(registry.capsule(NAME), event)


def test_a_revert_to_a_gene_that_never_was_means_a_corrupt_log(registry: Registry) -> None:
    stranger = KeptGene(gene=f"{NAME}.9", version=2, title="", lines=())
    event = CapsuleReverted(
        **NOTHING, capsule=NAME, to_version=1, reason="a test", front=(), genes=(stranger,), files=()
    )
    with pytest.raises(CorruptLogError, match="never had"):
        folded(registry.capsule(NAME), event)


def test_a_mutation_changes_its_gene_and_nothing_else(registry: Registry) -> None:
    before = registry.capsule(NAME)
    after = folded(before, mutation(f"{NAME}.1"))
    assert (after.genes[1:], after.front, after.version) == (before.genes[1:], before.front, before.version)
    added = after.genes[0].lines[-1]
    assert (added.text, added.id, added.origin, added.version) == ("More.\n", 4, 99, 2)
    assert after.genes[0].lines[:-1] == before.genes[0].lines


@pytest.mark.parametrize(("after", "order"), [(None, "312"), ("sql-analyst.1", "132"), ("sql-analyst.2", "123")])
def test_a_moved_gene_stands_first_or_after_the_one_named(
    registry: Registry, after: str | None, order: str
) -> None:
    event = GeneMoved(**NOTHING, gene=f"{NAME}.3", capsule=NAME, after_gene=after)
    moved = folded(registry.capsule(NAME), event)
    assert [gene.id for gene in moved.genes] == [f"{NAME}.{number}" for number in order]


def test_a_retired_gene_is_gone_but_remembered(registry: Registry) -> None:
    before = registry.capsule(NAME)
    after = folded(before, GeneRetired(**NOTHING, gene=f"{NAME}.2", capsule=NAME, reason="a test"))
    assert after.gene(f"{NAME}.2") is None
    assert after.gone == (before.genes[1],)


def test_protection_of_a_whole_gene_covers_lines_yet_to_come_and_ends_with_its_release(
    registry: Registry,
) -> None:
    registry.execute(Protect(NAME, f"{NAME}.1", (), "settled"))
    gene = registry.capsule(NAME).genes[0]
    with pytest.raises(Exception, match="protected"):
        check_protected(gene, (Edit(op="append", gene=gene.id, text=("More.\n",)),))
    registry.execute(Release(NAME, f"{NAME}.1", "no longer"))
    gene = registry.capsule(NAME).genes[0]
    assert (gene.protected_whole, gene.protected) == (False, frozenset())
    assert learn(registry).version == 2


def test_events_of_the_registry_change_no_capsule() -> None:
    assert not changes_capsule("PresetSwitched")
    assert changes_capsule("GeneMutated")
