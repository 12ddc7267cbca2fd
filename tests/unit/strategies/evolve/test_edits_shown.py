"""Edits as people read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from events.types.parts import Edit
from strategies.evolve.results import EditShown, shown_edits
from tests.registries import NAME, proposal

if TYPE_CHECKING:
    from registry.registry import Registry

pytestmark = pytest.mark.usefixtures("place")


def test_a_deletion_shows_what_goes_and_names_no_line(registry: Registry) -> None:
    capsule = registry.capsule(NAME)
    gene = next(gene for gene in capsule.genes if any("Round nothing" in line.text for line in gene.lines))
    gone = next(line for line in gene.lines if "Round nothing" in line.text)
    edit = Edit(op="delete", gene=gene.id, target=(gone.id,))
    assert shown_edits(capsule, proposal(capsule, edit)) == (EditShown("delete", 0, "- Round nothing."),)
