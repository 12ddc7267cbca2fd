"""A changed record is what the standard library would have made of it."""

from __future__ import annotations

import dataclasses

import pytest

from registry.changing import replace
from registry.gene import Gene, Line

GENE = Gene("g1", "sql", 3, "Errors", (Line(1, "Look.\n", 4, 1),), 2)


@pytest.mark.parametrize("changes", [{}, {"title": "Faults"}, {"lines": (), "next_line": 9, "keeper": "notes"}])
def test_a_changed_record_has_the_new_values_and_all_others_as_they_were(changes: dict[str, object]) -> None:
    before = dataclasses.asdict(GENE)
    changed = replace(GENE, **changes)
    assert changed == dataclasses.replace(GENE, **changes)  # type: ignore[arg-type] # of the fields' own types
    assert dataclasses.asdict(GENE) == before
    with pytest.raises(dataclasses.FrozenInstanceError):
        changed.title = "Others"  # type: ignore[misc] # that is the claim


def test_a_field_that_a_record_lacks_is_refused() -> None:
    with pytest.raises(TypeError, match="Gene has no field 'titel'"):
        replace(GENE, titel="Faults")
